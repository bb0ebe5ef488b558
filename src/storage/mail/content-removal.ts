import { DELIVERY_STATUSES, isFinal } from '../../model/message.ts'
import { type ContentRemoval, type Messages, REDACTION_PAUSE_MS, type RemovalReason } from '../roles/messages.ts'
import { type Database, row, rows, run, sql, type Work } from '../sql.ts'
import { letGo } from './contents.ts'
import { insideMail, type MailInside } from './inside.ts'

/** Statuses of a delivery that has ended, as a list for SQL. */
const FINAL_STATUSES = DELIVERY_STATUSES.filter(isFinal)
  .map((status) => `'${status}'`)
  .join(', ')
/** Of `messages m`: a delivery has not ended. It never opens again once all have. */
const IS_OPEN = `exists (select 1 from deliveries d
    where d.message_number = m.number and d.status not in (${FINAL_STATUSES}))::boolean as "isOpen"`
const MESSAGE = sql<MessageRow>(`select m.number::float8 as number, m.organization_id as "organizationId",
    m.size_bytes::float8 as "sizeBytes", ${IS_OPEN}
  from messages m where m.id = $1`)
// Of two that remove it, the second one waits and finds it gone.
const REMOVE = sql('delete from message_contents where message_number = $1::bigint')
const LOWER_BYTES = sql('update messages set stored_bytes = stored_bytes - size_bytes where number = $1::bigint')
const NOTE = sql(`insert into removed_contents (message_number, removed_at, reason) values ($1, $2, $3)
  on conflict do nothing`)
const NOTED = sql<ContentRemoval>(`select removed_at::float8 as "removedAt", reason from removed_contents
  where message_number = (select number from messages where id = $1)`)
const IS_DUE = sql<{ due: number }>('select 1 as due from content_redactions where due_at <= $1 limit 1')
const DUE = sql<MessageRow & { afterMs: number; endedAt: number }>(`select m.number::float8 as number,
    m.organization_id as "organizationId", m.size_bytes::float8 as "sizeBytes", ${IS_OPEN},
    r.after_ms::float8 as "afterMs", coalesce((select max(d.last_attempt_at) from deliveries d
      where d.message_number = m.number), m.created_at)::float8 as "endedAt"
  from content_redactions r join messages m on m.number = r.message_number
  where r.due_at <= $1 order by r.due_at limit $2`)
const LATER = sql('update content_redactions set due_at = $2::bigint where message_number = $1::bigint')
const DONE = sql('delete from content_redactions where message_number = $1::bigint')

interface MessageRow {
  number: number
  organizationId: string
  sizeBytes: number
  isOpen: boolean
}

/** Removes the content of a message → as Messages.removeContent. */
export function* removeContent(
  inside: MailInside,
  { id, reason, now }: { id: string; reason: RemovalReason; now: number },
): Work<'removed' | 'gone' | 'invalid_state'> {
  const message = yield* row(MESSAGE, id)
  if (message === null) return 'gone'
  if (message.isOpen) return 'invalid_state'
  return (yield* removeOf(inside, message, { reason, now })) ? 'removed' : 'gone'
}

/** Removes the content of a message that has ended → false if it was gone. */
function* removeOf(
  inside: MailInside,
  { number, organizationId, sizeBytes }: MessageRow,
  { reason, now }: { reason: RemovalReason; now: number },
): Work<boolean> {
  if ((yield* run(REMOVE, number)) === 0) return false
  yield* letGo('content', [{ number }])
  yield* run(LOWER_BYTES, number)
  inside.stored('messages', number, organizationId, -sizeBytes)
  yield* run(NOTE, number, now, reason)
  return true
}

/** Removes contents that are due by their streams → how many messages it looked at. */
function* redactDue(inside: MailInside, now: number, limit: number): Work<number> {
  let looked = 0
  let bytes = 0
  for (const { afterMs, endedAt, ...message } of yield* rows(DUE, now, limit)) {
    looked++
    const dueAt = message.isOpen ? now + REDACTION_PAUSE_MS : endedAt + afterMs
    if (dueAt > now) yield* run(LATER, message.number, dueAt)
    else {
      yield* removeOf(inside, message, { reason: 'stream', now })
      yield* run(DONE, message.number)
      bytes += message.sizeBytes
    }
    if (bytes >= inside.pace.bytes) break
  }
  return looked
}

/** The methods of Messages that remove contents. */
export function contentRemovals(database: Database): Pick<Messages, 'removeContent' | 'contentRemoval' | 'redactDue'> {
  return {
    removeContent: (id, reason, now) =>
      database.write(function* () {
        return yield* removeContent(yield* insideMail(), { id, reason, now })
      }),
    contentRemoval: (id) => database.row(NOTED, id),
    redactDue: async (now, limit) => {
      if ((await database.row(IS_DUE, now)) === null) return 0
      return database.write(function* () {
        return yield* redactDue(yield* insideMail(), now, limit)
      })
    },
  }
}
