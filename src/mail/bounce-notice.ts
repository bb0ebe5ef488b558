import { subjectOf } from './bounce-author.ts'
import { classifyReply, isGone } from './bounce-class.ts'
import { diagnosticText, statusIn } from './delivery-status.ts'
import type { DsnRecipient, FormDsn } from './dsn-content.ts'
import { END } from './dsn-forms.ts'
import { saysDelayed, saysDelivered, saysFailed } from './failure-words.ts'
import { textFromHtml } from './html-text.ts'
import { beginningOf, leavesOf, type MimePart } from './mime-parts.ts'

/** Parts of a mail in no form of dsn-forms.ts → the failure that its text reports; null if none. The caller identifies
 *  the delivery by the return path, so this only requires failure words (failure-words.ts), a reply of class 4 or 5 if a
 *  mail system wrote it (`isSystem`), or the refusal of a filter (filter-refusal.ts).
 *
 *  A line with a reason belongs to the first address in the line, else to the closest address before it, else to an
 *  address in the three lines after it. A reason without an address applies to all other addresses and to the entry
 *  without an address, which stands for a recipient that the text does not name and follows the addresses with their
 *  own reasons. Reads 64 KiB of text up to the copy of the mail, without quoted lines, at most 1,000 lines and 100
 *  addresses; linear, never throws. */
export function readBounceNotice(mail: MimePart, isSystem: boolean, isRefusal = false): FormDsn | null {
  const text = noticeText(mail)
  const subject = subjectOf(mail)
  const lines = text.split('\n', MAX_LINES).map((line) => line.slice(0, LONGEST_LINE).trim())
  const reasons = lines.map((line, at) => reasonIn(line, at < MAX_WORDED))
  const isReplied = lines.some((line) => REPLY.test(line))
  const isDelayed = saysDelayed(`${subject}\n${text}`)
  const isSaid = isDelayed || isRefusal || saysFailed(`${subject}\n${text}`)
  if (!isSaid && !(isSystem && isReplied)) return null
  if (!isReplied && saysDelivered(`${subject}\n${text}`)) return null
  const action = isDelayed ? 'delayed' : 'failed'

  const owners = new Map<string, number>()
  const named = addressLines(lines)
  const claimed = new Set<number>()
  for (const [at, { address, line }] of named.entries()) {
    const previous = named[at - 1]?.line ?? -1
    const next = named[at + 1]?.line ?? lines.length
    let found = firstReason(reasons, line, next)
    if (found < 0) found = firstReason(reasons, Math.max(previous + 1, line - LINES_BEFORE), line)
    if (found < 0 || claimed.has(found)) continue
    owners.set(address, found)
    // A reason before a list of addresses applies to all of them.
    if (found >= line) for (let each = found; each < next; each++) claimed.add(each)
  }
  const free = reasons.map((reason, at) => (claimed.has(at) ? null : reason))
  const first = firstReason(free, 0, lines.length)
  const sentence = lines.find(saysFailed)
  const general = first >= 0 ? wordsFrom(lines, first) : (sentence ?? subject)

  const own = Array.from(owners, ([address, line]) => recipient(address, action, wordsFrom(lines, line)))
  const others = allAddresses(lines)
    .filter((address) => !owners.has(address))
    .map((address) => recipient(address, action, general))
  const form = first < 0 && sentence === undefined && own.length === 0 ? SUBJECT_ONLY : 'notice'
  return { form, reportingMta: null, recipients: [...own, recipient(null, action, general), ...others] }
}

/** Forms of a notice that reports failure only in its subject, and of one that any person may have written. */
export const SUBJECT_ONLY = 'subject'
export const UNPROVED = 'unproved'

/** The human-readable text of a report, without quoted lines and up to the copy of the mail, at most 64 KiB; also for a
 *  multipart without delimiters. */
export function noticeText(mail: MimePart): string {
  const texts = leavesOf(mail)
    .filter(({ type }) => type === 'text/plain' || type === 'text/html' || type.startsWith('multipart/'))
    .slice(0, MAX_TEXTS)
    .map((leaf) => {
      const text = beginningOf(leaf, LONGEST_TEXT)
      return leaf.type === 'text/html' ? textFromHtml(text) : text
    })
  const text = (texts.find((each) => each.trim().length >= SHORTEST_TEXT) ?? texts[0] ?? '').replace(LINE_ENDS, '\n')
  const shown = text
    .slice(0, END.exec(text)?.index)
    .split('\n')
    .filter((line) => !line.trimStart().startsWith('> ')) // quoted
  const copyAt = shown.findIndex(beginsCopy)
  return (copyAt < 0 ? shown : shown.slice(0, copyAt)).join('\n')
}

const MAX_TEXTS = 5
const LONGEST_TEXT = 65_536
const SHORTEST_TEXT = 30
const MAX_LINES = 1_000
/** Of these, the first ones are compared with the words of all rules, which takes about 0.1 ms each. */
const MAX_WORDED = 200
const LONGEST_LINE = 1_000
const MAX_ADDRESSES = 100
const LINES_BEFORE = 3
const LINE_ENDS = /\r\n?|[\u2028\u2029]/g

/** Where the copy of the mail starts, beyond the words of known forms. */
const COPIES: readonly string[] = [
  'original message',
  'original mail info',
  'the original message is over',
  'message headers',
  'message header follows',
  'message text follows',
  'returned message',
  'unsent message follows',
  'non-sent message',
  'message details',
  'the header of the original message',
  'below is a copy of',
  'received:',
  'dkim-signature:',
  'x-received:',
]

/** Exchange Online gives the reply below it. */
const REASON_FOLLOWS = 'original message details'

function beginsCopy(line: string): boolean {
  let start = 0
  while (start < LONGEST_RULE && '-|= '.includes(line[start] ?? 'x')) start++
  const words = line.slice(start, start + LONGEST_RULE).toLowerCase()
  return COPIES.some((each) => words.startsWith(each)) && !words.startsWith(REASON_FOLLOWS)
}

const LONGEST_RULE = 80

/** A line → the reason in it: a server reply, words with a class where `isWorded`, or nothing. */
function reasonIn(line: string, isWorded: boolean): 'reply' | 'words' | null {
  if (line === '' || CONTEXT.test(line)) return null
  if (REPLY.test(line) || REPLY_WITHIN.test(line) || CODED.test(line)) return 'reply'
  if (!isWorded || line.length <= 3) return null
  const said = classifyReply({ code: 550, enhanced: null, text: line })
  return said.class === 'unknown' || (LABEL.test(line) && !isGone(said)) ? null : 'words'
}

/** At the start of a line with text behind it, or with an enhanced status code: only server replies look like this. */
const REPLY = /^(?:<<< ?)?[45]\d\d(?: |-)\D|\b[45]\d\d[ -]#?[45]\.\d{1,3}\.\d{1,3}\b/
/** In a notice of failure: also behind words that introduce a reply, and behind an address. */
const REPLY_WITHIN =
  /\b(?:said|respon(?:se|ded|secode)|error(?:_?code)?|reason|code|reply|smtp;) ?:?[ "'([<]{0,3}[45]\d\d\b|[:>] [45]\d\d /i
const CODED = /(?<![\d.])#?[45]\.[0-7]\.\d{1,3}(?![\d.])/
/** Session lines that are not replies: our commands, and fields of the mail. */
const CONTEXT =
  /^(?:>>> |(?:From|To|Cc|Subject|Date|Sent|Message-ID|Received|Return-Path|Size|Number of lines)\b[^:]{0,20}:)/i

/** A label with an address, in any language: `Absender: ann@a.example`, but also `Unknown user: ann@a.example`. */
const LABEL = /^[^:@]{1,40}:\s{0,10}[<("'[]?[^\s@]{1,64}@[^\s@]{1,255}$/

/** The first line with a reply, else the first with words; -1 for none. */
function firstReason(reasons: readonly (string | null)[], from: number, to: number): number {
  const end = Math.min(to, reasons.length)
  let words = -1
  for (let at = from; at < end; at++) {
    if (reasons[at] === 'reply') return at
    if (reasons[at] === 'words' && words < 0) words = at
  }
  return words
}

/** The line and its continuation lines. */
function wordsFrom(lines: readonly string[], at: number): string {
  const words = lines.slice(at, at + 1)
  for (const line of lines.slice(at + 1, at + 5)) {
    if (line === '' || line.endsWith(':') || addressesIn(line).length > 0 || NEXT_REPLY.test(line)) break
    words.push(line)
  }
  return words.join(' ')
}

const NEXT_REPLY = /^(?:>>>|<<<|--|[45]\d\d )/

/** Addresses in a line, in lower case. */
function addressesIn(line: string): string[] {
  if (!line.includes('@')) return []
  const words = line.toLowerCase().split(/[\s<>()[\]:;,"'=|]/)
  return words.map(withoutStop).filter(isAddress)
}

function withoutStop(word: string): string {
  let end = word.length
  while (end > 0 && '.!?'.includes(word.charAt(end - 1))) end--
  return word.slice(0, end)
}

function isAddress(word: string): boolean {
  const at = word.indexOf('@')
  return at > 0 && at < word.length - 1 && word.length <= LONGEST_ADDRESS && word.indexOf('@', at + 1) < 0
}

const LONGEST_ADDRESS = 320
/** Such a line names the sender, not a recipient. */
const SENDER = /^(?:\S+ )?(?:from|sender|reply-to|mail from|return-path|hello|hola|hallo|bonjour)\b/i

/** The first address of each line, at the line where it first appears. */
function addressLines(lines: readonly string[]): { address: string; line: number }[] {
  const found = new Map<string, number>()
  for (const [at, line] of lines.entries()) {
    if (found.size >= MAX_ADDRESSES) break
    const address = SENDER.test(line) ? undefined : addressesIn(line)[0]
    if (address !== undefined && !found.has(address)) found.set(address, at)
  }
  return Array.from(found, ([address, line]) => ({ address, line }))
}

function allAddresses(lines: readonly string[]): string[] {
  const found = new Set<string>()
  for (const line of lines) {
    if (SENDER.test(line)) continue
    for (const address of addressesIn(line)) if (found.size < MAX_ADDRESSES) found.add(address)
  }
  return [...found]
}

function recipient(address: string | null, action: DsnRecipient['action'], words: string): DsnRecipient {
  const reply = REPLY_FROM.exec(words)
  const diagnostic = diagnosticText(reply === null ? words : words.slice(reply.index + reply[0].length - 3))
  const status = statusIn(words)
  return { finalRecipient: address, originalRecipient: null, action, status, diagnostic, remoteMta: null }
}

/** Up to the reply code. */
const REPLY_FROM = /(?:^|[^\w.])[45]\d\d(?=[ -])/
