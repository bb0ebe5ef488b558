import { classifyReply } from '../mail/bounce-class.ts'
import { formatReply, type Reply } from '../mail/reply.ts'
import type { BounceType, Cause, Outcome } from '../model/delivery.ts'
import type { Answer, Fault, Stage } from './smtp/reply.ts'

/** Answer of the server → what happened to the delivery (contract §4 a–d). `peerName` goes into messages. Never throws.
 *
 *  delivered  2yz to the final dot, and nothing else.
 *  deferred   4yz anywhere (421 included), 530 (the operator can mend it), and network, time-out, TLS, login and protocol
 *             trouble. About the recipient when x.1.z or x.2.z, or the words, say that this mailbox is the matter.
 *  bounced    hard: 5yz to RCPT, DATA or the mail that says the address or its domain does not exist or takes no mail.
 *             soft: every other 5yz. The address is fine, or at least nobody said otherwise: only hard suppresses,
 *             so in doubt it is soft. That includes mailboxes that are full (5.2.2) and disabled (5.2.1: large providers
 *             say it of accounts that come back), and all that was said before RCPT, which is about us.
 *  unknown    the connection was lost after the final dot.
 *
 *  RFC 5321 §4.2.1, RFC 3463 §3, RFC 7505. */
export function outcomeOf(answer: Answer, peerName: string): Outcome {
  switch (answer.kind) {
    case 'reply':
      return outcomeOfReply(answer.stage, answer.reply)
    case 'fault':
      return outcomeOfFault(answer.stage, answer.fault, answer.afterDot, peerName)
    case 'unfit': {
      const { code, message } = answer
      const cause = { class: code === '5.3.4' ? 'size' : 'protocol', rule: `unfit:${code}` }
      return { kind: 'bounced', bounceType: 'soft', code, message: `${peerName}: ${message}`, cause }
    }
  }
}

/** Whether another host of the domain may do better: true for faults and temporary replies that are not about the
 *  recipient, and for a host that refuses to talk to us at all. A lost connection after the final dot is no such
 *  trouble: another host might deliver the mail a second time. */
export function isHostTrouble(answer: Answer, outcome: Outcome): boolean {
  if (outcome.kind === 'deferred') return !outcome.aboutRecipient
  return outcome.kind === 'bounced' && answer.kind === 'reply' && isBeforeMail(answer.stage)
}

/** What a server said to somebody who carried our mail on, as a report brings it back → the bounce it is, decided as if
 *  it had been said to us at RCPT. Never throws. */
export function lateBounce(reply: Reply): { bounceType: BounceType; code: string; cause: Cause } {
  const cause: Cause = classifyReply(reply)
  const isHard = reply.code >= 500 && takesNoMail(reply, cause)
  return { bounceType: isHard ? 'hard' : 'soft', code: reply.enhanced ?? String(reply.code), cause }
}

/** The stored content cannot become a mail: it never will. */
export function unpreparable(error: Error): Outcome {
  const message = `the mail could not be composed: ${error.message}`
  const cause = { class: 'content', rule: 'compose' }
  return { kind: 'bounced', bounceType: 'soft', code: '5.6.0', message, cause }
}

/** Rule of the cause of an attempt whose thread ended. */
export const WORKER_LOST_RULE = 'worker-lost'

/** Preparing the mail kept its thread longer than it may, or ended it: tried once more. */
export function poisoned(why: 'too_slow' | 'ended_thread'): Extract<Outcome, { kind: 'deferred' }> {
  const { message, rule } = POISON[why]
  return { kind: 'deferred', code: '4.6.0', message, aboutRecipient: false, cause: { class: 'content', rule } }
}

/** The same for the second time: it never will be a mail. The address is fine (contract §4 c). */
export function poisonedAgain({ message, cause }: Pick<Poison, 'message' | 'cause'>): Poison {
  return { kind: 'bounced', bounceType: 'soft', code: '5.6.0', message, cause }
}

export const isPoisoned = (rule: string | undefined) => Object.values(POISON).some((poison) => poison.rule === rule)

type Poison = Extract<Outcome, { kind: 'bounced' }>

const POISON = {
  too_slow: { rule: 'prepare-time', message: 'the message took too long to prepare' },
  ended_thread: { rule: 'prepare-crash', message: 'the message ended the thread that prepared it' },
}

/** A bug of ours: tried again, since the next version may have it no more. */
export function internalFault(error: unknown): Extract<Outcome, { kind: 'deferred' }> {
  const message = `internal error: ${error instanceof Error ? error.message : String(error)}`
  const cause = { class: 'internal', rule: 'bug' }
  return { kind: 'deferred', code: '4.3.0', message, aboutRecipient: false, cause }
}

/** RFC 4954 §4, RFC 3207 §4. */
const LOGIN_OR_TLS_NEEDED = 530
const isBeforeMail = (stage: Stage) => stage === 'greeting' || stage === 'ehlo'
const isAboutUs = (stage: Stage) => stage !== 'rcpt' && stage !== 'data' && stage !== 'content'

function outcomeOfReply(stage: Stage, reply: Reply): Outcome {
  if (stage === 'content' && reply.code < 300) return { kind: 'delivered', reply }
  const cause: Cause = classifyReply(reply)
  const code = reply.enhanced ?? String(reply.code)
  const message = formatReply(reply)
  if (reply.code < 500 || reply.code === LOGIN_OR_TLS_NEEDED) {
    const aboutRecipient = reply.code !== 421 && !isAboutUs(stage) && isAboutRecipient(reply, cause)
    return { kind: 'deferred', code, message, aboutRecipient, cause }
  }
  const isHard = !isAboutUs(stage) && takesNoMail(reply, cause)
  return { kind: 'bounced', bounceType: isHard ? 'hard' : 'soft', code, message, cause }
}

/** x.1.z and x.2.z, but for the sender's address (x.1.7, x.1.8) and for greylisting, which some servers tell as 4.2.0:
 *  that is about an unknown sender, and passes in minutes. */
function isAboutRecipient({ enhanced }: Reply, cause: Cause): boolean {
  if (cause.class === 'greylist') return false
  if (cause.class === 'mailbox_full' || cause.class === 'mailbox_disabled') return true
  return enhanced !== null && /^\d\.[12]\./.test(enhanced) && !SENDER_FAULT.test(enhanced)
}

/** Whether a 5yz says that the address or its domain does not exist, by the class that bounce-class.ts gave it:
 *
 *  5.1.z        yes, unless the words are about the sender, about the moment, or about a full mailbox. 5.1.0 names no reason
 *               and needs words of its own; 5.1.7 and 5.1.8 are about the sender.
 *  5.6.z 5.7.z  and 5.3.4: no, unless the words are those of one known server, or of a domain without mail.
 *  others       (5.2.1, 5.5.0, none …): when the words say so. */
function takesNoMail({ code, enhanced }: Reply, cause: Cause): boolean {
  const status = enhanced ?? ''
  const isSaid = cause.class === 'no_mailbox' || cause.class === 'no_domain'
  if (status.startsWith('5.1.')) return isSaid && !SENDER_FAULT.test(status)
  if (WHATEVER_THE_CODE.has(cause.rule)) return true
  if (/^5\.[67]\.|^5\.3\.4$|^5\.2\.2$/.test(status)) return false
  return code === 556 || isSaid // 556: RFC 7504
}

const WHATEVER_THE_CODE = new Set(['bigfoot-invalid-recipient', 'takes-no-mail'])
const SENDER_FAULT = /^\d\.1\.[78]$/ // RFC 3463 §3.2: bad sender's mailbox, bad sender's system

function outcomeOfFault(stage: Stage, fault: Fault, afterDot: boolean, peerName: string): Outcome {
  const message = fault.message.includes(peerName) ? fault.message : `${peerName}: ${fault.message}`
  const cause = { class: fault.class === 'timeout' ? 'network' : fault.class, rule: `${fault.class}:${stage}` }
  if (!afterDot) return { kind: 'deferred', code: fault.code, message, aboutRecipient: false, cause }
  return { kind: 'unknown', code: fault.code, message: `${message}, after the whole mail was sent`, cause }
}
