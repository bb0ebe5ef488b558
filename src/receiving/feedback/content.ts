import { readFeedbackReport } from '../../mail/arf.ts'
import { hasVacationSubject, isAutoReply } from '../../mail/auto-reply.ts'
import {
  hasNullReturnPath,
  hasSystemAuthor,
  isAnswer,
  isDispositionNotification,
  subjectOf,
} from '../../mail/bounce-author.ts'
import { noticeText, readBounceNotice, SUBJECT_ONLY, UNPROVED } from '../../mail/bounce-notice.ts'
import { cutText } from '../../mail/cut-text.ts'
import { diagnosticText } from '../../mail/delivery-status.ts'
import { type Dsn, type FormDsn, readDsn, reportContext } from '../../mail/dsn.ts'
import { saysAway, saysFailed } from '../../mail/failure-words.ts'
import { isFilterRefusal } from '../../mail/filter-refusal.ts'
import { UNSUBSCRIBE_SUBJECT } from '../../mail/list-unsubscribe.ts'
import { contentOf, leavesOf, type MimePart, readParts } from '../../mail/mime-parts.ts'
import { readSesNotification } from '../../mail/ses-notification.ts'
import { MAX_DIAGNOSTIC } from './judgement.ts'

/** What a mail to one of our keyed addresses is, whatever it claims to be. */
export type ReportContent =
  | { kind: 'complaint'; complaint: Complaint }
  | { kind: 'dsn'; dsn: Dsn }
  | { kind: 'auto_reply' }
  /** Written by a mail system, without saying that the mail failed or arrived. */
  | { kind: 'notice'; unclassified: Unclassified }
  /** Written by a person, or by a program that unsubscribes. */
  | { kind: 'other'; unclassified: Unclassified }
  /** Reading it exceeded its time twice. */
  | { kind: 'unreadable' }

/** The stored part of a mail that no reader recognized. */
export interface Unclassified {
  /** Subject and start of its text; '' without any. */
  excerpt: string
  /** As in Complaint, from the whole mail. */
  tagged: string[]
}

/** The relevant part of a feedback loop report. */
export interface Complaint {
  /** RFC 5965 §3.1, lower case. */
  feedbackType: string
  userAgent: string | null
  /** Local parts that look like our keyed ones, each with its `@`: first from the return path, then from the header of
   *  the reported mail. At most 50. */
  tagged: string[]
}

/** Raw mail and its return path (empty for null) → its kind, most certain first. Programs that unsubscribe mark their
 *  mail as automatic (Apple's: `Auto-Submitted: auto-replied`), so the subject of our mailto link takes precedence over
 *  that mark. Never throws. */
export function readReport(received: Uint8Array, returnPath: string): ReportContent {
  const raw = withLineFeeds(received)
  const complaint = readFeedbackReport(raw)
  if (complaint !== null) {
    const { feedbackType, userAgent, originalMailFrom, originalHeaders } = complaint
    const places = [
      originalMailFrom ?? '',
      ...originalHeaders.filter(([name]) => TAGGED.has(name)).map(([, value]) => value),
    ]
    const tagged = places.flatMap((text) => text.match(KEYED) ?? []).slice(0, MAX_TAGGED)
    return {
      kind: 'complaint',
      complaint: { feedbackType: cut(feedbackType), userAgent: cutOrNull(userAgent), tagged },
    }
  }
  const dsn = readDsn(raw)
  if (dsn !== null) return { kind: 'dsn', dsn: shortened(dsn) }
  const mail = readParts(raw)
  const subject = subjectOf(mail)
  const notification = readSesNotification(mail)
  if (notification?.kind === 'bounce')
    return { kind: 'dsn', dsn: shortened({ ...notification.dsn, isAfterRecipient: false, words: null }) }
  if (notification?.kind === 'complaint') {
    const { feedbackType, userAgent } = notification
    return {
      kind: 'complaint',
      complaint: { feedbackType: cut(feedbackType), userAgent: cutOrNull(userAgent), tagged: taggedIn(mail) },
    }
  }
  if (subject.trim().toLowerCase() === UNSUBSCRIBE_SUBJECT) return { kind: 'other', unclassified: unclassified(mail) }
  const isAutomatic = isAutoReply(mail.fields) || hasVacationSubject(mail.fields)
  const isSystem = hasSystemAuthor(mail)
  const isNull = returnPath === '' || hasNullReturnPath(mail)
  const refusal = isFilterRefusal(mail) ? readBounceNotice(mail, isSystem, true) : null
  if (refusal !== null) return { kind: 'dsn', dsn: shortened(proved(refusal, false, mail)) }
  if (isDispositionNotification(mail) || notification !== null) return { kind: 'auto_reply' }
  // Some mail systems and filters mark their notices like vacation notes; the subject of these reports a failure.
  const isNote = isPersonal(mail) || hasVacationSubject(mail.fields) || (isAutomatic && !saysFailed(subject))
  const isNoticePossible = isSystem ? isNull || !isAnswer(mail) : isNull && !isNote
  if (isNoticePossible) {
    const notice = readBounceNotice(mail, isSystem)
    if (notice !== null) return { kind: 'dsn', dsn: shortened(proved(notice, isSystem && isNull, mail)) }
    const nested = isSystem ? nestedDsn(mail) : null
    if (nested !== null) return { kind: 'dsn', dsn: shortened(nested) }
    if (!isAutomatic) return { kind: 'notice', unclassified: unclassified(mail) }
  }
  return isAutomatic || isNull ? { kind: 'auto_reply' } : { kind: 'other', unclassified: unclassified(mail) }
}

/** A reply or a vacation note. */
function isPersonal(mail: MimePart): boolean {
  return isAnswer(mail) || saysAway(`${subjectOf(mail)}\n${noticeText(mail)}`)
}

/** Only a notice from a mail system with the null return path may suppress, and a filter's refusal never. */
function proved(notice: FormDsn, isProved: boolean, mail: MimePart): Dsn {
  const form = isProved || notice.form === SUBJECT_ONLY ? notice.form : UNPROVED
  return { ...notice, form, ...reportContext(mail, notice.recipients) }
}

/** Mail with bare CR line ends → the part that is read, with LF instead; other mail unchanged. */
function withLineFeeds(raw: Uint8Array): Uint8Array {
  const head = raw.subarray(0, MAX_BYTES)
  if (head.includes(LF) || !head.includes(CR)) return raw
  return head.map((byte) => (byte === CR ? LF : byte))
}

/** A report that a mail system forwards inside its own report. */
function nestedDsn(mail: MimePart): Dsn | null {
  const inner = leavesOf(mail).find(({ type }) => type === 'message/rfc822')
  return inner === undefined ? null : readDsn(contentOf(inner))
}

/** Same limit as readParts. */
const MAX_BYTES = 1_048_576
const [LF, CR] = [10, 13]

function unclassified(mail: MimePart): Unclassified {
  const text = diagnosticText(noticeText(mail)) ?? ''
  return {
    excerpt: cutText(`${diagnosticText(subjectOf(mail)) ?? ''}: ${text}`, MAX_DIAGNOSTIC),
    tagged: taggedIn(mail),
  }
}

/** Searches texts and attached mails in their transfer encoding: tags are ASCII and short enough to survive most
 *  encodings. */
function taggedIn(mail: MimePart): string[] {
  const tagged = new Set<string>()
  for (const leaf of leavesOf(mail)) {
    if (tagged.size >= MAX_TAGGED) break
    for (const [found] of Buffer.from(contentOf(leaf)).toString('latin1').matchAll(KEYED)) {
      tagged.add(found)
      if (tagged.size >= MAX_TAGGED) break
    }
  }
  return [...tagged]
}

/** Much longer than what is stored (judgement.ts). */
const MAX_CHARACTERS = 2_500
/** Over all recipients; further ones are dropped. */
const MAX_RECIPIENT_CHARACTERS = 500_000
const MAX_TAGGED = 50
const TAGGED = new Set(['return-path', 'x-return-path', 'list-unsubscribe', 'x-original-return-path'])
const KEYED = /\b[bu]-[0-9a-z]{26}-[0-9a-z]{12}@/gi

const cut = (text: string) => cutText(text, MAX_CHARACTERS)
const cutOrNull = (text: string | null) => (text === null ? null : cut(text))

function shortened({ form, reportingMta, recipients, isAfterRecipient, words }: Dsn): Dsn {
  let characters = 0
  const short = recipients.map(({ action, ...said }) => ({
    action,
    finalRecipient: cutOrNull(said.finalRecipient),
    originalRecipient: cutOrNull(said.originalRecipient),
    status: cutOrNull(said.status),
    diagnostic: cutOrNull(said.diagnostic),
    remoteMta: cutOrNull(said.remoteMta),
  }))
  const kept = short.filter(({ action: _, ...said }) => {
    for (const text of Object.values(said)) characters += text?.length ?? 0
    return characters <= MAX_RECIPIENT_CHARACTERS
  })
  return { form, reportingMta: cutOrNull(reportingMta), recipients: kept, isAfterRecipient, words: cutOrNull(words) }
}
