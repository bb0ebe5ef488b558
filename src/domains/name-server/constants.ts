/** Numbers of the DNS protocol: RFC 1035 §3.2.2, §4.1.1; RFC 3596 §2.1; RFC 6891 §6.1. */

export const CLASS_IN = 1

export const TYPES = { A: 1, NS: 2, CNAME: 5, SOA: 6, MX: 15, TXT: 16, AAAA: 28 } as const

export const TYPE_OPT = 41
export const TYPE_ANY = 255
/** Types from here on are questions or protocol, such as AXFR (252), IXFR and TSIG, and no records (RFC 6895 §3.1). */
export const FIRST_META_TYPE = 128
export const LAST_META_TYPE = 255

export const RCODES = { NOERROR: 0, FORMERR: 1, SERVFAIL: 2, NXDOMAIN: 3, NOTIMP: 4, REFUSED: 5, BADVERS: 16 } as const
export type Rcode = keyof typeof RCODES

export const HEADER_BYTES = 12
/** Largest message over UDP without EDNS. RFC 1035 §4.2.1 */
export const PLAIN_UDP_BYTES = 512
/** The most sent over UDP, and the size announced: fits every path without fragments (DNS Flag Day 2020). */
export const MOST_UDP_BYTES = 1232
