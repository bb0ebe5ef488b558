import type { AuditEntry } from '../../model/audit-entry.ts'
import { where } from '../conditions.ts'
import type { Inside } from '../inside.ts'
import { toPage } from '../page.ts'
import { composed, type Database, sql, type Value } from '../sql.ts'
import type { AuditLog } from '../store.ts'

type Row = Omit<AuditEntry, 'actor' | 'fields'> & {
  actorType: AuditEntry['actor']['type']
  actorId: string
  actorName: string
  fields: string
}

const COLUMNS = `id, organization_id as "organizationId", at, actor_type as "actorType", actor_id as "actorId",
  actor_name as "actorName", action, resource_id as "resourceId", created_id as "createdId", fields,
  ip_address as "ipAddress", outcome, request_id as "requestId"`
/** Writes an entry, or the outcome of one that was written before. */
export const PUT_AUDIT = sql(`insert into audit_log (id, organization_id, at, actor_type, actor_id, actor_name, action,
    resource_id, created_id, fields, ip_address, outcome, request_id)
  values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13)
  on conflict (id) do update set outcome = excluded.outcome, resource_id = excluded.resource_id,
    created_id = excluded.created_id`)
const PRUNE = sql(`delete from audit_log where number = any(array(
  select number from audit_log where at < $1 order by at limit $2))`)

/** `during` runs an action whose changes write its entry. */
export function auditRecords(database: Database, { audit }: Inside, during: AuditLog['during']): AuditLog {
  return {
    during,
    put: (entry) => database.write(() => audit(entry)),
    list: async ({ organizationId, actorId, action, resourceId, createdAfter, createdBefore }, page) => {
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
    prune: (before, limit) => database.count(PRUNE, before, limit),
  }
}

/** Values of PUT_AUDIT. */
export function auditValues(entry: AuditEntry): Value[] {
  const { id, organizationId, at, actor, action, resourceId, createdId } = entry
  const rest = [JSON.stringify(entry.fields), entry.ipAddress, entry.outcome, entry.requestId]
  return [id, organizationId, at, actor.type, actor.id, actor.name, action, resourceId, createdId, ...rest]
}

function toEntry({ actorType, actorId, actorName, fields, ...rest }: Row): AuditEntry {
  return { ...rest, actor: { type: actorType, id: actorId, name: actorName }, fields: JSON.parse(fields) }
}
