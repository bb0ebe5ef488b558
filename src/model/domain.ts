/** A sending domain, its DKIM keys and the result of the last DNS check. */
export interface Domain {
  id: string
  organizationId: string
  /** Lower-case A-label. */
  name: string
  status: DomainStatus
  createdAt: number
  verifiedAt: number | null
  lastCheckedAt: number | null
  dkim: DkimKeyRecord[]
  /** Host of the return path, a subdomain of the domain; its MX points to this server. */
  returnPathHost: string
  tracking: Tracking
  /** Results of the last DNS check, by `purpose type name`; empty before the first check. */
  findings: Finding[]
  /** The DNS record that proves ownership; null if none does. */
  provedBy: Proof | null
  /** Since when the proof is missing from DNS (ms UTC); null while it is present, or if there never was one. */
  missingSince: number | null
  /** Why the status is `failed`; null otherwise. */
  reason: FailureReason | null
  /** Time of the next DNS check by maintenance (ms UTC); null = only on request. */
  nextCheckAt: number | null
  /** Keys in a zone of `dns.provider_zones`: before this time the provider is not asked again (ms UTC); null without work. */
  publishAt: number | null
  /** Why the provider did not take or remove them, for the operator only; null if it did. */
  publishFault: string | null
}

export type DomainStatus = 'pending' | 'verified' | 'failed'

/** `dkim`: every signing key is published. `txt`: only the ownership record is published, which is enough to receive
 *  mail but not to send it. */
export type Proof = 'dkim' | 'txt'

/** `mismatch`: a DKIM record has another value. `proof_lost`: a verified domain had no proof for seven days.
 *  `claimed`: another organization has verified the domain. */
export type FailureReason = 'mismatch' | 'proof_lost' | 'claimed'

/** True if receivers find the signing keys of the domain in DNS, so that its live mail can be verified. */
export function isReadyToSend({ status, provedBy }: Pick<Domain, 'status' | 'provedBy'>): boolean {
  return status === 'verified' && provedBy === 'dkim'
}

/** True if the organization has proved through DNS that it controls the domain. Only a domain with proof receives,
 *  forwards and tracks mail, publishes an MTA-STS policy and gets a certificate. `requireVerified` is
 *  `sending.require_verified_domain` of the config; if it is false, for trying out on one's own machine, adding the
 *  domain is enough. */
export function isOwned({ status }: Pick<Domain, 'status'>, requireVerified: boolean): boolean {
  return status === 'verified' || !requireVerified
}

export interface Tracking {
  opens: boolean
  clicks: boolean
  unsubscribe: boolean
  host: string | null
}

/** Host for links in the domain's mail: the domain's tracking host, once the domain is verified and DNS points the
 *  host to this server. Null = use the server's own address, which always works. An unverified domain never gets its
 *  own host, whatever the config says. */
export function trackingHostOf(domain: Pick<Domain, 'status' | 'tracking' | 'findings'>): string | null {
  const { tracking, findings, status: domainStatus } = domain
  const { host } = tracking
  if (host === null || domainStatus !== 'verified') return null
  const isSeen = ({ purpose, name, status }: Finding) => purpose === 'tracking' && name === host && status === 'valid'
  return findings.some(isSeen) ? host : null
}

export interface DkimKeyRecord {
  selector: string
  algorithm: 'rsa-sha256' | 'ed25519-sha256'
  state: DkimState
  publicKey: string
  privateKeyPem: string
  createdAt: number
  /** Since when the key signs or retires (ms UTC). Of a pending key: since when every server that was asked shows it
   *  (domains/publication.ts); null before. */
  since: number | null
}

/** `pending` keys are published before they sign; `active` keys sign; `retiring` keys only stay published. */
export type DkimState = 'pending' | 'active' | 'retiring'

/** `dkim_standby`: a selector for the next keys. */
export type RecordPurpose =
  | 'dkim'
  | 'dkim_standby'
  | 'ownership'
  | 'spf'
  | 'dmarc'
  | 'return_path'
  | 'mx'
  | 'tls_rpt'
  | 'tracking'
  | 'mta_sts'
  | 'mta_sts_host'
export type RecordStatus = 'pending' | 'valid' | 'missing' | 'mismatch'

/** One DNS record to publish. */
export interface DnsRecord {
  purpose: RecordPurpose
  type: 'TXT' | 'MX' | 'CNAME'
  name: string
  value: string
  priority: number | null
  required: boolean
}

/** DNS answer for one of these records. */
export interface Finding {
  type: DnsRecord['type']
  name: string
  purpose: RecordPurpose
  status: RecordStatus
  found: string[]
}
