/** A sending domain, its DKIM keys and what DNS last said about it. */
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
  /** Host of the return path, under the domain; its MX points at us. */
  returnPathHost: string
  tracking: Tracking
  /** What the last look at DNS found, by `purpose type name`; empty before the first. */
  findings: Finding[]
  /** What DNS has that proves the name; null while nothing does. */
  provedBy: Proof | null
  /** Since when DNS says that the proof is not there (ms UTC); null while it is there, or nothing was proved. */
  missingSince: number | null
  /** Why the status is `failed`; null otherwise. */
  reason: FailureReason | null
  /** When maintenance asks DNS next (ms UTC); null = only when somebody asks for it. */
  nextCheckAt: number | null
}

export type DomainStatus = 'pending' | 'verified' | 'failed'

/** `dkim`: every signing key is published. `txt`: only the ownership record is, enough to receive but not to send. */
export type Proof = 'dkim' | 'txt'

/** `mismatch`: a DKIM record says something else. `proof_lost`: a proved name had no proof for seven days. `claimed`:
 *  another organization has proved the name. */
export type FailureReason = 'mismatch' | 'proof_lost' | 'claimed'

/** Whether live mail of the domain is signed with keys that receivers find in DNS. */
export function isReadyToSend({ status, provedBy }: Pick<Domain, 'status' | 'provedBy'>): boolean {
  return status === 'verified' && provedBy === 'dkim'
}

/** Whether the organization has proved by DNS that it controls the name. Only an owned domain
 *  receives, forwards and tracks mail, publishes an MTA-STS policy and gets a certificate. `requireVerified`: the config's
 *  `sending.require_verified_domain`; where it is false, for trying out on one's own machine, a claim is enough. */
export function isOwned({ status }: Pick<Domain, 'status'>, requireVerified: boolean): boolean {
  return status === 'verified' || !requireVerified
}

export interface Tracking {
  opens: boolean
  clicks: boolean
  unsubscribe: boolean
  host: string | null
}

/** The host that links in the domain's mail may use: its own, once the domain is verified and DNS was seen to lead from
 *  the host to this server. Null = the address of this server. A claim is not enough, whatever the config says: the
 *  server's own address always works. */
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
}

/** `pending` keys are published before they sign; `active` ones sign; `retiring` ones only stay published. */
export type DkimState = 'pending' | 'active' | 'retiring'

export type RecordPurpose =
  | 'dkim'
  | 'ownership'
  | 'spf'
  | 'dmarc'
  | 'return_path'
  | 'mx'
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

/** What DNS answered for one of them. */
export interface Finding {
  type: DnsRecord['type']
  name: string
  purpose: RecordPurpose
  status: RecordStatus
  found: string[]
}
