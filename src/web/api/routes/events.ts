import { z } from 'zod'
import type { EventStream } from '../../../events/event-stream/event-stream.ts'
import type { Event } from '../../../model/event.ts'
import { invalid } from '../../../model/refusal.ts'
import { pathParameter } from '../../../net/path-parameter.ts'
import type { Store } from '../../../storage/store.ts'
import { rule } from '../access.ts'
import { type Operation, operation } from '../operation.ts'
import { feedCursor, feedResponse, pageRequest, pageResponse } from '../page.ts'
import { characters, domainIdOrName, eventType, pageFields, timeFields, timeRange } from '../schema.ts'
import { NO_RECORDS, narrowed, requireWithin, scopeOf } from '../scope.ts'
import type { Streams } from '../streams.ts'
import { requireOwnFilter } from './events-filter.ts'
import { eventStreamOperation } from './events-stream.ts'

const listQuery = z.strictObject({
  ...pageFields,
  ...timeFields,
  after: characters(200)
    .optional()
    .describe('Lists events after this one, oldest first; empty = from the oldest stored event.'),
  type: eventType.optional().meta({ example: 'message.bounced' }),
  message_id: z.string().optional(),
  domain_id: domainIdOrName.optional(),
  mode: z.enum(['live', 'test']).optional(),
})

/** The operations of `/v1/events`: all events, in the same envelopes as in webhooks, and their stream. */
export function eventOperations(deps: {
  store: Pick<Store, 'events' | 'messages' | 'domains'>
  eventStream: EventStream
  streams: Streams
}): Operation[] {
  const { events } = deps.store
  return [
    operation({
      id: 'events_list',
      method: 'GET',
      path: '/v1/events',
      tag: 'Events',
      access: rule('read', 'viewer', 'test_records', 'own_domain'),
      summary: 'List events',
      description:
        'Newest first; with `after`, oldest first and without gaps. To catch up after an outage, set `after` to the ID of the last event you processed and follow `next_cursor` until `has_more` is false. No event is missed or repeated.',
      responses: async () => (await import('../responses/events.ts')).eventListResponses,
      refusals: ['not_found'],
      query: listQuery,
      async handle({ key, organizationId, query }) {
        const scope = scopeOf(key)
        await requireOwnFilter(query, scope, deps.store)
        const within = narrowed(query, scope)
        if (within === null) return pageResponse(NO_RECORDS, () => null)
        const filter = {
          organizationId,
          type: query.type ?? null,
          messageId: query.message_id ?? null,
          ...within,
          domainId: query.domain_id ?? null,
          reach: scope.domainId,
          ...timeRange(query),
        }
        const from = feedStart(query)
        if (from === undefined) return pageResponse(await events.list(filter, pageRequest(query)), toWire)
        const page = await events.feed(filter, from, query.limit)
        if (page === null) throw invalid([{ field: 'after', message: 'after does not match any stored event' }])
        return feedResponse(page, toWire)
      },
    }),
    eventStreamOperation(deps),
    operation({
      id: 'events_get',
      method: 'GET',
      path: '/v1/events/:event_id',
      tag: 'Events',
      access: rule('read', 'viewer', 'test_records', 'own_domain'),
      summary: 'Retrieve an event',
      responses: async () => (await import('../responses/events.ts')).eventResponses,
      load: async (call) =>
        requireWithin(shared(await events.get(pathParameter(call, 'event_id'))), scopeOf(call.key), 'event'),
      handle: async ({ resource }) => ({ status: 200, body: toWire(resource) }),
    }),
  ]
}

/** Query → ID of the event after which an oldest-first list starts, null to start at the oldest event, undefined for a
 *  newest-first list. Throws `validation_error` if `cursor` belongs to a newest-first list but `after` is present. */
function feedStart(query: z.infer<typeof listQuery>): string | null | undefined {
  const next = query.cursor === undefined ? null : feedCursor(query.cursor)
  if (next !== null) return next
  if (query.after === undefined) return undefined
  if (query.cursor === undefined) return query.after === '' ? null : query.after
  throw invalid([
    { field: 'cursor', message: 'This cursor belongs to a list without `after`. Use both from the same request.' },
  ])
}

/** Event → the same event for scope.ts. Every key of the organization can access an event without a domain. */
function shared(event: Event | null) {
  return event === null ? null : { ...event, domainId: event.domainId ?? undefined }
}

/** Event → its envelope, as sent to webhooks. */
function toWire(event: Pick<Event, 'body'>): unknown {
  return JSON.parse(event.body)
}
