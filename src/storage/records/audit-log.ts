import { AsyncLocalStorage } from 'node:async_hooks'
import type { AuditEntry } from '../../model/audit-entry.ts'
import { type Page, type PageRequest, type TimeRange, toPage } from '../page.ts'
import { composed, type Database, run, sql, type Value, type Work } from '../sql.ts'

/** The audit entry of an action, and whether it is written. */
export interface AuditNote {
  /** The entry as far as it is known when the change is made. */
  entry(): AuditEntry
  isKept: boolean
}

interface AuditFilter extends TimeRange {
  /** Null = entries of all organizations and of the installation, for the operator only. */
  organizationId: string | null
  actorId: string | null
  action: string | null
  resourceId: string | null
}

type Row = Omit<AuditEntry, 'actor' | 'fields'> & {
  actorType: AuditEntry['actor']['type']
  actorId: string
  actorName: string
  fields: string
}

const COLUMNS = `id, organization_id as "organizationId", at, actor_type as "actorType", actor_id as "actorId",
  actor_name as "actorName", action, resource_id as "resourceId", created_id as "createdId", fields,
  ip_address as "ipAddress", outcome, request_id as "requestId"`
const PUT = sql(`insert into audit_log (id, organization_id, at, actor_type, actor_id, actor_name, action,
    resource_id, created_id, fields, ip_address, outcome, request_id)
  values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13)
  on conflict (id) do update set outcome = excluded.outcome, resource_id = excluded.resource_id,
    created_id = excluded.created_id`)
const PRUNE = sql(`delete from audit_log where number = any(array(
  select number from audit_log where at < $1 order by at limit $2))`)

/** The audited action in whose context a change is begun, passed through AsyncLocalStorage: a method of the store could
 *  omit an argument, but every work goes through the lane or the database that performs it, which asks for it. */
export type AuditedAction = AsyncLocalStorage<AuditNote>

export const auditedAction = (): AuditedAction => new AsyncLocalStorage()

/** Writes an entry, or the outcome of one that was written before. */
export function* audit(entry: AuditEntry): Work<void> {
  const { id, organizationId, at, actor, action, resourceId, createdId } = entry
  const { ipAddress, outcome, requestId } = entry
  const rest = [resourceId, createdId, JSON.stringify(entry.fields), ipAddress, outcome, requestId]
  yield* run(PUT, id, organizationId, at, actor.type, actor.id, actor.name, action, ...rest)
}

/** Audit log of management actions. */
export function auditRecords(database: Database, action: AuditedAction) {
  return {
    /** Runs `work`. Its first change of this store writes `note.entry()` in the same transaction, so that nothing
     *  changes without an entry. Afterwards `note.isKept` says whether anything changed. */
    during: <T>(note: AuditNote, work: () => Promise<T>): Promise<T> => action.run(note, work),
    /** Writes an entry, or updates the outcome of an existing one. */
    put: (entry: AuditEntry): Promise<void> => database.write(() => audit(entry)),
    list: async (
      { organizationId, actorId, action, resourceId, createdAfter, createdBefore }: AuditFilter,
      page: PageRequest,
    ): Promise<Page<AuditEntry>> => {
      const { sql, values } = where([
        // After a deleted entry there is nothing, since all before it were deleted too.
        ['number < (select number from audit_log where id = ?)', page.after],
        ['organization_id = ?', organizationId],
        ['actor_id = ?', actorId],
        ['action = ?', action],
        ['resource_id = ?', resourceId],
        // The plus keeps SQLite from using the index of times and sorting the result.
        ['+at >= ?', createdAfter],
        ['+at < ?', createdBefore],
      ])
      const text = `select ${COLUMNS} from audit_log ${sql === '' ? '' : `where ${sql}`}
        order by number desc limit $${values.length + 1}`
      return toPage(await database.rows(composed<Row>(text), ...values, page.limit + 1), page, toEntry)
    },
    /** Deletes at most `limit` entries older than `before`; returns the number deleted. */
    prune: (before: number, limit: number): Promise<number> => database.count(PRUNE, before, limit),
  }
}

function toEntry({ actorType, actorId, actorName, fields, ...rest }: Row): AuditEntry {
  return { ...rest, actor: { type: actorType, id: actorId, name: actorName }, fields: JSON.parse(fields) }
}

/** Condition with `?` for its value. A null or missing value leaves it out. */
type Condition = readonly [sql: string, value: Value | undefined]

/** Conditions → the text after `where` and its parameters, numbered from $1. */
function where(conditions: readonly Condition[]): { sql: string; values: Value[] } {
  const given = conditions.flatMap(([sql, value]) => (value === null || value === undefined ? [] : [{ sql, value }]))
  return {
    sql: given.map(({ sql }, at) => sql.replace('?', `$${at + 1}`)).join(' and '),
    values: given.map(({ value }) => value),
  }
}
