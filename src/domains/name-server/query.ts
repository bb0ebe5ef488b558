import { HEADER_BYTES, TYPE_OPT } from './constants.ts'

/** A question, as far as the answer needs it. */
export interface Query {
  /** Key of the name (zone.ts). */
  key: string
  type: number
  class: number
  /** Where the question ends in the packet. */
  questionEnd: number
  edns: Edns | null
}

export interface Edns {
  version: number
  udpBytes: number
  isDnssecOk: boolean
}

/** Packet of at least a header → the query; null if it is malformed or has another number of questions than one (RFC 9619).
 *  Never throws, and looks at a bounded number of bytes: the question, and at most four records' names. */
export function readQuery(packet: Buffer): Query | null {
  const records = packet.readUInt16BE(6) + packet.readUInt16BE(8)
  const additional = packet.readUInt16BE(10)
  if (packet.readUInt16BE(4) !== 1 || records + additional > MOST_RECORDS) return null
  const nameEnd = endOfPlainName(packet, HEADER_BYTES)
  const questionEnd = nameEnd + 4
  if (nameEnd < 0 || questionEnd > packet.length) return null
  const found = readEdns(packet, questionEnd, records, additional)
  if (found === null) return null
  return {
    key: lowerKey(packet, HEADER_BYTES, nameEnd),
    type: packet.readUInt16BE(nameEnd),
    class: packet.readUInt16BE(nameEnd + 2),
    questionEnd,
    edns: found.edns,
  }
}

/** A query has one record for EDNS, perhaps one for TSIG; an IXFR query one more. */
const MOST_RECORDS = 4

/** Null if a record is cut off, if there are several OPT records or one at another name than the root (RFC 6891 §6.1.1), or
 *  if bytes follow. */
function readEdns(packet: Buffer, from: number, before: number, additional: number): { edns: Edns | null } | null {
  let edns: Edns | null = null
  let at = from
  for (let n = 0; n < before + additional; n++) {
    const fixedAt = endOfName(packet, at)
    if (fixedAt < 0 || fixedAt + 10 > packet.length) return null
    if (packet.readUInt16BE(fixedAt) === TYPE_OPT) {
      if (edns !== null || n < before || fixedAt !== at + 1) return null
      edns = {
        udpBytes: packet.readUInt16BE(fixedAt + 2),
        version: packet[fixedAt + 5] ?? 0,
        isDnssecOk: ((packet[fixedAt + 6] ?? 0) & 0x80) !== 0,
      }
    }
    at = fixedAt + 10 + packet.readUInt16BE(fixedAt + 8)
    if (at > packet.length) return null
  }
  return at === packet.length ? { edns } : null
}

/** End of an uncompressed name of at most 255 bytes; -1 for any other. A question comes first, so it has nothing to point
 *  to. */
function endOfPlainName(packet: Buffer, from: number): number {
  let at = from
  while (at < packet.length && at - from < MOST_NAME_BYTES) {
    const length = packet[at] ?? 0
    if (length > 63) return -1
    at += 1 + length
    if (length === 0) return at
  }
  return -1
}

/** The same for a name that may end in a pointer. */
function endOfName(packet: Buffer, from: number): number {
  let at = from
  while (at < packet.length && at - from < MOST_NAME_BYTES) {
    const length = packet[at] ?? 0
    if (length >= 0xc0) return at + 2
    if (length > 63) return -1
    at += 1 + length
    if (length === 0) return at
  }
  return -1
}

/** RFC 1035 §2.3.4 */
const MOST_NAME_BYTES = 255

const scratch = Buffer.alloc(MOST_NAME_BYTES + 1)

/** Lengths of labels are below the letters, so every byte is treated alike. */
function lowerKey(packet: Buffer, from: number, end: number): string {
  for (let at = from; at < end; at++) {
    const byte = packet[at] ?? 0
    scratch[at - from] = byte >= 0x41 && byte <= 0x5a ? byte + 0x20 : byte
  }
  return scratch.toString('latin1', 0, end - from)
}
