import type { Readable } from 'node:stream'
import { tooLarge } from './parameters.ts'
import type { SmtpReply } from './reply.ts'
import { createScan } from './scan.ts'
import type { SpooledMail } from './spool.ts'

/** The client went away before its dot: nobody is there to answer, and there is no mail. */
export class ClientDisconnected extends Error {
  override name = 'ClientGone'
}

/** DATA, dots unstuffed, up to its end → its size in bytes, with all of it in `mail`. Reads to the end whatever it finds,
 *  for the client hears nothing before; after the first fault it keeps nothing. `onPiece` is called for each piece, with its bytes.
 *  Rejects at the end: with SmtpReply for what no mail may be, with the error of the disk, with ClientGone. */
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
    throw new ClientDisconnected() // the only thing that breaks this stream is the end of its socket
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
