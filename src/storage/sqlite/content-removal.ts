import { FINAL_STATUSES } from '../outcome-statuses.ts'
import { REDACTION_PAUSE_MS } from '../roles/messages.ts'
import type { Messages, RemovalReason } from '../store.ts'
import type { ContentParts } from './content-parts.ts'
import type { Connection } from './driver.ts'
import { SLICE_BYTES } from './retention.ts'
import type { StoredBytes } from './stored-bytes.ts'
import type { Writer } from './writer.ts'

const MESSAGE = `select m.number, m.organization_id as organizationId, m.size_bytes as sizeBytes,
    exists (select 1 from deliveries d where d.message_number = m.number and d.status not in (${FINAL_STATUSES})) as isOpen
  from messages m where m.id = ?`
const REMOVE = 'delete from message_contents where message_number = ?'
const CHANGE_BYTES = 'update messages set stored_bytes = stored_bytes - size_bytes where number = ?'
const NOTE = 'insert into removed_contents (message_number, removed_at, reason) values (?, ?, ?) on conflict do nothing'
const NOTED = `select removed_at as removedAt, reason from removed_contents
  where message_number = (select number from messages where id = ?)`
const DUE = `select r.message_number as number, m.id, m.size_bytes as sizeBytes, r.after_ms as afterMs,
    exists (select 1 from deliveries d where d.message_number = m.number and d.status not in (${FINAL_STATUSES})) as isOpen,
    coalesce((select max(d.last_attempt_at) from deliveries d where d.message_number = m.number), m.created_at) as endedAt
  from content_redactions r join messages m on m.number = r.message_number
  where r.due_at <= ? order by r.due_at limit ?`
const LATER = 'update content_redactions set due_at = ? where message_number = ?'
const DONE = 'delete from content_redactions where message_number = ?'

/** Removes the content of a message inside a change → as Messages.removeContent. */
export type RemoveContentInside = (
  id: string,
  reason: RemovalReason,
  now: number,
) => 'removed' | 'gone' | 'invalid_state'

export function removeContentInside(
  db: Connection,
  { parts, storedBytes }: { parts: ContentParts; storedBytes: StoredBytes },
): RemoveContentInside {
  const message = db.prepare<unknown[], MessageRow>(MESSAGE)
  const remove = db.prepare(REMOVE)
  const changeBytes = db.prepare(CHANGE_BYTES)
  const note = db.prepare(NOTE)
  return (id, reason, now) => {
    const row = message.get(id)
    if (row === undefined) return 'gone'
    const { number, organizationId, sizeBytes, isOpen } = row
    if (isOpen === 1) return 'invalid_state'
    if (remove.run(number).changes === 0) return 'gone'
    parts.letGo('content', number)
    changeBytes.run(number)
    storedBytes.change('messages', number, organizationId, -sizeBytes)
    note.run(number, now, reason)
    return 'removed'
  }
}

/** The methods of Messages that remove contents. */
export function sqliteContentRemoval(
  db: Connection,
  writer: Writer,
  removeContent: RemoveContentInside,
): Pick<Messages, 'removeContent' | 'contentRemoval' | 'redactDue'> {
  const noted = db.prepare<unknown[], { removedAt: number; reason: RemovalReason }>(NOTED)
  const due = db.prepare<unknown[], DueRow>(DUE)
  const later = db.prepare(LATER)
  const done = db.prepare(DONE)
  return {
    removeContent: (id, reason, now) => writer.write(() => removeContent(id, reason, now)),
    contentRemoval: async (id) => noted.get(id) ?? null,
    redactDue: async (now, limit) => {
      if (due.get(now, 1) === undefined) return 0
      return writer.write(() => {
        let looked = 0
        let bytes = 0
        for (const { number, id, sizeBytes, afterMs, isOpen, endedAt } of due.all(now, limit)) {
          looked++
          const dueAt = isOpen === 1 ? now + REDACTION_PAUSE_MS : endedAt + afterMs
          if (dueAt > now) later.run(dueAt, number)
          else {
            removeContent(id, 'stream', now)
            done.run(number)
            bytes += sizeBytes
          }
          if (bytes >= SLICE_BYTES) break // the commit writes blank pages
        }
        return looked
      })
    },
  }
}

interface MessageRow {
  number: number
  organizationId: string
  sizeBytes: number
  isOpen: number
}

interface DueRow {
  number: number
  id: string
  sizeBytes: number
  afterMs: number
  isOpen: number
  /** When the last attempt of a delivery began. */
  endedAt: number
}
