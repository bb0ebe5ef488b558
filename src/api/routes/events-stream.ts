import { z } from 'zod'
import type { Feed, Start } from '../../event-stream/event-stream.ts'
import { EVENT_TYPES, type EventType } from '../../model/event.ts'
import { invalid, Refusal } from '../../model/refusal.ts'
import type { Store } from '../../storage/store.ts'
import { type Call, type Operation, operation } from '../operation.ts'
import { characters } from '../schema.ts'
import { narrowed, scopeOf } from '../scope.ts'
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
    minItems: 1,
    items: { type: 'string', enum: EVENT_TYPES },
    description: 'Only these; several times, or once with commas.',
  })

const query = z.strictObject({
  types,
  message_id: characters(200).optional(),
  domain_id: characters(200).optional(),
  mode: z.enum(['live', 'test']).optional(),
  after: characters(200).optional().describe('Begin behind that event; empty = with the oldest that is kept.'),
})

/** `/v1/events/stream`: events as they happen, and from wherever the client saw the last one. */
export function eventStreamOperation(deps: {
  store: Pick<Store, 'events' | 'messages' | 'domains'>
  feed: Feed
  streams: Streams
}): Operation {
  const { store, feed, streams } = deps

  /** What the client saw last: a browser that comes back says so in a header, and repeats the query of its first time. */
  const startOf = async ({ organizationId, headers, query }: Asked): Promise<Start> => {
    const resumed = lastSeen(headers)
    const after = resumed ?? query.after
    if (after === undefined) return (await store.events.newest(organizationId)) ?? OLDEST
    if (after === '') return OLDEST
    const place = await store.events.place(after)
    if (place !== null) return { id: after, place }
    const field = resumed === null ? 'after' : 'Last-Event-ID'
    throw invalid([{ field, message: `${field} names no event that is still kept` }])
  }

  return operation({
    id: 'events_stream',
    method: 'GET',
    path: '/v1/events/stream',
    summary: 'Follow events as they happen (server-sent events)',
    description: DESCRIPTION,
    answers: async () => (await import('../answers/events.ts')).eventStreamAnswers,
    refusals: ['not_found'],
    query,
    repeatable: ['types'],
    async handle(call) {
      const { organizationId, query, headers, key } = call
      const scope = scopeOf(key)
      await requireOwnFilter({ ...query, after: lastSeen(headers) ?? query.after }, scope, store)
      const within = narrowed(query, scope)
      if (within === null) throw new Refusal('not_found', 'a test key follows events of test mail only')
      const wanted = {
        organizationId,
        types: query.types ?? null,
        messageId: query.message_id ?? null,
        ...within,
        domainId: query.domain_id ?? null,
        reach: scope.domainId,
      }
      const from = await startOf(call)
      const body = streams.open({
        keyId: key.id,
        organizationId,
        holds: call.holds,
        signal: call.signal,
        follow: () => feed.follow(wanted, from),
      })
      return { status: 200, body, contentType: 'text/event-stream', headers: STREAM_HEADERS }
    },
  })
}

type Asked = Pick<Call, 'organizationId' | 'headers'> & { query: z.output<typeof query> }

const OLDEST: Start = { id: null, place: 0 }

const lastSeen = (headers: Headers) => headers.get('last-event-id')?.trim() || null

/** Nobody in between keeps it, or waits until it has more (nginx). */
const STREAM_HEADERS = { 'x-accel-buffering': 'no' }

const DESCRIPTION = `Each event comes once it is on the disk: \`id\` is its id, \`event\` its type, \`data\` the envelope that webhooks get, byte for byte. Without \`after\` it begins now. An \`id\` alone, at the beginning and from time to time, says how far the stream has come. Come back with \`Last-Event-ID\`, the last id you saw, and nothing is missed and nothing comes twice; a browser's EventSource does so by itself, but cannot send a key, so use \`fetch\`.

Something comes every 15 seconds, a comment line when there is nothing else. The stream ends when the key is revoked or expires, when the server stops, and for a client that reads nothing for a minute. A key may have 10 at once, and an organization 50.`
