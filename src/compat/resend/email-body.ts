import { z } from 'zod'
import { iso } from '../../model/event.ts'
import { invalid } from '../../model/refusal.ts'
import { parseScheduledAt } from './scheduled-at.ts'

/** An email as Resend's clients send it, and the message it is to us. */

const ADDRESSES = z.union([z.string(), z.array(z.string())])
/** Packages of Resend before 6.31 or so hand on what `JSON.stringify` makes of a Buffer. */
const BYTES = z.strictObject({ type: z.literal('Buffer'), data: z.array(z.int().min(0).max(255)) })
const ATTACHMENT = z.strictObject({
  content: z.union([z.string(), BYTES.transform(({ data }) => Buffer.from(data).toString('base64'))], {
    error: 'is required: this server fetches nothing from a `path`',
  }),
  filename: z.string().nullish(),
  path: z.null({ error: 'is not taken: this server fetches nothing; send the file as `content`' }).optional(),
  content_type: z.string().nullish(),
  content_id: z.string().nullish(),
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
  attachments: z.array(ATTACHMENT).nullish(),
  tags: z.array(z.strictObject({ name: z.string(), value: z.string() })).nullish(),
  scheduled_at: z.string().nullish(),
  template: z.strictObject({ id: z.string(), variables: z.unknown().optional() }).nullish(),
  topic_id: z.null({ error: 'is not taken: there are no topics here' }).optional(),
})

/** Resend's email → the body of our send. Throws 422 for a time that is none. */
export function messageOf(
  { tags, template, attachments, scheduled_at: at, topic_id, ...rest }: z.infer<typeof email>,
  now: number,
) {
  refuseOwnUnsubscribe(rest.headers)
  return {
    ...rest,
    attachments: attachments?.map(({ path, filename, ...file }) => ({ ...file, filename: filename || 'attachment' })),
    metadata: tags && Object.fromEntries(tags.map(({ name, value }) => [name, value])),
    scheduled_at: at == null ? undefined : timeOf(at, now),
    template_id: template?.id,
    variables: template?.variables,
  }
}

/** Ours writes a link of each recipient's own, which we answer and count; nobody can have both. */
function refuseOwnUnsubscribe(headers: unknown): void {
  const name = Object.keys(headers ?? {}).find((each) => /^list-unsubscribe(?:-post)?$/i.test(each))
  if (name === undefined) return
  const field = `headers.${name}`
  const message = `${field} is written by this server: leave it out, and have it by PATCH /v1/domains/<id> {"tracking":{"unsubscribe":true}}`
  throw invalid([{ field, message }])
}

/** Throws 422 for a text that is no time. */
export function timeOf(text: string, now: number): string {
  const at = parseScheduledAt(text, now)
  if (at !== null && at < LAST_TIME) return iso(at)
  const message =
    'scheduled_at must be an ISO 8601 time with its offset, or such as `in 5 minutes`, `tomorrow at 9am`, `friday at 15:00 UTC`'
  throw invalid([{ field: 'scheduled_at', message }])
}

const LAST_TIME = Date.parse('9999-12-31T23:59:59.999Z')
