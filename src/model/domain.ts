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

export type RecordPurpose = 'dkim' | 'spf' | 'dmarc' | 'return_path' | 'mx' | 'tracking'
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
