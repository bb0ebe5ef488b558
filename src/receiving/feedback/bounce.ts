import { asciiDomain } from '../../mail/address.ts'
import { isGone } from '../../mail/bounce-class.ts'
import { SUBJECT_ONLY, UNPROVED } from '../../mail/bounce-notice.ts'
import type { Dsn, DsnRecipient } from '../../mail/dsn.ts'
import { parseReplyLine, type Reply } from '../../mail/reply.ts'
import type { BounceType, Cause, Delivery } from '../../model/delivery.ts'
import { iso } from '../../model/event.ts'
import { isFinal } from '../../model/message.ts'
import { type Judgement, MAX_DIAGNOSTIC, onlyKept } from './judgement.ts'

/** A later server's reply → its bounce class, as for every reply (sending/outbound/outcome.ts). */
export type JudgeReply = (reply: Reply) => { bounceType: BounceType; code: string; cause: Cause }

/** A DSN sent to the return path of `delivery` → what it means. Never throws.
 *
 *  failed: the delivery has bounced, hard or soft by status and reply, even if it counted as delivered; any other final
 *  status stays. A hard bounce suppresses.
 *  delayed: reported as a deferral; the remote server keeps trying, so nothing else changes.
 *  other actions: stored without an event, because delivered, relayed or expanded is what we assumed.
 *
 *  A failure of another address is never hard: ours exists and forwards. RFC 3464 §2.3 */
export function judgeDsn(dsn: Dsn, delivery: Delivery, at: number, judge: JudgeReply): Judgement {
  const recipient = recipientOf(dsn, delivery.email)
  const { action, status } = recipient
  const diagnostic = (recipient.diagnostic ?? `${action} ${status ?? ''}`)
    .trim()
    .slice(0, MAX_DIAGNOSTIC)
    .toWellFormed()
  const reporter = dsn.reportingMta ?? recipient.remoteMta
  const kept = onlyKept({ kind: action, reporter, status, diagnostic })

  if (action === 'delayed') {
    const attempt = { attempt: delivery.attempts, next_attempt_at: null }
    const fields = { deferred_at: iso(at), ...attempt, smtp_response: diagnostic }
    return delivery.status === 'bounced' ? kept : { ...kept, event: { type: 'message.deferred', fields } }
  }
  if (action !== 'failed') return kept

  const reply = replyOf(recipient, diagnostic)
  const { bounceType, code, cause } = weighed(reply, dsn, isOfOurs(recipient, delivery.email), judge)
  const suppress = bounceType === 'hard' ? 'hard_bounce' : null
  const failed: Judgement = { ...kept, report: { ...kept.report, cause }, suppress }
  if (isFinal(delivery.status) && delivery.status !== 'delivered') return failed
  return {
    ...failed,
    change: { status: 'bounced', smtpResponse: diagnostic, bounceType, bounceCode: code },
    event: {
      type: 'message.bounced',
      fields: {
        bounce_type: bounceType,
        bounce_code: code,
        bounce_message: diagnostic,
        bounced_at: iso(at),
        will_retry: false,
      },
    },
  }
}

/** The reply's class, weighed against the rest of the report. Rules:
 *
 *  unknown-after-data: soft. The server accepted the recipient and called it unknown only at DATA, as filters do.
 *  subject-only, unproved: soft. Only the subject reports a failure; no mail system with the null return path wrote it.
 *  other-address: soft. The failed address is not our recipient, which forwards to it.
 *  words-mailbox-full, words-mailbox-disabled: soft. The text outweighs a 5.1.1 beside it.
 *  words-…: a code without a reason (none, 5.0.0, 5.4.4) takes the reason of a line `Reason: …`. */
function weighed(reply: Reply, dsn: Dsn, isOfOurs: boolean, judge: JudgeReply): ReturnType<JudgeReply> {
  const { isAfterRecipient, words, form } = dsn
  const judged = judge(reply)
  const soft = (cause: Cause) => ({ ...judged, bounceType: 'soft' as const, cause })
  if (isAfterRecipient && isGone(judged.cause) && !AFTER_DATA.has(judged.cause.rule)) {
    return soft({ class: 'policy', rule: 'unknown-after-data' })
  }
  if (form === SUBJECT_ONLY) {
    return soft({ class: isGone(judged.cause) ? 'unknown' : judged.cause.class, rule: 'subject-only' })
  }
  if (form === UNPROVED && (isGone(judged.cause) || judged.bounceType === 'hard')) {
    return soft({ class: 'unknown', rule: 'unproved' })
  }
  if (!isOfOurs && judged.bounceType === 'hard') return soft({ class: 'unknown', rule: 'other-address' })
  if (words === null || form === 'notice') return judged
  const certain = words.split('\n').filter((line) => !DOUBT.test(line))
  if (isGone(judged.cause)) {
    const known = MAILBOX_EXISTS.find(({ text }) => certain.some((line) => text.test(line)))
    if (known !== undefined) return soft({ class: known.class, rule: known.rule })
  }
  if (!isOfOurs || !WITHOUT_REASON.has(judged.cause.rule) || reply.code < 500) return judged
  const said = certain
    .filter((line) => REASON.test(line))
    .slice(0, MAX_REASONS)
    .map((line) => judge({ code: reply.code, enhanced: null, text: line.replace(REASON, '') }))
    .find(({ cause }) => SAID.has(cause.class))
  if (said === undefined) return judged
  return { bounceType: said.bounceType, code: judged.code, cause: { ...said.cause, rule: `words-${said.cause.rule}` } }
}

/** These providers do so for addresses that do not exist. */
const AFTER_DATA: ReadonlySet<string> = new Set(['yahoo-no-account', 'mailru-no-user'])
/** A line that gives several possible reasons or advice. */
const DOUBT = /\b(?:may|might|possibl[ey]|perhaps|probably|if|or|either|could be|check)\b/i
/** A report has one or two reasons. Each is compared with all rules on the main thread. */
const MAX_REASONS = 5
/** A separate line with the reason. */
const REASON = /^\s*(?:reason|error|diagnostic(?: code)?|cause|problem|grund|raison|motivo)\s*:\s*/i
const WITHOUT_REASON = new Set(['none', 'enhanced-4.4', 'enhanced-5.0'])
const SAID = new Set(['no_mailbox', 'no_domain', 'mailbox_full'])
/** Phrases that no system uses for a nonexistent mailbox, anywhere in a report: narrower than those of replies. */
const MAILBOX_EXISTS = [
  {
    class: 'mailbox_full',
    rule: 'words-mailbox-full',
    text: /not enough disk space|\bmailbox (?:is )?full\b|\bover ?quota\b|\bquota exceeded\b/i,
  },
  {
    class: 'mailbox_disabled',
    rule: 'words-mailbox-disabled',
    text: /\b(?:account|mailbox) (?:is|has been) (?:disabled|suspended)\b/i,
  },
]

/** The entry about our recipient. If none names it, a list was expanded, which failed only if all its recipients
 *  failed. */
function recipientOf(dsn: Dsn, email: string): DsnRecipient {
  // Only the first internationalized names are compared: each takes about 0.2 ms.
  let internationalized = 0
  const recipients = dsn.recipients.filter(
    ({ originalRecipient, finalRecipient }) =>
      ASCII.test(`${originalRecipient}${finalRecipient}`) || ++internationalized <= MAX_INTERNATIONALIZED,
  )
  const ours = recipients.find((each) => names(each.originalRecipient, email) || names(each.finalRecipient, email))
  return ours ?? dsn.recipients.find(({ action }) => action !== 'failed') ?? dsn.recipients[0]!
}

/** Whether the entry is about our recipient itself. Another address in the same domain does not count: a list of
 *  colleagues would be suppressed with the first who leaves. */
function isOfOurs({ finalRecipient, originalRecipient }: DsnRecipient, email: string): boolean {
  const end = finalRecipient ?? originalRecipient
  return end === null || names(end, email)
}

/** Whether both name the same mailbox, as far as visible from outside: host names inside the domain and `+detail` are
 *  ignored. */
function names(address: string | null, email: string): boolean {
  if (address === null || localOf(address) !== localOf(email)) return false
  return `.${domainOf(address)}`.endsWith(`.${domainOf(email)}`)
}

const ASCII = /^[\x00-\x7f]*$/
const MAX_INTERNATIONALIZED = 10

/** In lower case, without `+detail`. */
const localOf = (address: string) => {
  const local = address.slice(0, Math.max(0, address.lastIndexOf('@'))).toLowerCase()
  const detailAt = local.indexOf('+', 1)
  return detailAt < 0 ? local : local.slice(0, detailAt)
}
const domainOf = (address: string) => {
  const domain = address.slice(address.lastIndexOf('@') + 1).toLowerCase()
  return ASCII.test(domain) ? domain : asciiDomain(domain) || domain
}

/** The remote server's reply if the report contains it; else the status with the report's text. */
function replyOf({ status, action }: DsnRecipient, diagnostic: string): Reply {
  const said = parseReplyLine(diagnostic.replace(/^(\d{3}) ?-/, '$1 ').split('\n', 1)[0]!)
  const isSaid = said !== null && said.code >= 400
  const code = isSaid ? said.code : status?.startsWith('4') ? 450 : action === 'failed' ? 550 : 450
  const known = [isSaid ? said.enhanced : null, status].find((each) => each !== null && !isVague(each))
  const enhanced = known ?? (isSaid ? null : (status ?? (action === 'failed' ? '5.0.0' : null)))
  return { code, enhanced, text: isSaid ? said.text : diagnostic }
}

/** Reporters write `5.0.0` when they have no reason; a reply or status beside it is more exact. */
const isVague = (status: string) => /^[45]\.0\.0$/.test(status)
