import { endOfName } from './frame.ts'

/** Limits on the work for one DNS message. Names in it are compressed: 59,000 bytes contained 8,400 names of 126
 *  labels each, and decoding them took 150 ms of the main thread. */
export const DNS_COST_LIMITS = {
  /** Records per message. The largest sets in practice have some dozens. */
  records: 1_000,
  /** Labels of all names after decompression, and strings of TXT records; 0.1 µs each. A TXT record of 64 KiB in
   *  full strings has 257. */
  pieces: 20_000,
}

/** True if decoding a DNS message stays within DNS_COST_LIMITS. Also true for a truncated or otherwise malformed
 *  message, which the decoder detects. Linear in the message up to the limits; never throws. RFC 1035 §4.1 */
export function isCheap(message: Buffer): boolean {
  if (message.length < HEADER_BYTES) return true
  const [questions = 0, ...others] = [4, 6, 8, 10].map((at) => message.readUInt16BE(at))
  const records = others.reduce((sum, count) => sum + count, 0)
  if (questions > MOST_QUESTIONS || records > DNS_COST_LIMITS.records) return false
  let pieces = 0
  let at = HEADER_BYTES
  const name = (from: number) => {
    const { labels, end } = nameAt(message, from)
    pieces += labels
    return end
  }
  for (let n = 0; n < questions; n++) at = name(at) + 4
  for (let n = 0; n < records && at < message.length && pieces <= DNS_COST_LIMITS.pieces; n++) {
    const fixedAt = name(at)
    if (fixedAt + 10 > message.length) break
    const type = message.readUInt16BE(fixedAt)
    const dataAt = fixedAt + 10
    const dataEnd = dataAt + message.readUInt16BE(fixedAt + 8)
    pieces += 1 + dataPieces(message, type, dataAt, Math.min(dataEnd, message.length))
    at = dataEnd
  }
  return pieces <= DNS_COST_LIMITS.pieces
}

const HEADER_BYTES = 12
/** Our queries have one. */
const MOST_QUESTIONS = 4
/** A name has 255 bytes (RFC 1035 §2.3.4): at most 127 labels, each followed by a pointer. */
const MOST_LABELS = 256

/** Number of pieces that dns-packet makes of a record's data. */
function dataPieces(message: Buffer, type: number, from: number, end: number): number {
  switch (type) {
    case 1: // A
    case 28: // AAAA
    case 43: // DS
    case 48: // DNSKEY
    case 52: // TLSA
      return 1
    case 2: // NS
    case 5: // CNAME
    case 12: // PTR
    case 39: // DNAME
      return nameAt(message, from).labels
    case 15: // MX
      return nameAt(message, from + 2).labels
    case 46: // RRSIG
      return nameAt(message, from + 18).labels
    case 6: {
      // SOA
      const first = nameAt(message, from)
      return first.labels + nameAt(message, first.end).labels
    }
    case 16: {
      let strings = 0
      for (let at = from; at < end; at += 1 + (message[at] ?? end)) strings++
      return strings
    }
    default:
      // Other types have at most two names, or lists and bit maps in which each bit may become an element.
      return MOST_LABELS + 8 * (end - from)
  }
}

/** Returns the number of labels of the name after decompression, with its pointers, and where the name ends. No end
 *  if there are more of them than a name can have: a chain of pointers alone may be thousands long. Pointers lead
 *  backwards (RFC 1035 §4.1.4); one that does not ends the name. */
function nameAt(message: Buffer, from: number): { labels: number; end: number } {
  let labels = 0
  for (let at = from; at < message.length; labels++) {
    if (labels > MOST_LABELS) return { labels: Number.POSITIVE_INFINITY, end: message.length }
    const length = message[at] ?? 0
    if (length === 0) break
    if (length < 0xc0) {
      at += 1 + length
      continue
    }
    const to = ((length & 0x3f) << 8) | (message[at + 1] ?? 0)
    if (to >= at) break
    at = to
  }
  return { labels: labels + 1, end: endOfName(message, from) }
}
