import { z } from 'zod'
import { iso } from '../../../model/event.ts'
import { invalid } from '../../../model/refusal.ts'
import { isRecord } from '../../../os/records.ts'
import { parseScheduledAt } from './scheduled-at.ts'

/** An email in Resend's format → our message. */

/** More is refused before it is looked at; what our own send accepts is less. */
const MOST = 1_000
const ADDRESSES = z.union([z.string(), z.array(z.string()).max(MOST)])
/** Base64, bytes as numbers, or bytes that were base64 (web/api/extract-base64.ts). One loop checks all numbers: a schema
 *  for each would hold the thread. */
const CONTENT = z.unknown().transform((content, context): string | Uint8Array => {
  if (typeof content === 'string' || content instanceof Uint8Array) return content
  const bytes = bytesOf(content)
  if (bytes !== null) return bytes
  context.addIssue({ code: 'custom', message: 'must be base64, or an array of numbers from 0 to 255' })
  return z.NEVER
})
const ATTACHMENT = z
  .strictObject({
    content: CONTENT.nullish(),
    filename: z.string().nullish(),
    /** A URL; the clients do not read files for it. */
    path: z.string().nullish(),
    content_type: z.string().nullish(),
    content_id: z.string().nullish(),
    inline_content_id: z.string().nullish(),
  })
  .refine(({ content, path }) => content != null || path, {
    path: ['content'],
    error: 'is required, or the URL of the file as `path`',
  })
export const email = z.strictObject({
  from: z.string().nullish(),
  to: ADDRESSES,
  cc: ADDRESSES.nullish(),
  bcc: ADDRESSES.nullish(),
  reply_to: ADDRESSES.nullish(),
  subject: z.string().nullish(),
  html: z.string().nullish(),
  text: z.string().nullish(),
  headers: z.unknown().optional(),
  attachments: z.array(ATTACHMENT).max(MOST).nullish(),
  tags: z
    .array(z.strictObject({ name: z.string(), value: z.string() }))
    .max(MOST)
    .nullish(),
  scheduled_at: z.string().nullish(),
  template: z.strictObject({ id: z.string(), variables: z.unknown().optional() }).nullish(),
  topic_id: z.null({ error: 'is not supported: this server has no topics' }).optional(),
})

/** Resend's email → the body of our send. Throws 422 for an invalid time. */
export function messageOf(
  { tags, template, attachments, scheduled_at: at, topic_id, ...rest }: z.infer<typeof email>,
  now: number,
) {
  return {
    ...rest,
    ...headerFields(rest.headers),
    attachments: attachments?.map(fileOf),
    metadata: tags && Object.fromEntries(tags.map(({ name, value }) => [name, value])),
    scheduled_at: at == null ? undefined : timeOf(at, now),
    template_id: template?.id,
    variables: template?.variables,
  }
}

/** The Python client has two names for a content ID. */
function fileOf({ content, path, filename, content_id, inline_content_id, ...file }: z.infer<typeof ATTACHMENT>) {
  const named = { ...file, content_id: content_id ?? inline_content_id }
  if (!path) return { ...named, content, filename: filename || 'attachment' }
  return { ...named, content, url: path, filename: filename || null }
}

/** `[37, 80, …]` from the Python client, or `{"type":"Buffer","data":[37, 80, …]}` from `JSON.stringify` of a Buffer
 *  in packages before 6.31. Null for anything else. */
function bytesOf(content: unknown): Uint8Array | null {
  const numbers = isWrittenBuffer(content) ? content.data : content
  if (!Array.isArray(numbers)) return null
  const bytes = new Uint8Array(numbers.length)
  for (let at = 0; at < numbers.length; at++) {
    const number: unknown = numbers[at]
    if (typeof number !== 'number' || !Number.isInteger(number) || number < 0 || number > 255) return null
    bytes[at] = number
  }
  return bytes
}

function isWrittenBuffer(content: unknown): content is { type: 'Buffer'; data: unknown } {
  if (!isRecord(content)) return false
  const names = Object.keys(content)
  return names.length === 2 && 'data' in content && 'type' in content && content.type === 'Buffer'
}

/** Headers → what our send has fields for, and the other headers. Headers that are no object are left to our send, which
 *  refuses them: a text has as many names as characters, and a list as entries. */
function headerFields(headers: unknown): { replies?: string; headers?: unknown; unsubscribe?: false } {
  if (!isRecord(headers)) return {}
  const named = Object.entries(headers)
  // Replaces the individual links that this server serves and counts.
  const hasOwnUnsubscribe = named.some(([name]) => /^list-unsubscribe(?:-post)?$/i.test(name))
  // Resend has no such field, so the header is that of SMTP submission.
  const [header, replies] = named.find(([name]) => name.toLowerCase() === 'x-service-replies') ?? []
  const others = () => Object.fromEntries(named.filter(([name]) => name !== header))
  return {
    ...(hasOwnUnsubscribe && { unsubscribe: false }),
    ...(typeof replies === 'string' && { replies, headers: others() }),
  }
}

/** Throws 422 for an invalid time. */
export function timeOf(text: string, now: number): string {
  const at = parseScheduledAt(text, now)
  if (at !== null && at < LAST_TIME) return iso(at)
  const message =
    'scheduled_at must be an ISO 8601 time with an offset, or a phrase such as `in 5 minutes`, `tomorrow at 9am`, `friday at 15:00 UTC`'
  throw invalid([{ field: 'scheduled_at', message }])
}

const LAST_TIME = Date.parse('9999-12-31T23:59:59.999Z')
