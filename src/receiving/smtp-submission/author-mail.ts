import type { Mailbox } from '../../mail/address.ts'
import { withoutFields } from '../../mail/field-ranges.ts'
import { decodeWords, type HeaderField, readHeaderFields } from '../../mail/header-fields.ts'
import { onlyMailbox } from '../../mail/mailboxes.ts'
import { invalid } from '../../model/refusal.ts'
import type { FinishedMail } from '../../sending/submission/request.ts'
import { SCAN_LIMITS } from '../smtp-server/scan.ts'
import { loopDetected } from './replies.ts'
import { readServiceHeaders, type ServiceHeaders } from './service-headers.ts'

/** What the headers of a submitted mail say. `unsubscribe` is false when the author provides an own unsubscribe
 *  header. */
export interface AuthorMail extends ServiceHeaders {
  /** The mail without headers that Postrider sets or that must stay hidden: Bcc, Return-Path, `X-Service-…`. */
  mime: FinishedMail
  from: Mailbox
  /** Unfolded values of the address headers; empty when missing. */
  to: string
  cc: string
  replyTo: string
  /** Decoded, at most 998 bytes; may be empty. */
  subject: string
}

/** Submitted mail (CR LF only, no NUL) → its headers. An mbox line at the start and a Sender at another domain than From
 *  are dropped, nothing else is repaired. Mail that receivers could read in two ways is refused, since our signature
 *  would vouch for both. Throws `validation_error` for such mail, for anything
 *  but one From with one address, and for invalid service headers; 554 for a mail loop. RFC 5322 §3.6, RFC 6409 §8. */
export function readAuthorMail(given: Uint8Array): AuthorMail {
  const raw = withoutMboxLine(given)
  const { fields, bodyAt } = readHeaderFields(raw)
  requireFieldsOnly(raw, fields, bodyAt)
  requireSingle(fields)
  if (fields.filter(({ key }) => key === 'received').length > SCAN_LIMITS.received) throw loopDetected()
  const value = (key: string) => fields.find((field) => field.key === key)?.value ?? ''

  requireReadableAddresses(fields)
  const from = requireFrom(fields)
  const serviceHeaders = readServiceHeaders(fields)

  return {
    mime: {
      bytes: withoutFields(raw, (field) => isUnwanted(field, from)),
      messageId: value('message-id').slice(0, MAX_LINE) || null,
      hasDate: value('date') !== '',
    },
    from,
    to: value('to'),
    cc: value('cc'),
    replyTo: value('reply-to'),
    subject: subjectOf(value('subject')),
    ...serviceHeaders,
    unsubscribe: serviceHeaders.unsubscribe && value('list-unsubscribe') === '',
  }
}

const MAX_FIELDS = 1_000
const MAX_LINE = 998 // RFC 5322 §2.1.1

/** Fields allowed once (RFC 5322 §3.6, RFC 2045). Receivers differ in which of two they show. */
const SINGLE = new Set([
  ...['from', 'sender', 'reply-to', 'to', 'cc', 'subject', 'date', 'message-id', 'in-reply-to', 'references'],
  ...['mime-version', 'content-type', 'content-transfer-encoding'],
])

/** Requires a header section that starts with a field and contains nothing but fields. */
function requireFieldsOnly(raw: Uint8Array, fields: readonly HeaderField[], bodyAt: number): void {
  if (bodyAt > SCAN_LIMITS.headerBytes || fields.length > MAX_FIELDS)
    throw notValid('the header section', 'is too large')
  let end = 0
  for (const field of fields) {
    if (field.start !== end) throw notValid('the header section', 'contains a line that is not a header field')
    end = field.end
  }
  const isEnd = end === raw.byteLength || end === bodyAt - EMPTY_LINE
  if (!isEnd) throw notValid('the header section', 'contains a line that is not a header field')
}

const EMPTY_LINE = 2

/** Some programs send a mail as it stands in an mbox file, with a line `From ann@example.com Sat Nov 28 …`. Postfix takes
 *  it too. */
function withoutMboxLine(raw: Uint8Array): Uint8Array {
  const start = Buffer.from(raw.subarray(0, MAX_LINE + EMPTY_LINE)).toString('latin1')
  return raw.subarray(/^>?From [^\r\n]*\r\n/.exec(start)?.[0].length ?? 0)
}

function requireSingle(fields: readonly HeaderField[]): void {
  const seen = new Set<string>()
  for (const { key, name } of fields) {
    if (SINGLE.has(key) && seen.has(key)) throw notValid(name, 'must appear only once')
    seen.add(key)
  }
}

/** Encoded words are not allowed in addresses (RFC 2047 §5). Clients that decode them show another address. */
function requireReadableAddresses(fields: readonly HeaderField[]): void {
  for (const { key, name, value } of fields) {
    if (ADDRESSED.has(key) && hasEncodedAddress(value))
      throw notValid(name, 'must not contain an encoded word in an address')
  }
}

const ADDRESSED = new Set([
  ...['from', 'sender', 'reply-to', 'to', 'cc', 'disposition-notification-to', 'return-receipt-to'],
  ...['resent-from', 'resent-sender', 'resent-reply-to', 'resent-to', 'resent-cc', 'mail-reply-to', 'mail-followup-to'],
])

/** Whether an encoded word ends directly before an `@`, up to a blank, bracket or comma. Linear. */
function hasEncodedAddress(value: string): boolean {
  let start = 0
  for (let at = value.indexOf('@'); at >= 0; at = value.indexOf('@', at + 1)) {
    let end = at
    while (end > start && !DELIMITER.test(value[end - 1]!)) end--
    if (value.slice(end, at).includes('?=')) return true
    start = at + 1
  }
  return false
}

const DELIMITER = /[\s<>,;:()]/

function requireFrom(fields: readonly HeaderField[]): Mailbox {
  const from = fields.find(({ key }) => key === 'from')
  if (from === undefined) throw notValid('From', 'is missing')
  const mailbox = onlyMailbox(from.value)
  if (mailbox !== null) return mailbox
  throw notValid('From', 'must be one address such as ann@example.com or Ann <ann@example.com>')
}

/** Mail clients show a Sender beside or instead of From (RFC 5322 §3.6.2), so it must not name anybody else's domain. Mail
 *  servers on web hosts add `Sender: www-data@web1`. */
function isForeignSender({ key, value }: HeaderField, from: Mailbox): boolean {
  return key === 'sender' && onlyMailbox(value)?.domain !== from.domain
}

function isUnwanted(field: HeaderField, from: Mailbox): boolean {
  const { key, value } = field
  if (isForeignSender(field, from)) return true
  // An empty field would remain beside the one that we add.
  if (key === 'date' || key === 'message-id') return value === ''
  return key === 'bcc' || key === 'resent-bcc' || key === 'return-path' || key.startsWith('x-service-')
}

function subjectOf(value: string): string {
  const subject = decodeWords(value).replace(/[\x00-\x1f\x7f]+/g, ' ')
  // Streaming mode holds back the bytes of an incomplete character.
  return new TextDecoder().decode(Buffer.from(subject).subarray(0, MAX_LINE), { stream: true })
}

function notValid(name: string, fault: string) {
  return invalid([{ field: name, message: `${name} ${fault}` }])
}
