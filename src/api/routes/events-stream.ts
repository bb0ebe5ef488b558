import { z } from 'zod'
import type { Feed } from '../../live/feed.ts'
import { EVENT_TYPES, type EventType } from '../../model/event.ts'
import { invalid } from '../../model/refusal.ts'
import type { Place, Store } from '../../storage/store.ts'
import { eventStreamAnswers } from '../answers/events.ts'
import { type Call, type Operation, operation } from '../operation.ts'
import type { Streams } from '../streams.ts'
import { requireOwnFilter } from './events-filter.ts'

const types = z
  .string()
  .max(400)
  .transform((text, context) => {
    const given = [...new Set(text.split(',').map((each) => each.trim()))]
    const isType = (each: string): each is EventType => (EVENT_TYPES as readonly string[]).includes(each)
    if (given.every(isType)) return given
    context.addIssue({ code: 'custom', message: `must be some of ${EVENT_TYPES.join(', ')}` })
    return z.NEVER
  })
  .optional()
  .meta({
    type: 'array',
    maxLength: undefined,
    items: { type: 'string', enum: EVENT_TYPES },
    description: 'Only these; several times, or once with commas.',
  })

const query = z.strictObject({
  types,
  message_id: z.string().max(200).optional(),
  domain_id: z.string().max(200).optional(),
  mode: z.enum(['live', 'test']).optional(),
  after: z.string().max(200).optional().describe('Begin behind that event; empty = with the oldest that is kept.'),
})

/** `/v1/events/stream`: events as they happen, and from wherever the client saw the last one. */
export function eventStreamOperation(deps: {
  store: Pick<Store, 'events' | 'messages' | 'domains'>
  feed: Feed
  streams: Streams
}): Operation {
  const { store, feed, streams } = deps

  /** What the client saw last: a browser that comes back says so in a header, and repeats the query of its first time. */
  const startOf = async ({ headers, query }: Pick<Call, 'headers'> & { query: Query }): Promise<Place> => {
    const resumed = headers.get('last-event-id')?.trim() || null
    const after = resumed ?? query.after
    if (after === undefined) return store.events.newestPlace()
    if (after === '') return 0
    const place = await store.events.place(after)
    if (place !== null) return place
    const field = resumed === null ? 'after' : 'Last-Event-ID'
    throw invalid([{ field, message: `${field} names no event that is still kept` }])
  }

  return operation({
    id: 'events_stream',
    method: 'GET',
    path: '/v1/events/stream',
    permission: 'read',
    summary: 'Follow events as they happen (server-sent events)',
    description: DESCRIPTION,
    answers: eventStreamAnswers,
    refusals: ['not_found'],
    query,
    repeatable: ['types'],
    async handle(call) {
      const { organizationId, query, headers, key } = call
      const after = headers.get('last-event-id')?.trim() || query.after
      await requireOwnFilter({ ...query, after }, organizationId, store)
      const wanted = {
        organizationId,
        types: query.types ?? null,
        messageId: query.message_id ?? null,
        domainId: query.domain_id ?? null,
        mode: query.mode ?? null,
      }
      const behind = await startOf(call)
      const body = streams.open({
        keyId: key.id,
        holds: call.holds,
        signal: call.signal,
        follow: () => feed.follow(wanted, behind),
      })
      return { status: 200, body, contentType: 'text/event-stream', headers: STREAM_HEADERS }
    },
  })
}

type Query = z.output<typeof query>

/** Nobody in between keeps it, or waits until it has more (nginx). */
const STREAM_HEADERS = { 'cache-control': 'no-store', 'x-accel-buffering': 'no' }

const DESCRIPTION = `Each event comes once it is on the disk: \`id\` is its id, \`event\` its type, \`data\` the envelope that webhooks get, byte for byte. Without \`after\` it begins now. Come back with \`Last-Event-ID\`, the last id you saw, and nothing is missed and nothing comes twice; a browser's EventSource does so by itself, but cannot send a key, so use \`fetch\`.

A comment line comes every 15 seconds when nothing else does. The stream ends when the key is revoked or expires, when the server stops, and for a client that reads nothing for a minute. A key may have 10 at once.`
