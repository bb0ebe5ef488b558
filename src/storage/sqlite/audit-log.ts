import { AsyncLocalStorage } from 'node:async_hooks'
import type { AuditEntry } from '../../model/audit-entry.ts'
import { toPage } from '../page.ts'
import type { AuditLog, AuditNote, PageRequest } from '../store.ts'
import type { Connection } from './driver.ts'
import { when } from './page.ts'
import type { Writer } from './writer.ts'

const COLUMNS = `id, organization_id as organizationId, at, actor_type as actorType, actor_id as actorId,
  actor_name as actorName, action, resource_id as resourceId, created_id as createdId, fields, ip_address as ipAddress,
  outcome, request_id as requestId`
const PUT = `insert into audit_log (id, organization_id, at, actor_type, actor_id, actor_name, action, resource_id,
    created_id, fields, ip_address, outcome, request_id)
  values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
  on conflict (id) do update set outcome = excluded.outcome, resource_id = excluded.resource_id,
    created_id = excluded.created_id`
const NUMBER = 'select number from audit_log where id = ?'
const PRUNE = 'delete from audit_log where number in (select number from audit_log where at < ? limit ?)'
const CHANGES = 'select total_changes()'

/** Adds audit entries to the changes of an audited action. */
export interface AuditRecorder {
  during: AuditLog['during']
  put(entry: AuditEntry): void
  /** Change → the same change, which also writes the entry of its action if it changes anything. */
  accompany<T>(change: () => T): () => T
}

/** The current action is passed through AsyncLocalStorage, not as an argument of thirty store methods: a new method
 *  could omit the argument, but every write goes through the writer. */
export function createAuditRecorder(db: Connection): AuditRecorder {
  const insert = db.prepare(PUT)
  const changes = db.prepare(CHANGES).pluck()
  const underWay = new AsyncLocalStorage<AuditNote>()
  const put = (entry: AuditEntry) => {
    const { id, organizationId, at, actor, action, resourceId, createdId } = entry
    const rest = [JSON.stringify(entry.fields), entry.ipAddress, entry.outcome, entry.requestId]
    insert.run(id, organizationId, at, actor.type, actor.id, actor.name, action, resourceId, createdId, ...rest)
  }
  return {
    put,
    during: (note, work) => underWay.run(note, work),
    accompany: (change) => {
      const note = underWay.getStore()
      if (note === undefined) return change
      return () => {
        const before = changes.get()
        const value = change()
        if (changes.get() !== before) {
          put(note.entry())
          note.isKept = true
        }
        return value
      }
    },
  }
}

export function sqliteAuditLog(db: Connection, writer: Writer, auditRecorder: AuditRecorder): AuditLog {
  const prune = db.prepare(PRUNE)
  const number = db.prepare<unknown[], number>(NUMBER).pluck()
  /** Position after which a list continues. After a deleted entry there is nothing, since all before it were deleted
   *  too. */
  const numberBefore = ({ after }: PageRequest) => (after === null ? Number.MAX_SAFE_INTEGER : (number.get(after) ?? 0))
  return {
    during: auditRecorder.during,
    put: (entry) => writer.write(() => auditRecorder.put(entry)),
    list: async (filter, page) => {
      const conditions = [
        { sql: 'number < ?', values: [numberBefore(page)] },
        ...when(filter.organizationId, 'organization_id = ?'),
        ...when(filter.actorId, 'actor_id = ?'),
        ...when(filter.action, 'action = ?'),
        ...when(filter.resourceId, 'resource_id = ?'),
        // The plus keeps SQLite from using the time index and sorting the result.
        ...when(filter.createdAfter, '+at >= ?'),
        ...when(filter.createdBefore, '+at < ?'),
      ]
      const sql = `select ${COLUMNS} from audit_log where ${conditions.map((each) => each.sql).join(' and ')}
        order by number desc limit ?`
      const rows = db.prepare<unknown[], Row>(sql).all(...conditions.flatMap((each) => each.values), page.limit + 1)
      return toPage(rows, page, toEntry)
    },
    prune: (before, limit) => writer.write(() => prune.run(before, limit).changes),
  }
}

type Row = Omit<AuditEntry, 'actor' | 'fields'> & {
  actorType: AuditEntry['actor']['type']
  actorId: string
  actorName: string
  fields: string
}

function toEntry({ actorType, actorId, actorName, fields, ...rest }: Row): AuditEntry {
  return { ...rest, actor: { type: actorType, id: actorId, name: actorName }, fields: JSON.parse(fields) }
}
