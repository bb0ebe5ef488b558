import type { Readable } from 'node:stream'
import { tooLarge } from './parameters.ts'
import type { SmtpReply } from './reply.ts'
import { createScan } from './scan.ts'
import type { SpooledMail } from './spool.ts'

/** The client disconnected before the end of DATA: there is no mail and no one to answer. */
export class ClientDisconnected extends Error {
  override name = 'ClientDisconnected'
}

/** DATA, dots unstuffed → its size in bytes; its content goes to `mail`. Reads to the end even after an error, because
 *  the client reads no reply before; after the first error it stores nothing. Calls `onPiece` with the byte count of
 *  each piece. Rejects at the end: with SmtpReply for mail that is not acceptable, with a disk error, or with
 *  ClientDisconnected. */
export async function receiveData(
  stream: Readable,
  mail: Pick<SpooledMail, 'write' | 'discard'>,
  options: { messageBytes: number; onPiece: (bytes: number) => void },
): Promise<number> {
  const scan = createScan()
  let sizeBytes = 0
  let fault: unknown = null
  try {
    for await (const piece of stream as AsyncIterable<Uint8Array>) {
      options.onPiece(piece.length)
      sizeBytes += piece.length
      if (fault !== null) continue
      fault = scan.feed(piece) ?? overSize(sizeBytes, options.messageBytes) ?? (await failureOf(mail.write(piece)))
      if (fault !== null) await mail.discard()
    }
  } catch {
    throw new ClientDisconnected() // only the end of the socket breaks this stream
  }
  if (!stream.readableEnded) throw new ClientDisconnected()
  fault ??= scan.end()
  if (fault !== null) throw fault
  return sizeBytes
}

const overSize = (sizeBytes: number, messageBytes: number): SmtpReply | null =>
  sizeBytes > messageBytes ? tooLarge(messageBytes) : null

const failureOf = (writing: Promise<void>): Promise<unknown> =>
  writing.then(
    () => null,
    (error: unknown) => error ?? new Error('the spool failed'),
  )
