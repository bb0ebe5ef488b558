import { suppressionEvent } from '../../model/on-demand-event.ts'
import type { Suppression } from '../../model/suppression.ts'
import type { Work } from '../sql.ts'
import { forEach, insertInto } from './each.ts'
import { appendAll } from './events.ts'
import type { MailInside } from './inside.ts'

const ADD = insertInto<Suppression, { id: string }>(
  'suppressions',
  {
    id: ['text', ({ id }) => id],
    organization_id: ['text', ({ organizationId }) => organizationId],
    domain_id: ['text', ({ domainId }) => domainId ?? ''],
    email: ['text', ({ email }) => email],
    reason: ['text', ({ reason }) => reason],
    message_id: ['text', ({ messageId }) => messageId],
    created_at: ['bigint', ({ createdAt }) => createdAt],
    evidence: ['text', ({ evidence }) => evidence],
    mode: ['text', ({ mode }) => mode],
    stream: ['text', ({ stream }) => stream ?? ''],
  },
  'on conflict do nothing returning id',
)

/** Writes suppressions and their events with the change that causes them; existing ones stay. Returns how many were new.
 *  `at` is the time of the change (ms UTC), by default that of the suppression. */
export function* suppressAll(inside: MailInside, suppressions: readonly Suppression[], at?: number): Work<number> {
  if (suppressions.length === 0) return 0
  const added = new Set((yield* forEach(ADD, suppressions)).map(({ id }) => id))
  const fresh = suppressions.filter(({ id }) => added.has(id))
  for (const { organizationId, reason } of fresh) {
    inside.use(organizationId, 'suppressions', 1, '')
    inside.suppressed(reason)
  }
  yield* appendAll(
    inside,
    fresh.map((each) => ({ offered: suppressionEvent('added', each, at ?? each.createdAt) })),
  )
  return fresh.length
}
