import type { Readable } from 'node:stream'
import type { ListenerContext } from './context.ts'
import { parseSpokenPath } from './envelope-address.ts'
import { checkMailParameters, checkRecipientParameters } from './parameters.ts'
import { ClientDisconnected, receiveData } from './receive-data.ts'
import { REPLIES, replyTo } from './replies.ts'
import { SmtpReply } from './reply.ts'
import type { EnvelopeAddress, SmtpSession } from './session.ts'

/** From MAIL to the dot. */
export interface Transaction<R> {
  returnPath: EnvelopeAddress | null
  utf8: boolean
  recipients: { spoken: EnvelopeAddress; as: R }[]
}

/** What stands behind MAIL → a transaction without recipients. Sets `who.protocol`, `plainProtocol` being what it is without
 *  SMTPUTF8. Throws SmtpReply, 452 among them for a mail so large that we have no memory for it now, and whatever the door
 *  throws. */
export async function beginTransaction<R>(
  rest: string,
  session: SmtpSession,
  context: ListenerContext<R>,
  plainProtocol: string,
): Promise<Transaction<R>> {
  const path = /^FROM:(.*)$/is.exec(rest)?.[1]
  if (path === undefined) throw REPLIES.syntax
  const { address, parameters } = parseSpokenPath(path, (spoken) => spoken.has('SMTPUTF8'), { who: 'sender' })
  const { messageBytes } = context.settings.limits
  const utf8 = checkMailParameters(parameters, { messageBytes, login: context.handler.onLogin !== undefined })
  if (!context.memory.mayHold('mail', Number(parameters.get('SIZE') ?? 0))) throw REPLIES.noMemory
  session.protocol = protocolOf(plainProtocol, utf8)
  await context.handler.onMailFrom?.(session, address)
  return { returnPath: address, utf8, recipients: [] }
}

/** What stands behind RCPT → one recipient more, none when it is there already. Throws SmtpReply, and whatever the door
 *  throws; then the transaction is as it was. */
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

/** DATA up to its dot, handed to the door → what to say; null when nobody is there to hear it. Never rejects. `onPiece` is
 *  called while the client sends, `onWhole` when it has. */
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

/** RFC 6531 §4.3: ESMTPSA → UTF8SMTPSA. */
function protocolOf(plain: string, utf8: boolean): string {
  return utf8 ? plain.replace(/^E?SMTP/, 'UTF8SMTP') : plain
}
