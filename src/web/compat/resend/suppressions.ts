import { z } from 'zod'
import { parseMailbox } from '../../../mail/address.ts'
import { Refusal } from '../../../model/refusal.ts'
import { pathParameter } from '../../../net/path-parameter.ts'
import { type Endpoint, endpoint, type Ours, type Wire } from '../external-api.ts'
import { list, listQuery } from './list.ts'

/** Our reasons → Resend's origins. An unsubscribe is a request of the recipient, which Resend stores as `manual`. */
export const ORIGINS: Record<string, string> = {
  hard_bounce: 'bounce',
  complaint: 'complaint',
  unsubscribe: 'manual',
  manual: 'manual',
}
const REASONS = { bounce: ['hard_bounce'], complaint: ['complaint'], manual: ['manual', 'unsubscribe'] }
const query = listQuery.safeExtend({ origin: z.enum(['bounce', 'complaint', 'manual']).optional() })
const added = z.strictObject({ email: z.string() })

const MOST_AT_ONCE = 100 // Resend's limit of a batch
/** All are checked before the first one is written, since each is a separate change. */
const emails = z
  .array(z.string().refine((text) => parseMailbox(text)?.name === null, 'must be an email address'))
  .min(1)
  .max(MOST_AT_ONCE)
const ids = z
  .array(z.string().refine((text) => !text.includes('@'), 'must be an ID'))
  .min(1)
  .max(MOST_AT_ONCE)
const addedBatch = z.strictObject({ emails })
const removedBatch = z
  .strictObject({ emails: emails.optional(), ids: ids.optional() })
  .refine(({ emails, ids }) => (emails === undefined) !== (ids === undefined), {
    path: ['emails'],
    message: 'Provide either emails or ids.',
  })

export const suppressionEndpoints: Endpoint[] = [
  endpoint({
    id: 'suppressions_add',
    method: 'POST',
    path: '/suppressions',
    operation: 'suppressions_create',
    body: added,
    handle: ({ body }, ours) => suppress(body.email, ours),
  }),
  endpoint({
    id: 'suppressions_batch_add',
    method: 'POST',
    path: '/suppressions/batch/add',
    operation: 'suppressions_create',
    idempotent: false,
    body: addedBatch,
    handle: async ({ body: { emails } }, ours) => ({
      data: onceEach(await all(emails, (email) => suppress(email, ours))),
    }),
  }),
  endpoint({
    id: 'suppressions_batch_remove',
    method: 'POST',
    path: '/suppressions/batch/remove',
    operation: 'suppressions_delete',
    body: removedBatch,
    handle: async ({ body: { emails, ids } }, ours) => {
      const removed = await all(emails ?? ids ?? [], (name) => remove(name, ours).catch(notThere))
      return { data: onceEach(removed.filter((record) => record !== null)) }
    },
  }),
  endpoint({
    id: 'suppressions_list',
    method: 'GET',
    path: '/suppressions',
    operation: 'suppressions_list',
    query,
    handle: ({ query: { origin, ...page } }, ours) => {
      const filters = origin === undefined ? [{}] : REASONS[origin].map((reason) => ({ query: { reason } }))
      return list(ours, 'suppressions_list', page, recordOf, filters)
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
    handle: (call, ours) => remove(pathParameter(call, 'id_or_email'), ours),
  }),
]

interface Brief {
  object: 'suppression'
  id: string
}

const briefly = ({ id }: Wire): Brief => ({ object: 'suppression', id })

/** For an address that is already suppressed, returns the existing entry, as Resend does. */
async function suppress(email: string, ours: Ours): Promise<Brief> {
  try {
    return await ours.ask('suppressions_create', { body: { email } }, briefly)
  } catch (thrown) {
    const id = thrown instanceof Refusal && thrown.reason === 'conflict' ? thrown.details?.suppression_id : undefined
    if (id === undefined) throw thrown
    return briefly({ id })
  }
}

function remove(idOrEmail: string, ours: Ours): Promise<Brief & { deleted: true }> {
  const said = { params: { id_or_email: idOrEmail } }
  return ours.ask('suppressions_delete', said, (record) => ({ ...briefly(record), deleted: true }))
}

/** A batch skips addresses that the key cannot access, exactly like missing ones. */
function notThere(thrown: unknown): null {
  if (thrown instanceof Refusal && (thrown.reason === 'not_found' || thrown.reason === 'forbidden')) return null
  throw thrown
}

/** Waits for all of them, so that nothing is written after a refusal was returned. Throws the first error. */
async function all<T>(names: readonly string[], work: (name: string) => Promise<T>): Promise<T[]> {
  const results = await Promise.allSettled(names.map(work))
  return results.map((result) => {
    if (result.status === 'fulfilled') return result.value
    throw result.reason
  })
}

function onceEach<T extends Brief>(records: readonly T[]): T[] {
  return [...new Map(records.map((record) => [record.id, record])).values()]
}

function recordOf({ id, email, reason, message_id, created_at }: Wire) {
  return { id, email, origin: ORIGINS[reason], source_id: message_id, created_at }
}
