import { isFault } from './dialogue.ts'
import { envelopeAnswerOf, gone, refused } from './envelope-answer.ts'
import { type Answer, faultAt } from './reply.ts'
import { isPositive, type Session } from './session.ts'
import type { Timeouts } from './timeouts.ts'
import { unstuffed, type WireMail } from './wire-mail.ts'

/** Whether the server takes this mail in one write with its commands: it offers PIPELINING and CHUNKING, and the mail is
 *  so small that sending it to a refused recipient costs little. */
export function isForOneWrite({ extensions }: Session, { sizeBytes }: WireMail): boolean {
  return extensions.pipelining && extensions.chunking && sizeBytes <= MOST_BYTES
}

/** Sends MAIL, RCPT and the whole mail as one chunk in one write, without waiting for a reply: one round trip instead of
 *  two, and 3 % less CPU for a mail of 10 KB. For kept connections only: on a new one, a server that closes the
 *  connection before its first reply must not have the mail.
 *
 *  `stale` also if the server closed the connection without any reply. It may then have accepted the mail, if it failed
 *  right after that; it gets the mail again with the same Message-ID. A server that offers CHUNKING and does not know
 *  BDAT gets its mail by DATA from then on. RFC 3030 §2, §4.2 */
export async function offerInOneWrite(
  session: Session,
  commands: readonly string[],
  mail: WireMail,
  timeouts: Timeouts,
  onCommit = () => {},
): Promise<Answer | 'stale'> {
  const { dialogue } = session
  const chunk = `BDAT ${mail.sizeBytes} LAST`
  const group = [...(session.needsReset ? ['RSET'] : []), ...commands, chunk].join('\r\n')
  onCommit()
  dialogue.say(Buffer.concat([Buffer.from(`${group}\r\n`), unstuffed(mail)]), `${group}\r\n<${mail.sizeBytes} bytes>`)
  const answer = await envelopeAnswerOf(session, timeouts, true, (isOpen) => closeGroup(session, timeouts, isOpen))
  if (answer !== null) return answer === 'stale' ? answer : maybeSent(session, answer)

  dialogue.deadlineMs = Number.POSITIVE_INFINITY
  const reply = await dialogue.reply(timeouts.finalDotMs)
  if (isFault(reply)) return maybeSent(session, faultAt('content', reply))
  if (isPositive(reply)) return { kind: 'reply', stage: 'content', reply }
  if (reply.code >= 500 && reply.code <= 504) {
    session.extensions.chunking = false
    return gone(session)
  }
  const refusal = refused(session, 'content', reply)
  session.needsReset = true // RFC 3030 §2: after a failed BDAT
  return maybeSent(session, refusal)
}

const MOST_BYTES = 65_536

function maybeSent({ dialogue }: Session, answer: Answer): Answer {
  return answer.kind === 'fault' ? { ...answer, afterDot: !dialogue.hasUnsent() } : answer
}

/** MAIL or RCPT was refused, so the server refuses the chunk as well. */
async function closeGroup({ dialogue }: Session, timeouts: Timeouts, isOpen: boolean): Promise<void> {
  const reply = isOpen ? await dialogue.reply(timeouts.windUpMs) : null
  if (reply === null || isFault(reply) || reply.code < 400 || reply.code === 421) dialogue.close()
}
