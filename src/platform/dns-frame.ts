/** DNS message → the same with its two length bytes in front, as TCP wants it. RFC 1035 §4.2.2 */
export function frameMessage(message: Uint8Array): Buffer {
  const framed = Buffer.allocUnsafe(2 + message.length)
  framed.writeUInt16BE(message.length)
  framed.set(message, 2)
  return framed
}

/** Makes a reader of one TCP stream: feed it bytes as they come, get the messages that are complete.
 *  Keeps what is left for the next call, never more than one message (65,537 bytes) and what came last. */
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
