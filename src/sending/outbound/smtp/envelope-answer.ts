import type { Reply } from '../../../mail/reply.ts'
import { isFault } from './dialogue.ts'
import { type Answer, type Fault, faultAt, type Stage } from './reply.ts'
import { isPositive, isRefusal, outOfPlace, type Session } from './session.ts'
import type { Timeouts } from './timeouts.ts'

/** Null: the server accepted sender and recipient. `stale`: the kept connection was gone. */
export type EnvelopeAnswer = Answer | 'stale' | null

/** Reads the replies to a pipelined group that starts with RSET (if the session needs it), MAIL and RCPT. All replies
 *  arrive in any case; a server that disconnects between them ends the wait with a fault. After a refusal `closeGroup`
 *  reads the replies to the rest of the group; `isOpen` is false if the connection is lost. RFC 2920 §3.1 */
export async function envelopeAnswerOf(
  session: Session,
  timeouts: Timeouts,
  isReused: boolean,
  closeGroup: (isOpen: boolean) => Promise<void>,
): Promise<EnvelopeAnswer> {
  const { dialogue } = session
  if (session.needsReset) {
    const reset = await dialogue.reply(timeouts.commandMs)
    if (isFault(reset) || !isPositive(reset)) return gone(session)
    session.needsReset = false
  }
  const mailReply = await dialogue.reply(timeouts.commandMs)
  if (isReused && isGone(mailReply)) return gone(session)
  if (isFault(mailReply)) return lost(session, 'mail', mailReply)
  if (mailReply.code === 421) return refused(session, 'mail', mailReply)

  const rcptReply = await dialogue.reply(timeouts.commandMs)
  if (!isPositive(mailReply)) {
    await closeGroup(!isFault(rcptReply))
    return refused(session, 'mail', mailReply)
  }
  if (isFault(rcptReply)) return lost(session, 'rcpt', rcptReply)
  if (rcptReply.code === 421) return refused(session, 'rcpt', rcptReply)
  if (isPositive(rcptReply)) return null
  await closeGroup(true)
  return refused(session, 'rcpt', rcptReply)
}

/** True if a kept connection ended before the reply to its next command. */
export function isGone(answer: Reply | Fault): boolean {
  return isFault(answer) ? answer.class === 'network' : answer.code === 421
}

/** Closes a kept connection that cannot be used again. */
export function gone(session: Session): 'stale' {
  session.dialogue.close()
  return 'stale'
}

/** Closes the connection after a fault → its answer. */
export function lost(session: Session, stage: Stage, fault: Fault): Answer {
  session.dialogue.close()
  return faultAt(stage, fault)
}

/** A reply that is not positive → the answer; the session is closed after 421 and after a reply that SMTP does not allow
 *  there, and otherwise needs RSET. */
export function refused(session: Session, stage: Stage, reply: Reply): Answer {
  if (!isRefusal(reply)) {
    session.dialogue.close()
    return outOfPlace(stage, reply)
  }
  session.needsReset = stage !== 'content' // the server has ended the transaction in any case
  if (reply.code === 421) session.dialogue.close()
  return { kind: 'reply', stage, reply }
}
