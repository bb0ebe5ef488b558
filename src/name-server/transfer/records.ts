import { CLASS_IN, HEADER_BYTES, TYPES } from '../constants.ts'

/** A record of a message, as far as a comparison needs it. */
export interface WireRecord {
  /** Owner in lower case, without the final dot. */
  name: string
  type: number
  /** Owner in lower case, not compressed. */
  owner: Buffer
  /** From the type on, with names in lower case and not compressed; empty for types and classes that we never write. */
  bytes: Buffer
}

/** Calls `take` for each record of the answer section. Throws for a malformed message. At most 255 bytes and 127 pointers are
 *  followed for a name, so the work is linear in the message. RFC 1035 §4.1 */
export function readAnswers(message: Buffer, take: (record: WireRecord) => void): void {
  let at = HEADER_BYTES
  for (let n = message.readUInt16BE(4); n > 0; n--) at = readName(message, at).end + 4
  for (let n = message.readUInt16BE(6); n > 0; n--) {
    const owner = readName(message, at)
    const dataAt = owner.end + 10
    if (dataAt > message.length) throw malformed()
    const end = dataAt + message.readUInt16BE(owner.end + 8)
    if (end > message.length) throw malformed()
    const type = message.readUInt16BE(owner.end)
    const isKnown = message.readUInt16BE(owner.end + 2) === CLASS_IN
    const data = isKnown ? plainData(message, type, dataAt, end) : null
    const bytes = data === null ? NOTHING : recordOf(message.subarray(owner.end, owner.end + 8), data)
    take({ name: textOf(owner.bytes), type, owner: owner.bytes, bytes })
    at = end
  }
}

function recordOf(head: Buffer, data: Buffer): Buffer {
  const record = Buffer.concat([head, LENGTH, data])
  record.writeUInt16BE(data.length, head.length)
  return record
}

/** Null for types that we never write below a label. */
function plainData(message: Buffer, type: number, at: number, end: number): Buffer | null {
  switch (type) {
    case TYPES.A:
    case TYPES.AAAA:
    case TYPES.TXT:
      return message.subarray(at, end)
    case TYPES.CNAME:
      return readName(message, at).bytes
    case TYPES.MX:
      return Buffer.concat([message.subarray(at, at + 2), readName(message, at + 2).bytes])
    default:
      return null
  }
}

/** The text of a TXT record (`bytes` of a WireRecord): its strings joined. */
export function txtOf({ bytes }: Pick<WireRecord, 'bytes'>): string {
  const parts: Buffer[] = []
  for (let at = 10; at < bytes.length; at += 1 + (bytes[at] ?? 0))
    parts.push(bytes.subarray(at + 1, at + 1 + (bytes[at] ?? 0)))
  return Buffer.concat(parts).toString()
}

function readName(message: Buffer, from: number): { bytes: Buffer; end: number } {
  const labels: Buffer[] = []
  let sizeBytes = 1
  let end = -1
  let jumps = 0
  for (let at = from; ; ) {
    const length = message[at]
    if (length === undefined) throw malformed()
    if (length === 0) return { bytes: Buffer.concat([...labels, ROOT]), end: end < 0 ? at + 1 : end }
    if (length >= 0xc0) {
      if (++jumps > MOST_POINTERS || at + 2 > message.length) throw malformed()
      if (end < 0) end = at + 2
      at = message.readUInt16BE(at) & 0x3fff
      continue
    }
    sizeBytes += 1 + length
    if (length > 63 || sizeBytes > MOST_NAME_BYTES || at + 1 + length > message.length) throw malformed()
    labels.push(lowerCase(message.subarray(at, at + 1 + length)))
    at += 1 + length
  }
}

/** Lengths of labels are below the letters. */
const lowerCase = (label: Buffer) => label.map((byte) => (byte >= 0x41 && byte <= 0x5a ? byte + 0x20 : byte)) as Buffer

function textOf(name: Buffer): string {
  const labels: string[] = []
  for (let at = 0; at < name.length - 1; at += 1 + (name[at] ?? 0))
    labels.push(name.toString('latin1', at + 1, at + 1 + (name[at] ?? 0)))
  return labels.join('.')
}

const malformed = () => new Error('the reply is malformed')

const ROOT = Buffer.from([0])
const LENGTH = Buffer.alloc(2)
const NOTHING = Buffer.alloc(0)
/** RFC 1035 §2.3.4; a name of that size has at most 127 labels. */
const MOST_NAME_BYTES = 255
const MOST_POINTERS = 127
