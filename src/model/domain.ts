/** A sending domain, its DKIM keys and what DNS last said about it (contract §5). */
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
}

export type DomainStatus = 'pending' | 'verified' | 'failed'

export interface Tracking {
  opens: boolean
  clicks: boolean
  unsubscribe: boolean
  host: string | null
}

/** The host that links in the domain's mail may use: its own, once DNS was seen to lead from there to us; a link that
 *  leads nowhere is worse than one with our name. Null = the address of this server. */
export function trackingHostOf({ tracking, findings }: Pick<Domain, 'tracking' | 'findings'>): string | null {
  const { host } = tracking
  if (host === null) return null
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

export type RecordPurpose = 'dkim' | 'spf' | 'dmarc' | 'return_path' | 'mx' | 'tracking' | 'mta_sts' | 'mta_sts_host'
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
