import type { Readable } from 'node:stream'
import type { Surroundings } from './context.ts'
import { ClientGone, takeIn } from './intake.ts'
import { checkMailParameters, checkRecipientParameters } from './parameters.ts'
import { REPLIES, replyTo } from './replies.ts'
import { SmtpReply } from './reply.ts'
import type { SmtpSession, SpokenAddress } from './session.ts'
import { parseSpokenPath } from './spoken-address.ts'

/** From MAIL to the dot. */
export interface Transaction<R> {
  returnPath: SpokenAddress | null
  utf8: boolean
  recipients: { spoken: SpokenAddress; as: R }[]
}

/** What stands behind MAIL → a transaction without recipients. Sets `who.protocol`, `plainProtocol` being what it is without
 *  SMTPUTF8. Throws SmtpReply, 452 among them for a mail so large that we have no memory for it now, and whatever the door
 *  throws. */
export async function beginTransaction<R>(
  rest: string,
  who: SmtpSession,
  around: Surroundings<R>,
  plainProtocol: string,
): Promise<Transaction<R>> {
  const path = /^FROM:(.*)$/is.exec(rest)?.[1]
  if (path === undefined) throw REPLIES.syntax
  const { address, parameters } = parseSpokenPath(path, (spoken) => spoken.has('SMTPUTF8'), { who: 'sender' })
  const { messageBytes } = around.settings.limits
  const utf8 = checkMailParameters(parameters, { messageBytes, login: around.door.onLogin !== undefined })
  if (!around.memory.mayHold('mail', Number(parameters.get('SIZE') ?? 0))) throw REPLIES.noMemory
  who.protocol = protocolOf(plainProtocol, utf8)
  await around.door.onMailFrom?.(who, address)
  return { returnPath: address, utf8, recipients: [] }
}

/** What stands behind RCPT → one recipient more, none when it is there already. Throws SmtpReply, and whatever the door
 *  throws; then the transaction is as it was. */
export async function addRecipient<R>(
  transaction: Transaction<R>,
  rest: string,
  who: SmtpSession,
  { door, settings }: Surroundings<R>,
): Promise<void> {
  const path = /^TO:(.*)$/is.exec(rest)?.[1]
  if (path === undefined) throw REPLIES.syntax
  const { address, parameters } = parseSpokenPath(path, () => transaction.utf8, {
    who: 'recipient',
    home: settings.hostname,
  })
  checkRecipientParameters(parameters)
  if (address === null) throw REPLIES.syntax
  const { recipients } = transaction
  if (recipients.some(({ spoken }) => spoken.address === address.address)) return
  if (recipients.length >= settings.limits.recipients) throw REPLIES.tooManyRecipients
  const already = recipients.map((recipient) => recipient.as)
  recipients.push({ spoken: address, as: await door.onRecipient(who, address, already) })
}

/** DATA up to its dot, handed to the door → what to say; null when nobody is there to hear it. Never rejects. `onPiece` is
 *  called while the client sends, `onWhole` when it has. */
export async function takeMail<R>(
  { returnPath, recipients }: Transaction<R>,
  stream: Readable,
  session: SmtpSession,
  { spool, settings, clock, door, log }: Surroundings<R>,
  progress: { onPiece: (bytes: number) => void; onWhole: () => void },
): Promise<SmtpReply | null> {
  const mail = spool.begin()
  try {
    const { messageBytes } = settings.limits
    const sizeBytes = await takeIn(stream, mail, { messageBytes, onPiece: progress.onPiece })
    progress.onWhole()
    const { read, place } = mail
    const text = await door.onMail({ session, returnPath, recipients, sizeBytes, receivedAt: clock.now(), read, place })
    return new SmtpReply(250, '2.0.0', text)
  } catch (thrown) {
    return thrown instanceof ClientGone ? null : replyTo(thrown, log)
  } finally {
    await mail.discard()
  }
}

/** RFC 6531 §4.3: ESMTPSA → UTF8SMTPSA. */
function protocolOf(plain: string, utf8: boolean): string {
  return utf8 ? plain.replace(/^E?SMTP/, 'UTF8SMTP') : plain
}
