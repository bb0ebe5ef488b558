import { z } from 'zod'
import { type Endpoint, endpoint, type Wire } from '../endpoint.ts'
import { list, listQuery } from './list.ts'

/** Our reasons → Resend's origins. Who unsubscribed asked for it, which Resend keeps as `manual`. */
const ORIGINS: Record<string, string> = {
  hard_bounce: 'bounce',
  complaint: 'complaint',
  unsubscribe: 'manual',
  manual: 'manual',
}
const REASONS = { bounce: 'hard_bounce', complaint: 'complaint' }
const query = listQuery.safeExtend({
  origin: z
    .enum(['bounce', 'complaint'], { error: 'can be bounce or complaint: what is left here has several reasons' })
    .optional(),
})
const added = z.strictObject({ email: z.string() })

export const suppressionEndpoints: Endpoint[] = [
  endpoint({
    id: 'suppressions_add',
    method: 'POST',
    path: '/suppressions',
    operation: 'suppressions_create',
    body: added,
    handle: ({ body }, ours) => ours.ask('suppressions_create', { body }, ({ id }) => ({ object: 'suppression', id })),
  }),
  endpoint({
    id: 'suppressions_list',
    method: 'GET',
    path: '/suppressions',
    operation: 'suppressions_list',
    query,
    handle: ({ query: { origin, ...page } }, ours) => {
      const said = origin === undefined ? {} : { query: { reason: REASONS[origin] } }
      return list(ours, 'suppressions_list', page, recordOf, said)
    },
  }),
  endpoint({
    id: 'suppressions_get',
    method: 'GET',
    path: '/suppressions/:id_or_email',
    operation: 'suppressions_get',
    handle: ({ params }, ours) =>
      ours.ask('suppressions_get', { params }, (record) => ({ object: 'suppression', ...recordOf(record) })),
  }),
  endpoint({
    id: 'suppressions_remove',
    method: 'DELETE',
    path: '/suppressions/:id_or_email',
    operation: 'suppressions_delete',
    handle: ({ params }, ours) =>
      ours.ask('suppressions_delete', { params }, ({ id }) => ({ object: 'suppression', id, deleted: true })),
  }),
]

function recordOf({ id, email, reason, message_id, created_at }: Wire) {
  return { id, email, origin: ORIGINS[reason], source_id: message_id, created_at }
}
