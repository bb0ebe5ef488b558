export type RecordType = 'A' | 'AAAA' | 'MX' | 'TXT' | 'CNAME' | 'PTR' | 'NS' | 'TLSA' | 'SOA'

/** Result of a DNS lookup. `records` is never empty. `temporary` covers SERVFAIL, REFUSED, timeouts and malformed
 *  answers. `authentic`: a trusted resolver reports that it validated every answer by DNSSEC (AD, RFC 4035). */
export type Lookup<T> =
  | { kind: 'records'; records: T[]; ttlSeconds: number; authentic: boolean }
  | { kind: 'no_data' }
  | { kind: 'nxdomain' }
  | { kind: 'temporary'; reason: string }

/** `exchange` is in lower case without a trailing dot; `.` is the null MX of RFC 7505. */
export interface MxRecord {
  preference: number
  exchange: string
}

/** RFC 6698 §2.1 */
export interface TlsaRecord {
  usage: number
  selector: number
  matchingType: number
  certificate: Uint8Array
}

/** DNS lookups. Names are A-labels; a trailing dot is ignored. No method rejects: every failure is a Lookup. */
export interface Resolver {
  mx(name: string): Promise<Lookup<MxRecord>>
  a(name: string): Promise<Lookup<string>>
  aaaa(name: string): Promise<Lookup<string>>
  /** One entry per record: its strings joined, decoded as UTF-8. */
  txt(name: string): Promise<Lookup<string>>
  /** One entry per record: its strings separate, one character per byte (latin1), as mailauth expects. */
  txtStrings(name: string): Promise<Lookup<string[]>>
  cname(name: string): Promise<Lookup<string>>
  ns(name: string): Promise<Lookup<string>>
  /** Expects an address, or its in-addr.arpa or ip6.arpa name. */
  ptr(ip: string): Promise<Lookup<string>>
  tlsa(name: string): Promise<Lookup<TlsaRecord>>
  /** From now on every lookup is `temporary`; lookups in progress finish. */
  close(): void
}
