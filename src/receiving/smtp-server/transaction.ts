import type { Readable } from 'node:stream'
import type { ListenerContext } from './context.ts'
import { parseSpokenPath } from './envelope-address.ts'
import { checkMailParameters, checkRecipientParameters, tooLarge } from './parameters.ts'
import { REPLIES, replyTo } from './replies.ts'
import { SmtpReply } from './reply.ts'
import { createScan } from './scan.ts'
import type { EnvelopeAddress, SmtpSession } from './session.ts'
import type { SpooledMail } from './spool.ts'

/** One mail transaction, from MAIL to the end of DATA. */
export interface Transaction<R> {
  /** Null for the null return path, and on a listener with logins. */
  returnPath: EnvelopeAddress | null
  utf8: boolean
  recipients: { spoken: EnvelopeAddress; as: R }[]
}

/** Argument of MAIL → a transaction without recipients. Sets `session.protocol`; `plainProtocol` is its value without
 *  SMTPUTF8. Throws SmtpReply, including 452 for mail too large for the memory available now, and what the handler
 *  throws. */
export async function beginTransaction<R>(
  rest: string,
  session: SmtpSession,
  context: ListenerContext<R>,
  plainProtocol: string,
): Promise<Transaction<R>> {
  const path = /^FROM:(.*)$/is.exec(rest)?.[1]
  if (path === undefined) throw REPLIES.syntax
  const login = context.handler.onLogin !== undefined
  const of = { who: login ? 'ignored' : 'sender' } as const // our return path replaces that of a submission
  const { address, parameters } = parseSpokenPath(path, (spoken) => spoken.has('SMTPUTF8'), of)
  const { messageBytes } = context.settings.limits
  const utf8 = checkMailParameters(parameters, { messageBytes, login })
  if (!context.memory.mayHold('mail', Number(parameters.get('SIZE') ?? 0))) throw REPLIES.noMemory
  session.protocol = protocolOf(plainProtocol, utf8)
  await context.handler.onMailFrom?.(session, address)
  return { returnPath: address, utf8, recipients: [] }
}

/** Argument of RCPT → adds the recipient, unless it is already there. Throws SmtpReply and what the handler throws; the
 *  transaction is then unchanged. */
export async function addRecipient<R>(
  transaction: Transaction<R>,
  rest: string,
  session: SmtpSession,
  { handler, settings }: ListenerContext<R>,
): Promise<void> {
  const path = /^TO:(.*)$/is.exec(rest)?.[1]
  if (path === undefined) throw REPLIES.syntax
  const { address, parameters } = parseSpokenPath(path, () => transaction.utf8, {
    who: 'recipient',
    localDomain: settings.hostname,
  })
  checkRecipientParameters(parameters)
  if (address === null) throw REPLIES.syntax
  const { recipients } = transaction
  if (recipients.some(({ spoken }) => spoken.address === address.address)) return
  if (recipients.length >= settings.limits.recipients) throw REPLIES.tooManyRecipients
  const already = recipients.map((recipient) => recipient.as)
  recipients.push({ spoken: address, as: await handler.onRecipient(session, address, already) })
}

/** Receives DATA, passes the mail to the handler and resolves with the reply; null when the client has disconnected.
 *  Never rejects. Calls `onPiece` while the client sends and `onWhole` at the end. */
export async function takeMail<R>(
  { returnPath, recipients }: Transaction<R>,
  stream: Readable,
  session: SmtpSession,
  { spool, settings, clock, handler, log }: ListenerContext<R>,
  progress: { onPiece: (bytes: number) => void; onWhole: () => void },
): Promise<SmtpReply | null> {
  const mail = spool.begin()
  try {
    const { messageBytes } = settings.limits
    const sizeBytes = await receiveData(stream, mail, { messageBytes, onPiece: progress.onPiece })
    progress.onWhole()
    const { read, open } = mail
    const text = await handler.onMail({
      session,
      returnPath,
      recipients,
      sizeBytes,
      receivedAt: clock.now(),
      read,
      open,
    })
    return new SmtpReply(250, '2.0.0', text)
  } catch (thrown) {
    return thrown instanceof ClientDisconnected ? null : replyTo(thrown, log)
  } finally {
    await mail.discard()
  }
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
    (error: unknown) => error ?? new Error('cannot write to the spool'),
  )

/** RFC 6531 §4.3: ESMTPSA becomes UTF8SMTPSA. */
function protocolOf(plain: string, utf8: boolean): string {
  return utf8 ? plain.replace(/^E?SMTP/, 'UTF8SMTP') : plain
}

/** The client disconnected before the end of DATA: there is no mail, and no reply can be sent. */
class ClientDisconnected extends Error {
  override name = 'ClientDisconnected'
}
