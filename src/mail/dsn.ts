import { isAnswer, isMailSystem } from './bounce-author.ts'
import { noticeText, readBounceNotice } from './bounce-notice.ts'
import { readBounceText, reportText } from './bounce-text.ts'
import { cutText } from './cut-text.ts'
import { diagnosticText, readDeliveryStatus } from './delivery-status.ts'
import type { Dsn, DsnRecipient, FormDsn } from './dsn-content.ts'
import { contentOf, leavesOf, type MimePart, readParts } from './mime-parts.ts'

export type { Dsn, DsnRecipient, FormDsn } from './dsn-content.ts'

/** Raw mail → its delivery status notification; null if it is none or in doubt: mail that quotes, answers or attaches a
 *  report is none. First the machine-readable part of RFC 3464 (RFC 6533 for UTF-8 addresses), whatever the outer type,
 *  then its fields in the text of a mail system, then the forms in dsn-forms.ts. At most 1,000 recipients of the first
 *  MiB; linear, never throws. */
export function readDsn(raw: Uint8Array): Dsn | null {
  const mail = readParts(raw)
  const found = statusPart(mail) ?? statusFields(mail) ?? readBounceText(mail)
  return found && { ...found, ...reportContext(mail, found.recipients) }
}

/** Text around the recipients of a report. */
export function reportContext(
  mail: MimePart,
  recipients: readonly DsnRecipient[],
): Pick<Dsn, 'isAfterRecipient' | 'words'> {
  const isOne = recipients.filter(({ finalRecipient }) => finalRecipient !== null).length <= 1
  if (!isOne) return { isAfterRecipient: false, words: null }
  const text = noticeText(mail)
  const lines = text.split('\n', MAX_LINES).map((line) => diagnosticText(cutText(line, 1_000)) ?? '')
  return { isAfterRecipient: isAfterRecipient(text), words: cutText(lines.join('\n').trim(), LONGEST_WORDS) || null }
}

/** Postfix names the command; Sendmail, Courier and m-FILTER show it. Sendmail sends RCPT and DATA together: a separate
 *  line about the recipient and a 503 for DATA show that RCPT failed. */
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
    // Without the empty line, the first fields belong to the part's own header.
    const own = leaf.fields.filter((field) => !field.key.startsWith('content-'))
    const { reportingMta, recipients } = readDeliveryStatus(own, contentOf(leaf))
    if (recipients.length > 0) return { form: 'rfc3464', reportingMta, recipients: withReplies(recipients, mail) }
  }
  return null
}

/** RFC 3464 fields in the report's text, where the sender or a relay dropped the MIME parts. */
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

/** A recipient without diagnostic gets the reply from the human-readable text: Exchange Online and OpenSMTPD put it
 *  there. */
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

/** `5.0.0` is replaced by the status in the reply. */
function moreExact(status: string | null, said: string | null): string | null {
  return said !== null && (status === null || (status.endsWith('.0.0') && status[0] === said[0])) ? said : status
}
