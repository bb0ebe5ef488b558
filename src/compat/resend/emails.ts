import { z } from 'zod'
import { iso } from '../../model/event.ts'
import { invalid, Refusal, type RefusalReason } from '../../model/refusal.ts'
import { type Endpoint, endpoint, type Ours, type Wire } from '../endpoint.ts'
import { list, listQuery } from './list.ts'
import { parseScheduledAt } from './scheduled-at.ts'

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
const email = z.strictObject({
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
const batch = z.array(z.unknown()).min(1)
const change = z.strictObject({ scheduled_at: z.string() })

/** Our names of fields → Resend's, where they differ. Tags, pairs of name and value, are our metadata, which come back
 *  with the record and with every event as they do at Resend. */
const NAMES = { metadata: 'tags', template_id: 'template.id', variables: 'template.variables' }

export const emailEndpoints: Endpoint[] = [
  endpoint({
    id: 'emails_send',
    method: 'POST',
    path: '/emails',
    operation: 'messages_send',
    body: email,
    handle: ({ body, now }, ours) => ours.ask('messages_send', { body: messageOf(body, now), names: NAMES }, idOf),
  }),
  endpoint({
    id: 'emails_batch',
    method: 'POST',
    path: '/emails/batch',
    operation: 'messages_batch',
    body: batch,
    handle: ({ body, headers, now }, ours) => {
      const isStrict = headers.get('x-batch-validation') !== 'permissive'
      return sendBatch(body, isStrict, now, ours)
    },
  }),
  endpoint({
    id: 'emails_list',
    method: 'GET',
    path: '/emails',
    operation: 'messages_list',
    query: listQuery,
    handle: async ({ query }, ours) => {
      const page = await list(ours, 'messages_list', query, (message) => message)
      const data = await Promise.all(
        page.data.map(async (message) => headOf(message, await isComplaint(message, ours))),
      )
      return { ...page, data }
    },
  }),
  endpoint({
    id: 'emails_get',
    method: 'GET',
    path: '/emails/:id',
    operation: 'messages_get',
    async handle({ params }, ours) {
      const named = { params: { message_id: params.id! } }
      const message = await ours.ask('messages_get', named, (body) => body)
      const content = await ours.ask('messages_content', named, (body) => body).catch(notKept)
      const { html, text } = content
      const tags = Object.entries(message.metadata).map(([name, value]) => ({ name, value: String(value) }))
      return { object: 'email', ...headOf(message, await isComplaint(message, ours)), html, text, tags }
    },
  }),
  endpoint({
    id: 'emails_update',
    method: 'PATCH',
    path: '/emails/:id',
    operation: 'messages_update',
    body: change,
    handle: ({ params, body, now }, ours) => {
      const said = { params: { message_id: params.id! }, body: { scheduled_at: timeOf(body.scheduled_at, now) } }
      return ours.ask('messages_update', said, ({ id }) => ({ object: 'email', id }))
    },
  }),
  endpoint({
    id: 'emails_cancel',
    method: 'POST',
    path: '/emails/:id/cancel',
    operation: 'messages_cancel',
    handle: ({ params }, ours) =>
      ours.ask('messages_cancel', { params: { message_id: params.id! } }, ({ id }) => ({ object: 'email', id })),
  }),
  endpoint({
    id: 'emails_attachments',
    method: 'GET',
    path: '/emails/:id/attachments',
    operation: 'messages_get',
    async handle() {
      const message = 'attachments have no download address here; GET /v1/messages/<id>/content?part=raw has them'
      throw new Refusal('not_found', message)
    },
  }),
]

const idOf = ({ id }: Wire) => ({ id })

/** Resend's email → the body of our send. Throws 422 for a time that is none. */
function messageOf(
  { tags, template, attachments, scheduled_at: at, topic_id, ...rest }: z.infer<typeof email>,
  now: number,
) {
  refuseOwnUnsubscribe(rest.headers)
  return {
    ...rest,
    attachments: attachments?.map(({ path, filename, content_type, ...file }) => ({
      ...file,
      filename: filename || 'attachment',
      content_type: content_type ?? typeOf(filename ?? ''),
    })),
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

/** Resend takes the type from the name where none is given. Nothing is opened: the runtime knows endings. */
function typeOf(filename: string): string {
  const ending = /\.(\w{1,10})$/.exec(filename)?.[1]
  return ending === undefined ? 'application/octet-stream' : Bun.file(`x.${ending}`).type.replace(/;.*/, '')
}

function timeOf(text: string, now: number): string {
  const at = parseScheduledAt(text, now)
  if (at !== null && at < LAST_TIME) return iso(at)
  const message =
    'scheduled_at must be an ISO 8601 time with its offset, or such as `in 5 minutes`, `tomorrow at 9am`, `friday at 15:00 UTC`'
  throw invalid([{ field: 'scheduled_at', message }])
}

const LAST_TIME = Date.parse('9999-12-31T23:59:59.999Z')

/** `strict`: one bad email and none is sent, all in one transaction. Else the others are, and `errors` tells of it. */
async function sendBatch(emails: unknown[], isStrict: boolean, now: number, ours: Ours) {
  const messages: unknown[] = []
  const places: number[] = []
  const errors: { index: number; message: string }[] = []
  for (const [index, each] of emails.entries()) {
    try {
      const { value, faults } = ours.read(email, each)
      if (faults !== null) throw invalid(faults)
      messages.push(messageOf(value, now))
      places.push(index)
    } catch (thrown) {
      if (!(thrown instanceof Refusal)) throw thrown
      if (isStrict) throw placed(thrown, index)
      errors.push({ index, message: thrown.message })
    }
  }
  if (messages.length === 0) return { data: [], errors }
  return ours.ask(
    'messages_batch',
    { body: { messages }, names: { messages: 'emails' } },
    ({ data }: { data: Wire[] }) => {
      const failed = data.flatMap(({ error }, at) => (error === undefined ? [] : [{ index: places[at]!, error }]))
      const first = failed[0]
      if (isStrict && first !== undefined) throw placed(refusalOf(first.error), first.index) // nothing is written then
      const sent = data.filter(({ error }) => error === undefined).map(idOf)
      if (isStrict) return { data: sent }
      const refused = failed.map(({ index, error }) => ({ index, message: error.message as string }))
      return { data: sent, errors: [...errors, ...refused].sort((a, b) => a.index - b.index) }
    },
  )
}

/** The error of one message in a batch → the refusal it was. */
function refusalOf({ code, message, field, details, errors }: Wire): Refusal {
  return new Refusal(code as RefusalReason, message, { field, details, faults: errors })
}

/** Says which email of the batch it is about. */
function placed({ reason, message, field, details, faults }: Refusal, index: number): Refusal {
  const told = faults?.map((fault) => fault.message).join('; ') ?? message
  return new Refusal(reason, `emails[${index}]: ${told}`, { field, details })
}

/** A message of ours → Resend's record but for its content. */
function headOf(message: Wire, isComplaint: boolean) {
  return {
    id: message.id,
    message_id: message.message_id_header,
    from: message.from,
    to: listOf(message.to) ?? [],
    cc: listOf(message.cc),
    bcc: listOf(message.bcc),
    reply_to: listOf(message.reply_to),
    subject: message.subject,
    created_at: message.created_at,
    scheduled_at: message.scheduled_at,
    last_event: isComplaint ? 'complained' : lastEvent(message),
  }
}

const listOf = (addresses: string | string[] | null) => (typeof addresses === 'string' ? [addresses] : addresses)

/** What became of it, by the furthest that any recipient has come. */
function lastEvent({ status, recipients }: Wire): string {
  if (recipients.some(({ clicks }: Wire) => clicks > 0)) return 'clicked'
  if (recipients.some(({ opens }: Wire) => opens > 0)) return 'opened'
  if (status !== 'partial') return LAST_EVENTS[status as keyof typeof LAST_EVENTS]
  return recipients.some((recipient: Wire) => recipient.status === 'bounced') ? 'bounced' : 'delivered'
}

const LAST_EVENTS = {
  scheduled: 'scheduled',
  queued: 'queued',
  deferred: 'delivery_delayed',
  delivered: 'delivered',
  bounced: 'bounced',
  suppressed: 'suppressed',
  cancelled: 'canceled',
}

function isComplaint({ id }: Wire, ours: Ours): Promise<boolean> {
  const said = { params: { message_id: id }, query: { type: 'message.complained', limit: '1' } }
  return ours.ask('messages_events', said, ({ data }) => data.length > 0)
}

function notKept(thrown: unknown): { html: null; text: null } {
  if (thrown instanceof Refusal && thrown.reason === 'not_found') return { html: null, text: null }
  throw thrown
}
