import { z } from 'zod'
import { invalid, Refusal } from '../../../model/refusal.ts'
import { pathParameter } from '../../../net/path-parameter.ts'
import { type Endpoint, endpoint, type Named, type Ours, type Wire } from '../external-api.ts'
import { email, messageOf, timeOf } from './email-body.ts'
import { headOf } from './email-record.ts'
import { list, listQuery } from './list.ts'
import { repeatedId, requireSameId } from './repeated-id.ts'

/** More is refused before it is looked at; what our own batch accepts is less. */
const batch = z.array(z.unknown()).min(1).max(1_000)
const change = z.strictObject({ scheduled_at: z.string(), ...repeatedId('id') })

/** Our field names → Resend's, where they differ. Tags, pairs of name and value, map to our metadata, which the record
 *  and every event include, as at Resend. */
const NAMES = {
  metadata: 'tags',
  template_id: 'template.id',
  variables: 'template.variables',
  replies: 'headers.X-Service-Replies',
  'attachments[].url': 'attachments[].path',
}

export const emailEndpoints: Endpoint[] = [
  endpoint({
    id: 'emails_send',
    method: 'POST',
    path: '/emails',
    operation: 'messages_send',
    body: email,
    base64At: ['attachments', '*', 'content'],
    handle: ({ body, now }, ours) => ours.ask('messages_send', { body: messageOf(body, now), names: NAMES }, idOf),
  }),
  endpoint({
    id: 'emails_batch',
    method: 'POST',
    path: '/emails/batch',
    operation: 'messages_batch',
    body: batch,
    base64At: ['*', 'attachments', '*', 'content'],
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
    async handle(call, ours) {
      const message = await ours.ask('messages_get', named(call), (body) => body)
      const content = await ours.ask('messages_content', named(call), textsOf).catch(notKept)
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
    handle: (call, ours) => {
      const { scheduled_at: at, ...repeated } = call.body
      requireSameId(call.params, repeated)
      const said = { ...named(call), body: { scheduled_at: timeOf(at, call.now) } }
      return ours.ask('messages_update', said, ({ id }) => ({ object: 'email', id }))
    },
  }),
  endpoint({
    id: 'emails_cancel',
    method: 'POST',
    path: '/emails/:id/cancel',
    operation: 'messages_cancel',
    handle: (call, ours) => ours.ask('messages_cancel', named(call), ({ id }) => ({ object: 'email', id })),
  }),
]

const named = (call: Named) => ({ params: { message_id: pathParameter(call, 'id') } })
const idOf = ({ id }: Wire) => ({ id })

/** As in our own batch, so that other requests continue. */
const CHECKED_A_TURN = 10

/** `strict`: one invalid email rejects the whole batch, in one transaction. Otherwise the valid ones are sent and
 *  `errors` lists the rest. */
async function sendBatch(emails: unknown[], isStrict: boolean, now: number, ours: Ours) {
  const messages: unknown[] = []
  const places: number[] = []
  const errors: { index: number; message: string }[] = []
  for (const [index, each] of emails.entries()) {
    if (index % CHECKED_A_TURN === CHECKED_A_TURN - 1) await new Promise(setImmediate)
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
      const failed = data.flatMap(({ error }, at) => (error === undefined ? [] : [{ index: places[at] ?? at, error }]))
      const first = failed[0]
      if (isStrict && first !== undefined) throw placed(refusalOf(first.error), first.index) // then nothing is stored
      const sent = data.filter(({ error }) => error === undefined).map(idOf)
      if (isStrict) return { data: sent }
      const refused = failed.map(({ index, error }) => ({ index, message: String(error.message) }))
      return { data: sent, errors: [...errors, ...refused].sort((a, b) => a.index - b.index) }
    },
  )
}

/** Error of one message in a batch → its refusal. */
function refusalOf({ code, message, field, details, errors }: Wire): Refusal {
  return new Refusal(code, message, { field, details, faults: errors })
}

/** Adds the index of the email in the batch. */
function placed({ reason, message, field, details, faults }: Refusal, index: number): Refusal {
  const detail = faults?.map((fault) => fault.message).join('; ') ?? message
  return new Refusal(reason, `emails[${index}]: ${detail}`, { field, details })
}

function isComplaint({ id }: Wire, ours: Ours): Promise<boolean> {
  const said = { params: { message_id: id }, query: { type: 'message.complained', limit: '1' } }
  return ours.ask('messages_events', said, ({ data }) => data.length > 0)
}

/** The content arrives as JSON from a parsing thread. */
function textsOf(record: Uint8Array): { html: string | null; text: string | null } {
  const { html, text } = JSON.parse(Buffer.from(record).toString())
  return { html, text }
}

function notKept(thrown: unknown): { html: null; text: null } {
  if (thrown instanceof Refusal && thrown.reason === 'not_found') return { html: null, text: null }
  throw thrown
}
