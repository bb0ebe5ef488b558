import { isAnswer, isMailSystem } from './bounce-author.ts'
import { noticeText, readBounceNotice } from './bounce-notice.ts'
import { readBounceText, reportText } from './bounce-text.ts'
import { diagnosticText, readDeliveryStatus } from './delivery-status.ts'
import { contentOf, leavesOf, type MimePart, readParts } from './mime-parts.ts'

/** What a delivery status notification says of one recipient. RFC 3464 §2.3. */
export interface DsnRecipient {
  /** Address without its type; null when not said. */
  finalRecipient: string | null
  originalRecipient: string | null
  action: 'failed' | 'delayed' | 'delivered' | 'relayed' | 'expanded'
  /** `5.1.1`; null when not said or malformed. */
  status: string | null
  /** The remote server's reply, unfolded, without its `smtp;`. */
  diagnostic: string | null
  remoteMta: string | null
}

/** What a report says, whichever program wrote it. */
export interface Dsn {
  /** Which reader understood it: `rfc3464`, or the name of the rule for a non-standard form. */
  form: string
  reportingMta: string | null
  /** At least one. */
  recipients: DsnRecipient[]
  /** The server had accepted the recipient and refused only the mail. Of several recipients nobody can tell. */
  isAfterRecipient: boolean
  /** What the report says to people about its only recipient, in lines; null with several, or without words. At most 2,000
   *  characters. */
  words: string | null
}

/** Raw mail → the delivery status notification it is; null when it is none, which is the answer in doubt: a mail that
 *  quotes a report, answers one or has one attached is none. First the machine-readable part of RFC 3464 (RFC 6533 for
 *  UTF-8 addresses), whatever the outer type says, then its fields in the text of a mail system, then the forms of the table
 *  in dsn-forms.ts. At most 1,000 recipients of the first MiB; linear, never throws. */
export function readDsn(raw: Uint8Array): Dsn | null {
  const mail = readParts(raw)
  const found = statusPart(mail) ?? statusFields(mail) ?? readBounceText(mail)
  return found && { ...found, ...surroundings(mail, found.recipients) }
}

/** What a reader of one form finds; the rest is the same for all. */
export type FormDsn = Omit<Dsn, 'isAfterRecipient' | 'words'>

/** What stands around the recipients of a report. */
export function surroundings(
  mail: MimePart,
  recipients: readonly DsnRecipient[],
): Pick<Dsn, 'isAfterRecipient' | 'words'> {
  const isOne = recipients.filter(({ finalRecipient }) => finalRecipient !== null).length <= 1
  if (!isOne) return { isAfterRecipient: false, words: null }
  const text = noticeText(mail)
  const lines = text.split('\n', MAX_LINES).map((line) => diagnosticText(line.slice(0, 1_000)) ?? '')
  return { isAfterRecipient: isAfterRecipient(text), words: lines.join('\n').trim().slice(0, LONGEST_WORDS) || null }
}

/** Postfix names the command; Sendmail, Courier and m-FILTER show it. Sendmail sends RCPT and DATA together: a line of its own
 *  about the recipient, and a 503 for DATA, show that it was RCPT that failed. */
function isAfterRecipient(text: string): boolean {
  const said = text.replace(/\s+/g, ' ')
  if (AFTER_RECIPIENT.some((words) => said.includes(words))) return true
  const lines = text.split('\n')
  const at = lines.indexOf('>>> DATA')
  if (at < 0 || !/^<<< [45]\d\d/.test(lines[at + 1] ?? '')) return false
  return !lines.some((line) => NEEDS_RECIPIENT.test(line.slice(0, 100)) || /^5\d\d 5\.1\.\d </.test(line))
}

const MAX_LINES = 200
const LONGEST_WORDS = 2_000
const AFTER_RECIPIENT = ['(in reply to end of DATA', '(in reply to DATA', 'SMTP command DATA', 'your message (DATA)']
const NEEDS_RECIPIENT = /^<<< 5\d\d.*(?:RCPT|recipient|sequence)/i

function statusPart(mail: MimePart): FormDsn | null {
  for (const leaf of leavesOf(mail)) {
    if (!STATUS_TYPES.has(leaf.type)) continue
    // A missing empty line makes the first fields part of the part's own header.
    const own = leaf.fields.filter((field) => !field.key.startsWith('content-'))
    const { reportingMta, recipients } = readDeliveryStatus(own, contentOf(leaf))
    if (recipients.length > 0) return { form: 'rfc3464', reportingMta, recipients: withReplies(recipients, mail) }
  }
  return null
}

/** The fields of RFC 3464 in the text of the report, where its author or somebody on the way lost the parts. */
function statusFields(mail: MimePart): FormDsn | null {
  if (!isMailSystem(mail) || isAnswer(mail)) return null
  const text = noticeText(mail)
  const begin = FIELDS.exec(text)?.index
  if (begin === undefined || !/^Final-Recipient:/im.test(text)) return null
  const { reportingMta, recipients } = readDeliveryStatus([], Buffer.from(text.slice(begin)))
  return recipients.length === 0 ? null : { form: 'rfc3464-text', reportingMta, recipients }
}

const FIELDS = /^(?:Reporting-MTA|Final-Recipient|Original-Recipient|Original-envelope-id|Action):/im
const STATUS_TYPES: ReadonlySet<string> = new Set(['message/delivery-status', 'message/global-delivery-status'])

/** A recipient without a diagnostic gets the reply that the text for people has: Exchange Online and OpenSMTPD keep it there. */
function withReplies(recipients: DsnRecipient[], mail: MimePart): DsnRecipient[] {
  if (recipients.every(({ diagnostic }) => diagnostic !== null)) return recipients
  const remote = /Remote Server returned '([^']*)'/i.exec(reportText(mail))?.[1] ?? ''
  const said = readBounceNotice(mail, true)?.recipients ?? []
  return recipients.map((each) => {
    if (each.diagnostic !== null) return each
    if (recipients.length === 1 && remote !== '') return { ...each, diagnostic: diagnosticText(remote) }
    const address = (each.finalRecipient ?? each.originalRecipient ?? '').toLowerCase()
    const own = said.find(
      ({ finalRecipient, diagnostic }) => finalRecipient === address && REPLIED.test(diagnostic ?? ''),
    )
    return own === undefined
      ? each
      : { ...each, diagnostic: own.diagnostic, status: moreExact(each.status, own.status) }
  })
}

const REPLIED = /^[45]\d\d\b/

/** `5.0.0` gives way to what the reply says. */
function moreExact(status: string | null, said: string | null): string | null {
  return said !== null && (status === null || (status.endsWith('.0.0') && status[0] === said[0])) ? said : status
}
