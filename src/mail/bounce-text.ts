import { failedAddresses, isMailSystem, subjectOf } from './bounce-author.ts'
import { cutText } from './cut-text.ts'
import { diagnosticText, hostOf, statusIn } from './delivery-status.ts'
import type { DsnRecipient, FormDsn } from './dsn-content.ts'
import { END, FORMS, type Form } from './dsn-forms.ts'
import { firstAddress } from './header-fields.ts'
import { textFromHtml } from './html-text.ts'
import { beginningOf, leavesOf, type MimePart } from './mime-parts.ts'

/** Parts of a bounce without a machine-readable part → the notification by the first matching form; null if none.
 *  Requires both: a mail system as author, and text in that form. `failed` unless the text says that the server will
 *  retry. Never throws. */
export function readBounceText(mail: MimePart): FormDsn | null {
  if (!isMailSystem(mail)) return null
  const text = reportText(mail)
  const subject = subjectOf(mail)
  for (const form of FORMS) {
    const opening = form.opening.exec(text)
    if (opening === null || form.subject?.test(subject) === false) continue
    const start = form.from?.exec(text) ?? opening
    const listed = until(form.until, text.slice(start.index + start[0].length))
    const isDelayed = form.delayed?.test(`${subject}\n${text.slice(0, start.index)}\n${start[0]}${listed}`) ?? false
    const action = isDelayed ? 'delayed' : 'failed'
    const inText = recipientsIn(listed, form, action)
    const recipients = inText.length > 0 ? inText : failedRecipients(mail, listed, form, action)
    if (recipients.length === 0) continue
    if (form.aside) addAsides(recipients, text.matchAll(form.aside))
    return { form: form.name, reportingMta: hostOf(form.host?.exec(text)?.[1] ?? ''), recipients }
  }
  return null
}

/** The displayed text, as far as reports go: 64 KiB of the first text, or of the HTML; '' without any. */
export function reportText(mail: MimePart): string {
  const leaves = leavesOf(mail)
  const plain = leaves.find((leaf) => leaf.type === 'text/plain')
  if (plain) return withLineEnds(beginningOf(plain, LONGEST_TEXT))
  const html = leaves.find((leaf) => leaf.type === 'text/html')
  return html ? withLineEnds(textFromHtml(beginningOf(html, LONGEST_TEXT))) : ''
}

/** Patterns also treat a bare CR and Unicode separators as line ends; with LF only, lines are what they seem. */
function withLineEnds(text: string): string {
  return text.replace(/\r\n?|[\u2028\u2029]/g, '\n')
}

const LONGEST_TEXT = 65_536
const MAX_RECIPIENTS = 1_000

function until(end: RegExp | undefined, text: string): string {
  const shown = text.slice(0, END.exec(text)?.index)
  return shown.slice(0, end?.exec(shown)?.index)
}

/** Recipient lines, each with the text up to the next. */
function recipientsIn(listed: string, form: Form, action: DsnRecipient['action']): DsnRecipient[] {
  const found = new Map<string, string[]>()
  let words: string[] = [] // text before the first recipient belongs to none
  for (const line of listed.split('\n')) {
    const match = line.length > LONGEST_LINE ? null : form.recipient.exec(line)
    const address = match === null ? null : firstAddress(match[1] ?? match[3] ?? '')
    if (address === null || (found.size >= MAX_RECIPIENTS && !found.has(address))) {
      words.push(line.trim())
      continue
    }
    // Exchange names each recipient twice: for people, then for administrators.
    words = found.get(address) ?? []
    found.set(address, words)
    const said = match?.[2]?.replace(/^[ \t]+/, '')
    if (said) words.push(said)
  }
  return Array.from(found, ([address, own]) => recipientRecord(address, own.join('\n'), form, action))
}

const LONGEST_LINE = 1_000

function failedRecipients(mail: MimePart, listed: string, form: Form, action: DsnRecipient['action']): DsnRecipient[] {
  const addresses = failedAddresses(mail).slice(0, MAX_RECIPIENTS)
  // With several recipients, the reply cannot be assigned.
  const words = addresses.length === 1 ? listed : ''
  return addresses.map((address) => recipientRecord(address, words, form, action))
}

function recipientRecord(address: string, words: string, form: Form, action: DsnRecipient['action']): DsnRecipient {
  const own = cutText(words, 8_000).trim()
  const reply = replyIn(own, form) ?? REPLY_LINES.exec(own)?.[0] ?? own
  const diagnostic = diagnosticText(reply.split(/\n\s*\n/, 1)[0] ?? '')
  const status = statusIn(diagnostic ?? '')
  return {
    finalRecipient: address,
    originalRecipient: null,
    action,
    status,
    diagnostic,
    remoteMta: null,
  }
}

function replyIn(words: string, { reply, replyEnd }: Form): string | undefined {
  const said = reply?.exec(words)?.[1]
  if (said === undefined || replyEnd === undefined) return said
  const end = replyEnd.exec(said)
  return end === null ? undefined : said.slice(0, end.index)
}

const REPLY_LINES = /^[245]\d\d[ :-].*(?:\n.+)*/m

function addAsides(recipients: DsnRecipient[], asides: Iterable<RegExpExecArray>): void {
  const silent = new Map(
    recipients.filter((each) => each.diagnostic === null).map((each) => [each.finalRecipient, each]),
  )
  for (const aside of asides) {
    const recipient = silent.get(firstAddress(aside[1] ?? ''))
    if (recipient === undefined || recipient.diagnostic !== null) continue
    recipient.diagnostic = diagnosticText(aside[0])
    recipient.status = statusIn(aside[0])
  }
}
