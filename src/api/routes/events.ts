import { z } from 'zod'
import { EVENT_TYPES, type Event } from '../../model/event.ts'
import { invalid } from '../../model/refusal.ts'
import type { Store } from '../../storage/store.ts'
import { eventAnswers, eventListAnswers } from '../answers/events.ts'
import { requireOwned } from '../errors.ts'
import { type Operation, operation } from '../operation.ts'
import { feedAnswer, feedCursor, pageAnswer, pageRequest } from '../page.ts'
import { pageFields, timeFields, timeRange } from '../schema.ts'

const listQuery = z.strictObject({
  ...pageFields,
  ...timeFields,
  after: z
    .string()
    .max(200)
    .optional()
    .describe('Turns the list round: oldest first, everything after that event; empty = from the beginning.'),
  type: z.enum(EVENT_TYPES).optional(),
  message_id: z.string().optional(),
  domain_id: z.string().optional(),
  mode: z.enum(['live', 'test']).optional(),
})

/** `/v1/events`: everything that was told to webhooks, in the same envelopes (contract §4). */
export function eventOperations(deps: { store: Pick<Store, 'events' | 'messages' | 'domains'> }): Operation[] {
  const { events, messages, domains } = deps.store

  /** 403 when the query names something of another organization (interface.md, Authentication 7), 404 for a domain that
   *  is not there. A message that is no longer there may still have events, or simply has none to show. */
  const requireOwn = async (query: z.infer<typeof listQuery>, organizationId: string) => {
    const { message_id: messageId, domain_id: domainId, after } = query
    const [message, domain, event] = await Promise.all([
      messageId === undefined ? null : messages.get(messageId),
      domainId === undefined ? null : domains.get(domainId),
      after === undefined || after === '' ? null : events.get(after),
    ])
    if (message !== null) requireOwned(message, organizationId, 'message')
    if (domainId !== undefined) requireOwned(domain, organizationId, 'domain')
    if (event !== null) requireOwned(event, organizationId, 'event')
  }

  return [
    operation({
      id: 'events_list',
      method: 'GET',
      path: '/v1/events',
      permission: 'read',
      summary: 'List events, newest first; with `after` oldest first and without gaps',
      description:
        'To catch up after an outage, give `after` the id of the last event you have seen and go on with `next_cursor` until `has_more` is false; nothing is left out and nothing comes twice.',
      answers: eventListAnswers,
      refusals: ['not_found'],
      query: listQuery,
      async handle({ organizationId, query }) {
        await requireOwn(query, organizationId)
        const filter = {
          organizationId,
          type: query.type ?? null,
          messageId: query.message_id ?? null,
          domainId: query.domain_id ?? null,
          mode: query.mode ?? null,
          ...timeRange(query),
        }
        const from = feedStart(query)
        if (from === undefined) return pageAnswer(await events.list(filter, pageRequest(query)), toWire)
        const page = await events.feed(filter, from, query.limit)
        if (page === null) throw invalid([{ field: 'after', message: 'after names no event that is still kept' }])
        return feedAnswer(page, toWire)
      },
    }),
    operation({
      id: 'events_get',
      method: 'GET',
      path: '/v1/events/:event_id',
      permission: 'read',
      summary: 'Read one event',
      answers: eventAnswers,
      load: async ({ params, organizationId }) =>
        requireOwned(await events.get(params.event_id!), organizationId, 'event'),
      handle: async ({ resource }) => ({ status: 200, body: toWire(resource) }),
    }),
  ]
}

/** Where an oldest-first list begins: after which event, null = at the beginning; undefined when it is not wanted. */
function feedStart(query: z.infer<typeof listQuery>): string | null | undefined {
  const next = query.cursor === undefined ? null : feedCursor(query.cursor)
  if (next !== null) return next
  if (query.after === undefined) return undefined
  if (query.cursor === undefined) return query.after === '' ? null : query.after
  throw invalid([{ field: 'cursor', message: 'cursor belongs to a list without `after`' }])
}

/** The envelope, as it is posted. */
function toWire(event: Event): unknown {
  return JSON.parse(event.body)
}
