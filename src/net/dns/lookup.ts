export type RecordType = 'A' | 'AAAA' | 'MX' | 'TXT' | 'CNAME' | 'PTR' | 'NS' | 'TLSA' | 'SOA'

/** What the DNS said. `records` is never empty. `temporary` covers SERVFAIL, REFUSED, silence and nonsense.
 *  `authentic`: every answer used was validated by DNSSEC, says a resolver that is trusted to say so (AD, RFC 4035). */
export type Lookup<T> =
  | { kind: 'records'; records: T[]; ttlSeconds: number; authentic: boolean }
  | { kind: 'no_data' }
  | { kind: 'nxdomain' }
  | { kind: 'temporary'; reason: string }

/** `exchange` in lower case without a trailing dot; `.` is the null MX of RFC 7505. */
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

/** Names are A-labels; a trailing dot does no harm. No method rejects: every failure is a Lookup. */
export interface Resolver {
  mx(name: string): Promise<Lookup<MxRecord>>
  a(name: string): Promise<Lookup<string>>
  aaaa(name: string): Promise<Lookup<string>>
  /** One entry a record: its strings joined, read as UTF-8. */
  txt(name: string): Promise<Lookup<string>>
  /** One entry a record: its strings apart, one character a byte (latin1), as mailauth wants them. */
  txtStrings(name: string): Promise<Lookup<string[]>>
  cname(name: string): Promise<Lookup<string>>
  ns(name: string): Promise<Lookup<string>>
  /** Takes an address, or the in-addr.arpa or ip6.arpa name made of one. */
  ptr(ip: string): Promise<Lookup<string>>
  tlsa(name: string): Promise<Lookup<TlsaRecord>>
  /** What is asked from now on is `temporary`; what is under way ends by itself. */
  close(): void
}
