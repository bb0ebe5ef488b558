import { classifyReply, isGone } from '../../mail/bounce-class.ts'
import { formatReply, type Reply } from '../../mail/reply.ts'
import type { BounceType, Cause, Outcome } from '../../model/delivery.ts'
import { ADDRESS_CLASSES, type AddressClass, chosenType, USUAL_HARD } from '../../model/hard-bounces.ts'
import type { Answer, Fault, Stage } from './smtp/reply.ts'

/** The server's answer → what happened to the delivery. `peerName` goes into messages. Never throws.
 *
 *  delivered: 2yz to the final dot, nothing else.
 *  deferred: 4yz anywhere (421 included), 530 (the operator can fix it), and network, timeout, TLS, login and protocol
 *  faults. It concerns the recipient when the code is x.1.z or x.2.z, or the text names this mailbox.
 *  bounced, hard: 5yz to RCPT, DATA or the mail which says that the address or its domain does not exist or accepts no
 *  mail.
 *  bounced, soft: every other 5yz. Only a hard bounce suppresses, so doubtful cases are soft. This includes full
 *  mailboxes (5.2.2), disabled ones (5.2.1: large providers use it for accounts that return), and replies before RCPT,
 *  which concern the sender. The operator's choice of hard classes (model/hard-bounces.ts) comes later, in verdictOf.
 *  unknown: the connection was lost after the final dot.
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

/** Whether another host of the domain may succeed: true for faults and temporary replies that do not concern the
 *  recipient, for a host that refuses us before mail, and for one without SMTPUTF8. Not for a connection lost after the
 *  final dot: another host could deliver the mail a second time. */
export function isHostTrouble(answer: Answer, outcome: Outcome): boolean {
  if (outcome.kind === 'deferred') return !outcome.aboutRecipient
  if (answer.kind === 'unfit') return answer.code === NO_SMTPUTF8
  return outcome.kind === 'bounced' && answer.kind === 'reply' && isBeforeMail(answer.stage)
}

/** Whether the server takes the mail only in its 7-bit form. */
export const needsSevenBit = (answer: Answer) => answer.kind === 'unfit' && answer.code === NO_8BITMIME

const NO_SMTPUTF8 = '5.6.7' // RFC 6531 §3.5
const NO_8BITMIME = '5.6.3' // RFC 6152 §3

/** A remote server's reply to a later relay, from a report → the bounce, classified as if the reply had come to our
 *  RCPT. `hard`: the classes that the operator chose. Never throws. */
export function lateBounce(
  reply: Reply,
  hard: readonly AddressClass[] = USUAL_HARD,
): { bounceType: BounceType; code: string; cause: Cause } {
  const refusal = judged(reply, 'rcpt')
  const bounceType = isRetried(reply) ? 'soft' : chosenType(refusal, hard)
  return { bounceType, code: reply.enhanced ?? String(reply.code), cause: refusal.cause }
}

/** The stored content can never become a mail. */
export function unpreparable(error: Error): Outcome {
  const message = `the message could not be composed: ${error.message}`
  const cause = { class: 'content', rule: 'compose' }
  return { kind: 'bounced', bounceType: 'soft', code: '5.6.0', message, cause }
}

/** Cause rule for an attempt whose thread ended. */
export const WORKER_LOST_RULE = 'worker-lost'

/** Preparing the mail exceeded its thread's time or ended the thread: tried once more. */
export function poisoned(why: 'too_slow' | 'ended_thread'): Extract<Outcome, { kind: 'deferred' }> {
  const { message, rule } = POISON[why]
  return { kind: 'deferred', code: '4.6.0', message, aboutRecipient: false, cause: { class: 'content', rule } }
}

/** The second such failure is final. The address itself is fine, so the bounce is soft. */
export function poisonedAgain({ message, cause }: Pick<Poison, 'message' | 'cause'>): Poison {
  return { kind: 'bounced', bounceType: 'soft', code: '5.6.0', message, cause }
}

export const isPoisoned = (rule: string | undefined) => Object.values(POISON).some((poison) => poison.rule === rule)

type Poison = Extract<Outcome, { kind: 'bounced' }>

const POISON = {
  too_slow: { rule: 'prepare-time', message: 'the message took too long to prepare' },
  ended_thread: { rule: 'prepare-crash', message: 'the message crashed the thread that prepared it' },
}

/** A bug in Postrider: retried, since a later version may fix it. */
export function internalFault(error: unknown): Extract<Outcome, { kind: 'deferred' }> {
  const message = `internal error: ${error instanceof Error ? error.message : String(error)}`
  const cause = { class: 'internal', rule: 'bug' }
  return { kind: 'deferred', code: '4.3.0', message, aboutRecipient: false, cause }
}

/** RFC 4954 §4, RFC 3207 §4 */
const LOGIN_OR_TLS_NEEDED = 530
const isBeforeMail = (stage: Stage) => stage === 'greeting' || stage === 'ehlo'
const isAboutUs = (stage: Stage) => stage !== 'rcpt' && stage !== 'data' && stage !== 'content'

function outcomeOfReply(stage: Stage, reply: Reply): Outcome {
  if (stage === 'content' && reply.code < 300) return { kind: 'delivered', reply }
  const { cause, bounceType } = judged(reply, stage)
  const code = reply.enhanced ?? String(reply.code)
  const message = formatReply(reply)
  if (isRetried(reply)) {
    const aboutRecipient = reply.code !== 421 && !isAboutUs(stage) && isAboutRecipient(reply, cause)
    return { kind: 'deferred', code, message, aboutRecipient, cause }
  }
  return { kind: 'bounced', bounceType, code, message, cause }
}

const isRetried = ({ code }: Reply) => code < 500 || code === LOGIN_OR_TLS_NEEDED

/** Hard if the class says that the recipient's address or domain does not exist or accepts no mail. Where words about
 *  the address do not count, another rule says why: the server may take it later, or it refused before it had the
 *  address. */
function judged(reply: Reply, stage: Stage): { cause: Cause; bounceType: BounceType } {
  const cause: Cause = classifyReply(reply)
  if (isRetried(reply)) {
    return { cause: isGone(cause) ? { class: 'system', rule: 'unknown-for-now' } : cause, bounceType: 'soft' }
  }
  if (isAboutUs(stage) && ADDRESS_CLASSES.some((each) => each === cause.class)) {
    return { cause: { class: 'policy', rule: `${stage}-refused` }, bounceType: 'soft' }
  }
  return { cause, bounceType: isGone(cause) ? 'hard' : 'soft' }
}

/** x.1.z and x.2.z, except for the sender's address (x.1.7, x.1.8) and greylisting, which some servers report as 4.2.0:
 *  it concerns an unknown sender and passes in minutes. */
function isAboutRecipient({ enhanced }: Reply, cause: Cause): boolean {
  if (cause.class === 'greylist') return false
  if (cause.class === 'mailbox_full' || cause.class === 'mailbox_disabled') return true
  return enhanced !== null && /^\d\.[12]\./.test(enhanced) && !SENDER_FAULT.test(enhanced)
}

const SENDER_FAULT = /^\d\.1\.[78]$/ // RFC 3463 §3.2: sender's mailbox or system is bad

function outcomeOfFault(stage: Stage, fault: Fault, afterDot: boolean, peerName: string): Outcome {
  const message = fault.message.includes(peerName) ? fault.message : `${peerName}: ${fault.message}`
  const cause = { class: fault.class === 'timeout' ? 'network' : fault.class, rule: `${fault.class}:${stage}` }
  if (!afterDot) return { kind: 'deferred', code: fault.code, message, aboutRecipient: false, cause }
  return { kind: 'unknown', code: fault.code, message: `${message}, after the whole message was sent`, cause }
}
