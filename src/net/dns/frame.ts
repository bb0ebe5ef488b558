/** DNS message → the same with its two length bytes in front, for TCP. RFC 1035 §4.2.2 */
export function frameMessage(message: Uint8Array): Buffer {
  const framed = Buffer.allocUnsafe(2 + message.length)
  framed.writeUInt16BE(message.length)
  framed.set(message, 2)
  return framed
}

/** Creates a reader of one TCP stream. It takes received bytes and returns the messages that are complete. It buffers the
 *  rest, never more than one message (65,537 bytes) and the last chunk. */
export function framedMessages(): (bytes: Uint8Array) => Buffer[] {
  let rest: Buffer = Buffer.alloc(0)
  return (bytes) => {
    rest = rest.length === 0 ? Buffer.from(bytes) : Buffer.concat([rest, bytes])
    const messages: Buffer[] = []
    while (rest.length >= 2 && rest.length >= 2 + rest.readUInt16BE()) {
      const end = 2 + rest.readUInt16BE()
      messages.push(rest.subarray(2, end))
      rest = rest.subarray(end)
    }
    return messages
  }
}

/** True if a DNS message is complete. dns-packet accepts a truncated last record, and a TLSA record with half a hash
 *  is a different record. Never throws. RFC 1035 §4.1 */
export function isWhole(message: Buffer): boolean {
  if (message.length < HEADER_BYTES) return false
  const [questions = 0, ...others] = [4, 6, 8, 10].map((at) => message.readUInt16BE(at))
  const records = others.reduce((sum, count) => sum + count, 0)
  let at = HEADER_BYTES
  for (let n = 0; n < questions && at <= message.length; n++) at = endOfName(message, at) + 4
  for (let n = 0; n < records && at <= message.length; n++) {
    const lengthAt = endOfName(message, at) + 8
    if (lengthAt + 2 > message.length) return false
    at = lengthAt + 2 + message.readUInt16BE(lengthAt)
  }
  return at <= message.length
}

const HEADER_BYTES = 12

/** End of the name that begins at `from`: after the root label or a pointer; past the end of the message if there is
 *  neither. RFC 1035 §4.1.4 */
export function endOfName(message: Buffer, from: number): number {
  let at = from
  while (at < message.length) {
    const length = message[at] ?? 0
    if (length >= 0xc0) return at + 2
    if (length === 0) return at + 1
    at += 1 + length
  }
  return at + 1
}
