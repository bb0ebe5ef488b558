import type { Reply } from '../../../mail/reply.ts'
import { isForOneWrite, offerInOneWrite } from './chunk.ts'
import { isFault, nowMs } from './dialogue.ts'
import { type EnvelopeAnswer, envelopeAnswerOf, gone, isGone, lost, refused } from './envelope-answer.ts'
import type { Answer, Fault } from './reply.ts'
import { isContinue, isPositive, isRefusal, type Session } from './session.ts'
import type { Timeouts } from './timeouts.ts'
import type { WireMail } from './wire-mail.ts'

/** One mail for one recipient. RFC 5321 §2.3.1 */
export interface Envelope {
  /** Empty for the null return path. */
  returnPath: string
  recipient: string
}

/** Envelope and mail → the server's answer, or `stale` when a kept connection was gone (lost, or 421) before any reply
 *  to this mail: a fresh connection may be tried. With PIPELINING, MAIL, RCPT and DATA go out in one write and the mail
 *  with its dot in another (RFC 2920); with CHUNKING too, a small mail on a kept connection goes out with its commands
 *  (chunk.ts); without PIPELINING each command waits for its reply. After a refusal the next offer starts with RSET. A
 *  session is closed when the answer is a fault or 421. Throws on control characters in an address, which submission
 *  refuses. */
export async function offerMail(
  session: Session,
  { envelope, mail, onCommit }: { envelope: Envelope; mail: WireMail; onCommit?: () => void },
  timeouts: Timeouts,
): Promise<Answer | 'stale'> {
  const unfit = misfit(session, envelope, mail)
  if (unfit !== null) return unfit
  const isReused = session.offered > 0
  session.offered++

  const parameters = mailParameters(session, envelope, mail)
  const commands = [`MAIL FROM:<${path(envelope.returnPath)}>${parameters}`, `RCPT TO:<${path(envelope.recipient)}>`]
  if (isReused && isForOneWrite(session, mail)) return offerInOneWrite(session, commands, mail, timeouts, onCommit)
  const envelopeAnswer = session.extensions.pipelining
    ? await pipelined(session, commands, timeouts, isReused)
    : await inLockstep(session, commands, timeouts, isReused)
  if (envelopeAnswer !== null) return envelopeAnswer
  return sendContent(session, mail, timeouts, onCommit)
}

/** Block size of a large mail; a small one goes out in one write, dot included. */
const BLOCK_BYTES = 262_144

/** Whether the server's extensions rule out this mail, in this form. RFC 1870 §6.1, RFC 6152 §3, RFC 6531 §3.5 */
function misfit({ extensions }: Session, envelope: Envelope, mail: WireMail): Answer | null {
  const limit = extensions.maxSizeBytes
  if (limit !== null && mail.sizeBytes > limit) {
    const message = `the message has ${mail.sizeBytes} bytes, but the server accepts at most ${limit}`
    return { kind: 'unfit', code: '5.3.4', message }
  }
  if (hasUtf8Address(envelope) && !extensions.smtpUtf8) {
    return { kind: 'unfit', code: '5.6.7', message: 'the server does not support non-ASCII addresses (SMTPUTF8)' }
  }
  if (mail.isEightBit && !extensions.eightBitMime && !mail.isSevenBitForm) {
    return { kind: 'unfit', code: '5.6.3', message: 'the server does not support 8-bit mail (8BITMIME)' }
  }
  return null
}

/** Only an address needs SMTPUTF8. Without it, UTF-8 headers go as they are, as Postfix sends them. */
function hasUtf8Address(envelope: Envelope): boolean {
  return NON_ASCII.test(envelope.recipient) || NON_ASCII.test(envelope.returnPath)
}

function mailParameters({ extensions }: Session, envelope: Envelope, mail: WireMail): string {
  const size = extensions.size ? ` SIZE=${mail.sizeBytes}` : ''
  const body = mail.isEightBit && extensions.eightBitMime ? ' BODY=8BITMIME' : ''
  const isAnnounced = hasUtf8Address(envelope) || (mail.hasUtf8Headers && extensions.smtpUtf8)
  return size + body + (isAnnounced ? ' SMTPUTF8' : '')
}

function path(address: string): string {
  if (CONTROL.test(address)) throw new Error('control character in an envelope address')
  return address
}

const NON_ASCII = /[^\x00-\x7f]/
const CONTROL = /[\x00-\x1f\x7f]/

async function pipelined(
  session: Session,
  commands: readonly string[],
  timeouts: Timeouts,
  isReused: boolean,
): Promise<EnvelopeAnswer> {
  const { dialogue } = session
  const group = [...(session.needsReset ? ['RSET'] : []), ...commands, 'DATA'].join('\r\n')
  dialogue.say(`${group}\r\n`, group)
  const answer = await envelopeAnswerOf(session, timeouts, isReused, (isOpen) => closeGroup(session, timeouts, isOpen))
  return answer ?? dataAnswer(session, await dialogue.reply(timeouts.dataMs))
}

/** MAIL or RCPT was refused after DATA was sent: read its reply, and if the server expects a mail, send none. RFC 2920
 *  §3.1 */
async function closeGroup(session: Session, timeouts: Timeouts, isOpen: boolean): Promise<void> {
  if (!isOpen) return session.dialogue.close()
  const reply = await session.dialogue.reply(timeouts.windUpMs)
  if (isFault(reply) || reply.code === 421) return session.dialogue.close()
  if (!isContinue(reply)) return
  session.dialogue.say('.\r\n', '.')
  const end = await session.dialogue.reply(timeouts.windUpMs)
  if (isFault(end)) session.dialogue.close()
}

async function inLockstep(
  session: Session,
  commands: readonly string[],
  timeouts: Timeouts,
  isReused: boolean,
): Promise<EnvelopeAnswer> {
  const { dialogue } = session
  const ask = (line: string, timeoutMs: number) => {
    dialogue.say(`${line}\r\n`, line)
    return dialogue.reply(timeoutMs)
  }
  if (session.needsReset) {
    const reset = await ask('RSET', timeouts.commandMs)
    if (isFault(reset) || !isPositive(reset)) return gone(session)
    session.needsReset = false
  }
  const mailReply = await ask(commands[0]!, timeouts.commandMs)
  if (isReused && isGone(mailReply)) return gone(session)
  if (isFault(mailReply)) return lost(session, 'mail', mailReply)
  if (!isPositive(mailReply)) return refused(session, 'mail', mailReply)
  const rcptReply = await ask(commands[1]!, timeouts.commandMs)
  if (isFault(rcptReply)) return lost(session, 'rcpt', rcptReply)
  if (!isPositive(rcptReply)) return refused(session, 'rcpt', rcptReply)
  return dataAnswer(session, await ask('DATA', timeouts.dataMs))
}

function dataAnswer(session: Session, reply: Reply | Fault): EnvelopeAnswer {
  if (isFault(reply)) return lost(session, 'data', reply)
  return isContinue(reply) ? null : refused(session, 'data', reply)
}

async function sendContent(session: Session, mail: WireMail, timeouts: Timeouts, onCommit = () => {}): Promise<Answer> {
  const { dialogue } = session
  const { bytes } = mail
  const shown = `<${mail.sizeBytes} bytes>`
  dialogue.deadlineMs = nowMs() + timeouts.uploadMs
  let sent = 0
  while (bytes.byteLength - sent > BLOCK_BYTES) {
    const block = bytes.subarray(sent, sent + BLOCK_BYTES)
    dialogue.write(block)
    sent += block.byteLength
    const fault = await dialogue.drained(timeouts.blockMs)
    if (fault !== null) return earlyEnd(session, fault)
  }
  onCommit()
  dialogue.say(bytes.subarray(sent), shown)
  dialogue.deadlineMs = Number.POSITIVE_INFINITY

  const reply = await dialogue.reply(timeouts.finalDotMs)
  if (isFault(reply)) return { kind: 'fault', stage: 'content', fault: reply, afterDot: !dialogue.hasUnsent() }
  if (isPositive(reply)) return { kind: 'reply', stage: 'content', reply }
  const answer = refused(session, 'content', reply)
  return answer.kind === 'fault' ? { ...answer, afterDot: true } : answer
}

/** The connection ended while sending the mail. A reply that the server sent before disconnecting counts. */
async function earlyEnd(session: Session, fault: Fault): Promise<Answer> {
  const said = await session.dialogue.reply(0)
  if (!isFault(said) && isRefusal(said)) {
    session.dialogue.close()
    return { kind: 'reply', stage: 'content', reply: said }
  }
  return lost(session, 'content', fault)
}
