import { REDACTION_PAUSE_MS } from '../roles/messages.ts'
import type { ContentRemoval, Messages, RemovalReason } from '../store.ts'
import type { Reads } from './reads.ts'
import type { Statements } from './transactions.ts'
import type { Writer } from './writer.ts'

// An open delivery waits in its queue until it ends, and never returns to it.
const IS_OPEN = 'exists (select from delivery_queue q where q.message_id = m.id)'
const STATE = `select ${IS_OPEN} as "isOpen" from messages m where m.id = $1`
const REMOVE = `with gone as (
    delete from contents where owner_id = $1 and kind = 'content' returning owner_id),
  changed as (
    update messages set stored_bytes = stored_bytes - size_bytes where id in (select owner_id from gone)
    returning organization_id, size_bytes),
  noted as (
    insert into removed_contents (message_id, removed_at, reason)
    select owner_id, $2::bigint, $3::text from gone on conflict do nothing),
  counted as (
    insert into usage as present (organization_id, name, period, lane_id, used)
    select organization_id, 'stored_bytes', '', $4::int, -size_bytes from changed
    on conflict (organization_id, name, period, lane_id) do update set used = present.used + excluded.used)
  select owner_id from gone`
const NOTED = 'select removed_at::float8 as "removedAt", reason from removed_contents where message_id = $1'
const DUE = `select m.id, r.after_ms::float8 as "afterMs", ${IS_OPEN} as "isOpen",
    coalesce((select max(coalesce(o.last_attempt_at, d.last_attempt_at)) from deliveries d left join delivery_outcomes o
      on o.delivery_id = d.id where d.message_id = m.id), m.created_at)::float8 as "endedAt"
  from content_redactions r join messages m on m.id = r.message_id
  where r.due_at <= $1 order by r.due_at limit $2`
const LATER = 'update content_redactions set due_at = $2::bigint where message_id = $1'
const DONE = 'delete from content_redactions where message_id = $1'

/** Removes the content of a message inside a change → as Messages.removeContent. */
export async function removeContentInside(
  { query, laneId }: Statements,
  { id, reason, now }: { id: string; reason: RemovalReason; now: number },
): Promise<'removed' | 'gone' | 'invalid_state'> {
  const [state] = await query<{ isOpen: boolean }>(STATE, [id])
  if (state === undefined) return 'gone'
  if (state.isOpen) return 'invalid_state'
  return (await query(REMOVE, [id, now, reason, laneId])).length > 0 ? 'removed' : 'gone'
}

/** The methods of Messages that remove contents. */
export function postgresContentRemoval(
  reads: Reads,
  writer: Writer,
): Pick<Messages, 'removeContent' | 'contentRemoval' | 'redactDue'> {
  return {
    removeContent: (id, reason, now) =>
      writer.write((statements) => removeContentInside(statements, { id, reason, now })),
    contentRemoval: async (id) => (await reads.query<ContentRemoval>(NOTED, [id]))[0] ?? null,
    redactDue: async (now, limit) => {
      const rows = await reads.query<DueRow>(DUE, [now, limit])
      if (rows.length === 0) return 0
      await writer.write(async (statements) => {
        for (const { id, afterMs, isOpen, endedAt } of rows) {
          const dueAt = isOpen ? now + REDACTION_PAUSE_MS : endedAt + afterMs
          if (dueAt > now) await statements.run(LATER, [id, dueAt])
          else {
            await removeContentInside(statements, { id, reason: 'stream', now })
            await statements.run(DONE, [id])
          }
        }
      })
      return rows.length
    },
  }
}

interface DueRow {
  id: string
  afterMs: number
  isOpen: boolean
  /** When the last attempt of a delivery began. */
  endedAt: number
}
