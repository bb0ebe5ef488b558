import { z } from 'zod'
import type { EventStream, Start } from '../../../events/event-stream/event-stream.ts'
import { EVENT_TYPES } from '../../../model/event.ts'
import { invalid, Refusal } from '../../../model/refusal.ts'
import { isOneOf } from '../../../os/records.ts'
import type { Store } from '../../../storage/store.ts'
import { rule } from '../access.ts'
import { type Call, type Operation, operation } from '../operation.ts'
import { characters, domainIdOrName } from '../schema.ts'
import { narrowed, scopeOf } from '../scope.ts'
import type { Streams } from '../streams.ts'
import { requireOwnFilter } from './events-filter.ts'

const types = z
  .string()
  .max(400)
  .transform((text, context) => {
    const given = [...new Set(text.split(',').map((each) => each.trim()))]
    if (given.every((each) => isOneOf(EVENT_TYPES, each))) return given
    context.addIssue({ code: 'custom', message: `must be some of ${EVENT_TYPES.join(', ')}` })
    return z.NEVER
  })
  .optional()
  .meta({
    type: 'array',
    maxLength: undefined,
    minItems: 1,
    items: { type: 'string', enum: EVENT_TYPES },
    description: 'Event types to include; repeat the parameter or separate types with commas.',
    example: ['message.delivered', 'message.bounced'],
  })

const query = z.strictObject({
  types,
  message_id: characters(200).optional(),
  domain_id: domainIdOrName.optional(),
  mode: z.enum(['live', 'test']).optional(),
  after: characters(200).optional().describe('Start after this event; empty = start with the oldest stored event.'),
})

/** The operation of `/v1/events/stream`: live events, resuming after the last one that the client received. */
export function eventStreamOperation(deps: {
  store: Pick<Store, 'events' | 'messages' | 'domains'>
  eventStream: EventStream
  streams: Streams
}): Operation {
  const { store, eventStream, streams } = deps

  /** The event to start after: `Last-Event-ID`, else `after`, else the newest event. `Last-Event-ID` takes precedence,
   *  because a browser that reconnects repeats its original query. Rejects with `validation_error` for an unknown
   *  event. */
  const startOf = async ({ organizationId, headers, query }: Asked): Promise<Start> => {
    const resumed = lastSeen(headers)
    const after = resumed ?? query.after
    if (after === undefined) return (await store.events.newest(organizationId)) ?? OLDEST
    if (after === '') return OLDEST
    const place = await store.events.place(after)
    if (place !== null) return { id: after, place }
    const field = resumed === null ? 'after' : 'Last-Event-ID'
    throw invalid([{ field, message: `${field} does not match any stored event` }])
  }

  return operation({
    id: 'events_stream',
    method: 'GET',
    path: '/v1/events/stream',
    tag: 'Events',
    access: rule('read', 'viewer', 'test_records', 'own_domain'),
    summary: 'Stream events (server-sent events)',
    description: DESCRIPTION,
    responses: async () => (await import('../responses/events.ts')).eventStreamResponses,
    refusals: ['not_found'],
    query,
    repeatable: ['types'],
    async handle(call) {
      const { organizationId, query, headers, key } = call
      const scope = scopeOf(key)
      await requireOwnFilter({ ...query, after: lastSeen(headers) ?? query.after }, scope, store)
      const within = narrowed(query, scope)
      if (within === null) throw new Refusal('not_found', 'Test keys can stream events of test messages only.')
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
        isKeyValid: call.isKeyValid,
        signal: call.signal,
        follow: () => eventStream.follow(wanted, from),
      })
      return { status: 200, body, contentType: 'text/event-stream', headers: STREAM_HEADERS }
    },
  })
}

type Asked = Pick<Call, 'organizationId' | 'headers'> & { query: z.output<typeof query> }

const OLDEST: Start = { id: null, place: '' }

const lastSeen = (headers: Headers) => headers.get('last-event-id')?.trim() || null

/** Tells nginx not to buffer the stream. */
const STREAM_HEADERS = { 'x-accel-buffering': 'no' }

const DESCRIPTION = `Events are sent as soon as they are stored. \`id\` is the event ID, \`event\` its type, and \`data\` the same envelope that webhooks get, byte for byte. Without \`after\`, the stream starts with new events. From time to time the stream sends an \`id\` alone to mark its position. Reconnect with \`Last-Event-ID\` set to the last ID you received; no event is lost or repeated. A browser’s EventSource reconnects this way but cannot send a key, so use \`fetch\`.

If there is no event for 15 seconds, the stream sends a comment line. The stream ends if the key is revoked or expires, if the server stops, or if the client reads nothing for one minute. Limits: 10 streams per key and 50 per organization.`
