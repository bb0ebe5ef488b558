import { z } from 'zod'
import { type Mailbox, parseMailbox } from '../../../mail/address.ts'
import { CALENDAR_METHODS, calendarPart } from '../../../mail/calendar.ts'
import type { Attachment } from '../../../mail/content.ts'
import { hasAtMost } from '../../../mail/cut-text.ts'
import { decodeWords } from '../../../mail/encoded-words.ts'
import { typeByName } from '../../../mail/file-name.ts'
import { withDecodedName } from '../../../mail/mailboxes.ts'
import type { Metadata } from '../../../model/message.ts'
import { TRANSACTIONAL } from '../../../model/message.ts'
import { parsePostTarget } from '../../../net/webhook-url.ts'
import { isRecord } from '../../../os/records.ts'
import * as checks from '../../../sending/submission/checks.ts'
import { MAX_RECIPIENTS } from '../../../sending/submission/recipients.ts'
import type { Addresses, GivenRequest } from '../../../sending/submission/request.ts'
import * as patterns from '../patterns.ts'
import { endpointUrl, isoTime } from '../schema.ts'
import {
  hasBody,
  hasFewRecipients,
  hasOneContent,
  hasOneReplyAddress,
  hasOneUnsubscribe,
  hasSubject,
  hasUseForLocale,
  hasUseForReplyName,
  hasUseForVariables,
  RULES,
} from './content-rules.ts'
import { templateLocale, templateName, templateVariables } from './template-fields.ts'

/** The parsed body of a send. */
export type SendBody = z.infer<ReturnType<typeof createSendBody>>

/** Function that returns the current time in ms UTC, for `scheduled_at` → schema of the body of a send. One schema
 *  contains all rules, so that one response lists every invalid field. For optional fields, `null` means absent.
 *
 *  Compiled code accepts valid bodies, which are the usual case. Only if it fails, the schema checks rule by rule to
 *  collect the faults. Rules across fields are separate, because zod cannot compile conditional rules. */
export function createSendBody(now: () => number) {
  const fields = z.strictObject({
    from: ADDRESS.transform(readFrom).describe('`a@d` or `Name <a@d>`; must be at the key’s domain.'),
    to: SOME_ADDRESSES.transform(readRecipients).describe(
      '1 to 50 recipients together with `cc` and `bcc`, each `a@d` or `Name <a@d>`. Duplicates are merged.',
    ),
    cc: ADDRESSES.transform(readAddresses).nullish(),
    bcc: ADDRESSES.transform(readAddresses).nullish().describe('Not visible to other recipients.'),
    reply_to: ADDRESSES_TO_ANSWER.transform(readReplyTo).nullish(),
    replies: z
      .string()
      .min(1)
      .max(MAX_ROUTE_NAME)
      .nullish()
      .describe(
        'ID or name of an inbound route that receives the answers, at an address of its own for each recipient. Excludes `reply_to`.',
      ),
    reply_to_name: text(replyNameFault, { ...patterns.SEEN, maxLength: MAX_REPLY_NAME })
      .nullish()
      .describe('Display name of the addresses of `replies`. By default that of `from`.'),
    subject: text(checks.subjectFault, patterns.SUBJECT)
      .nullish()
      .describe('Required unless the template has a subject. One line, at most 998 bytes.'),
    html: text(bodyFault, patterns.BODY_OR_EMPTY)
      .nullish()
      .describe('One of `html`, `text` or `template_id` is required. An empty value counts as missing.'),
    text: text(bodyFault, patterns.BODY_OR_EMPTY).nullish().describe('Generated from `html` if missing or empty.'),
    template_id: templateName.nullish().describe('ID or alias of a template to use instead of `html` and `text`.'),
    variables: templateVariables.nullish().describe('Values for the template’s variables.'),
    locale: templateLocale
      .nullish()
      .describe('Language of the template, for example `pt-BR`. Without it: `pt`, then the template’s default.'),
    headers: HEADERS.transform(readHeaders)
      .nullish()
      .describe(
        'Additional headers. Headers that Postrider sets, such as `From` or `Date`, are rejected. `List-Unsubscribe` requires `unsubscribe: false`.',
      ),
    attachments: z
      .array(ATTACHMENT)
      .max(checks.MAX_ATTACHMENTS)
      .nullish()
      .describe('The composed message can be at most 25 MiB, unless configured otherwise.'),
    calendar: CALENDAR.nullish().describe(
      'An invitation, which mail programs show with buttons: one text/calendar part beside text and HTML.',
    ),
    metadata: RECORD_OF_VALUES.transform(readMetadata)
      .nullish()
      .describe('At most 50 keys and 4 KiB. Included in events.'),
    tags: z
      .array(text(checks.tagFault, { ...patterns.SEEN, maxLength: 64 }))
      .max(checks.MAX_TAGS)
      .nullish()
      .describe('At most 64 characters each. Statistics can be filtered by tag.'),
    scheduled_at: createScheduledAt(now)
      .nullish()
      .describe('At most 30 days ahead. A time in the past sends immediately.'),
    expires_in: z.int().min(1).nullish().describe('Seconds after which Postrider stops trying to deliver.'),
    stream: text(checks.streamFault, patterns.STREAM)
      .nullish()
      .describe('Message stream: `transactional` (default), `bulk`, or another one of the server’s configuration.'),
    require_tls: z.boolean().nullish().describe('Deliver only over verified TLS.'),
    track_opens: z
      .boolean()
      .nullish()
      .describe('Tracks opens with an image of one pixel. Null or absent: use the domain’s setting.'),
    track_clicks: z
      .boolean()
      .nullish()
      .describe(
        'Rewrites links in `html` for click tracking, except those with `data-no-track` or the mark of another service. Null or absent: use the domain’s setting.',
      ),
    unsubscribe: z
      .boolean()
      .nullish()
      .describe(
        'Adds a `List-Unsubscribe` header for each recipient and replaces `%unsubscribe_url%` with the recipient’s link. Where it is off, content with the placeholder is refused. Null or absent: use the setting of the stream or the domain.',
      ),
  })
  const whole = fields
    .refine(hasBody, RULES.body)
    .refine(hasSubject, RULES.subject)
    .refine(hasOneContent, RULES.oneContent)
    .refine(hasUseForVariables, RULES.variables)
    .refine(hasUseForLocale, RULES.locale)
    .refine(hasOneUnsubscribe, RULES.oneUnsubscribe)
    .refine(hasOneReplyAddress, RULES.oneReplyAddress)
    .refine(hasUseForReplyName, RULES.replyName)
    .refine(hasFewRecipients, RULES.recipients)
  const compiled = z.compile(fields, { strict: true })
  return z.withParser(whole, (value) => {
    const { success, data } = compiled.safeParse(value)
    return success && WHOLE.every((isSatisfied) => isSatisfied(data)) ? data : z.INVALID
  })
}

/** Function that returns the current time in ms UTC → schema of `scheduled_at`, at most 30 days ahead. Accepts past
 *  times, which mean now. */
export function createScheduledAt(now: () => number) {
  return isoTime.refine((at) => at <= now() + checks.MAX_SCHEDULE_AHEAD_MS, 'must be at most 30 days ahead')
}

/** Parsed body → submission request. An empty `html` or `text` counts as missing. Never throws. */
export function toSubmission(body: SendBody): GivenRequest {
  return {
    from: body.from,
    to: body.to,
    cc: body.cc ?? null,
    bcc: body.bcc ?? null,
    replyTo: body.reply_to ?? null,
    replies: body.replies ? { route: body.replies, name: body.reply_to_name ?? null } : null,
    subject: decoded(body.subject ?? '', checks.subjectFault),
    html: body.html || null,
    text: body.text || null,
    headers: body.headers ?? [],
    attachments: [...(body.attachments ?? []), ...(body.calendar ? [body.calendar] : [])],
    metadata: body.metadata ?? {},
    tags: [...new Set(body.tags ?? [])],
    scheduledAt: body.scheduled_at ?? null,
    expiresInSeconds: body.expires_in ?? null,
    requireTls: body.require_tls ?? false,
    stream: body.stream ?? TRANSACTIONAL,
    unsubscribe: body.unsubscribe ?? null,
    trackOpens: body.track_opens ?? null,
    trackClicks: body.track_clicks ?? null,
    template: body.template_id
      ? { idOrAlias: body.template_id, variables: body.variables ?? {}, locale: body.locale ?? null }
      : null,
    mime: null,
  }
}

type Context = z.core.$RefinementCtx

const WHOLE = [
  hasBody,
  hasSubject,
  hasOneContent,
  hasUseForVariables,
  hasUseForLocale,
  hasOneUnsubscribe,
  hasOneReplyAddress,
  hasUseForReplyName,
  hasFewRecipients,
]

const MAX_REPLY_NAME = 200 // characters
const MAX_ADDRESSES = 500 // per field, duplicates included: our limit
const MAX_ADDRESS_BYTES = 998 // RFC 5322 §2.1.1: one line, including name and brackets
const ADDRESS = z.string().meta({ ...patterns.MAILBOX, id: 'Mailbox' })
const ADDRESSES = z.union([ADDRESS, z.array(ADDRESS).max(MAX_ADDRESSES)])
const SOME_ADDRESSES = z.union([ADDRESS, z.array(ADDRESS).max(MAX_ADDRESSES).meta({ minItems: 1 })])
const ADDRESSES_TO_ANSWER = z.union([ADDRESS, z.array(ADDRESS).max(MAX_ADDRESSES).meta({ maxItems: MAX_RECIPIENTS })])
// Not z.record, because it silently drops a key named __proto__.
const HEADERS = z.unknown().meta({
  id: 'MessageHeaders',
  type: 'object',
  maxProperties: checks.MAX_HEADERS,
  propertyNames: patterns.HEADER_NAME,
  additionalProperties: { type: 'string', ...patterns.HEADER_VALUE },
})
const RECORD_OF_VALUES = z
  .unknown()
  .meta({ type: 'object', maxProperties: 50, additionalProperties: { type: ['string', 'number', 'boolean'] } })
const NOT_AN_ADDRESS = 'must be one address such as ann@example.com or Ann <ann@example.com>'

const CONTENT_TYPE = text(checks.contentTypeFault, patterns.CONTENT_TYPE)
const CONTENT_ID = z
  .string()
  .transform(readContentId)
  .meta(patterns.CONTENT_ID)
  .nullish()
  .describe('For `<img src="cid:…">`. Brackets and `cid:` in front are ignored.')

const GIVEN_ATTACHMENT = z
  .strictObject({
    filename: text(checks.filenameFault, patterns.FILENAME),
    // Base64 text, or the bytes of a large attachment that is already decoded (extract-base64.ts).
    content: z
      .unknown()
      .transform((content, context): Uint8Array => {
        if (content instanceof Uint8Array) return content
        if (typeof content !== 'string')
          return refuse(context, [], content === undefined ? 'is required' : 'must be a string')
        return checks.decodeWrittenBase64(content) ?? refuse(context, [], 'must be base64 without blanks')
      })
      .meta({ type: 'string', contentEncoding: 'base64' }),
    content_type: CONTENT_TYPE.nullish().describe('Derived from the file name if absent.'),
    content_id: CONTENT_ID,
    url: z.null({ error: 'cannot be combined with content' }).optional(),
  })
  .meta({ id: 'Attachment' })
  .transform(({ filename: asSent, content, content_type, content_id }) => {
    const filename = decoded(asSent, checks.filenameFault)
    return { filename, content, contentType: content_type ?? typeByName(filename), contentId: content_id ?? null }
  })

const REMOTE_ATTACHMENT = z
  .strictObject({
    url: endpointUrl(remoteUrlFault).describe(
      'Postrider downloads the file before it responds. The URL itself is not stored.',
    ),
    filename: text(checks.filenameFault, patterns.FILENAME)
      .nullish()
      .describe('The last segment of the URL’s path if absent.'),
    content: z.null({ error: 'cannot be combined with url' }).optional(),
    content_type: CONTENT_TYPE.nullish().describe(
      'Taken from the response of the URL if absent, or derived from the file name.',
    ),
    content_id: CONTENT_ID,
  })
  .meta({ id: 'RemoteAttachment' })
  .transform(({ url, filename, content_type, content_id }) => ({
    url,
    filename: filename ?? null,
    contentType: content_type ?? null,
    contentId: content_id ?? null,
  }))

const ATTACHMENT = z.union([GIVEN_ATTACHMENT, REMOTE_ATTACHMENT])

const CALENDAR = z
  .strictObject({
    content: text(checks.bodyFault, patterns.CALENDAR).describe('iCalendar text (RFC 5545).'),
    method: z.enum(CALENDAR_METHODS).nullish().describe('By default the METHOD of `content`, which must be the same.'),
  })
  .meta({ id: 'Calendar' })
  .transform(({ content, method }, context): Attachment => {
    const read = calendarPart(content, method ?? null)
    return 'part' in read ? read.part : refuse(context, [read.field], read.fault)
  })

/** Why a file is not downloaded from this URL, or null. The address of its host is checked at the download. */
function remoteUrlFault(url: string): string | null {
  const target = parsePostTarget(url)
  return 'refused' in target ? target.refused : null
}

/** Schema of a string. `faultOf` returns why a text is invalid, or null (sending/submission/checks.ts); `keywords` describe the
 *  same rule in JSON Schema. */
function text(faultOf: (text: string) => string | null, keywords: Record<string, unknown>) {
  return z
    .string()
    .superRefine((text, context) => {
      const message = faultOf(text)
      if (message !== null) refuse(context, [], message)
    })
    .meta(keywords)
}

/** Why the display name of a reply address is invalid, or null: as for a subject. */
function replyNameFault(name: string): string | null {
  return hasAtMost(name, MAX_REPLY_NAME) ? checks.subjectFault(name) : `must have at most ${MAX_REPLY_NAME} characters`
}

/** An ID, or a name as inbound routes may have it. */
const MAX_ROUTE_NAME = 255

/** Why an `html` or `text` is invalid, or null. An empty one counts as missing. */
function bodyFault(body: string): string | null {
  return body === '' ? null : checks.bodyFault(body)
}

function readFrom(asSent: string, context: Context): { asSent: string; mailbox: Mailbox } {
  if (lastFrom?.asSent === asSent) return lastFrom
  const mailbox = readMailbox(asSent)
  if (mailbox === null) return refuse(context, [], NOT_AN_ADDRESS)
  lastFrom = { asSent, mailbox }
  return lastFrom
}

/** The last sender, which often repeats. */
let lastFrom: { asSent: string; mailbox: Mailbox } | null = null

function readMailbox(text: string): Mailbox | null {
  const mailbox = Buffer.byteLength(text) > MAX_ADDRESS_BYTES ? null : parseMailbox(text)
  return mailbox?.name?.includes('=?') ? withDecodedName(mailbox) : mailbox
}

/** Decodes the encoded words that libraries for headers write (Python's formataddr, PHP's mb_encode_mimeheader), because
 *  we encode the text again and a reader decodes once. The text itself if the result would not be valid. */
function decoded(text: string, faultOf: (text: string) => string | null): string {
  const meant = decodeWords(text)
  return faultOf(meant) === null ? meant : text
}

function readRecipients(asSent: string | string[], context: Context): Addresses {
  if (asSent.length === 0) return refuse(context, [], 'must contain at least one recipient')
  return readAddresses(asSent, context)
}

/** Why a text is not one address. `mayBeList`: its field takes a list, which people often write as one text. */
function addressFault(text: string, mayBeList: boolean): string {
  const parts = !mayBeList || text.length > MAX_ADDRESS_BYTES ? [] : text.split(/[,;]/)
  const isList = parts.length > 1 && parts.length <= MAX_RECIPIENTS && parts.every((each) => readMailbox(each) !== null)
  if (isList) return 'must be one address. Send several as a list: ["ann@example.com", "bob@example.com"]'
  return NOT_AN_ADDRESS
}

function readAddresses(asSent: string | string[], context: Context): Addresses {
  const mailboxes: Mailbox[] = []
  const texts = typeof asSent === 'string' ? [asSent] : asSent
  for (const [index, each] of texts.entries()) {
    const mailbox = readMailbox(each)
    if (mailbox !== null) mailboxes.push(mailbox)
    else refuse(context, typeof asSent === 'string' ? [] : [index], addressFault(each, typeof asSent === 'string'))
  }
  return { asSent, mailboxes }
}

function readReplyTo(asSent: string | string[], context: Context): Addresses {
  if (asSent.length > MAX_RECIPIENTS && typeof asSent !== 'string') {
    return refuse(context, [], `must contain at most ${MAX_RECIPIENTS} addresses`)
  }
  return readAddresses(asSent, context)
}

function readHeaders(headers: unknown, context: Context): [string, string][] {
  if (!isRecord(headers)) return refuse(context, [], 'must be an object')
  const entries = Object.entries(headers)
  if (entries.length > checks.MAX_HEADERS) refuse(context, [], `must have at most ${checks.MAX_HEADERS} entries`)
  const seen = new Set<string>()
  const named = entries.flatMap(([name, value]): [string, string][] => {
    const fault =
      checks.headerNameFault(name) ??
      (seen.has(name.toLowerCase()) ? 'must appear only once' : null) ??
      (typeof value === 'string' ? checks.headerValueFault(value) : 'must be a string')
    if (fault !== null) refuse(context, [name], fault)
    seen.add(name.toLowerCase())
    return typeof value === 'string' ? [[name, value]] : []
  })
  const own = checks.unsubscribeHeaderFault(named)
  if (own !== null) refuse(context, [own.name], own.fault)
  return named
}

function readMetadata(metadata: unknown, context: Context): Metadata {
  if (checks.isMetadata(metadata)) return metadata
  for (const { key, fault } of checks.metadataFaults(metadata)) refuse(context, key === null ? [] : [key], fault)
  return z.NEVER
}

function readContentId(given: string, context: Context): string {
  const contentId = (/^<(.*)>$/s.exec(given)?.[1] ?? given).replace(/^cid:/i, '')
  const fault = checks.contentIdFault(contentId)
  return fault === null ? contentId : refuse(context, [], fault)
}

function refuse(context: Context, path: PropertyKey[], message: string): never {
  context.addIssue({ code: 'custom', path, message })
  return z.NEVER
}
