import { AsyncLocalStorage } from 'node:async_hooks'
import type { AuditEntry } from '../../model/audit-entry.ts'
import { toPage } from '../page.ts'
import type { AuditLog, AuditNote } from '../store.ts'
import type { Reads } from './reads.ts'
import type { Statements } from './transactions.ts'
import type { Accompany, Writer } from './writer.ts'

const COLUMNS = `id, organization_id as "organizationId", at::float8 as at, actor_type as "actorType",
  actor_id as "actorId", actor_name as "actorName", action, resource_id as "resourceId", created_id as "createdId",
  fields, ip_address as "ipAddress", outcome, request_id as "requestId"`
const PUT = `insert into audit_log (id, organization_id, at, actor_type, actor_id, actor_name, action, resource_id,
    created_id, fields, ip_address, outcome, request_id)
  values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13)
  on conflict (id) do update set outcome = excluded.outcome, resource_id = excluded.resource_id,
    created_id = excluded.created_id`
// After a deleted entry there is nothing, since all before it were deleted too.
const LIST = `select ${COLUMNS} from audit_log
  where ($1::text is null or number < (select number from audit_log where id = $1))
    and ($2::text is null or organization_id = $2) and ($3::text is null or actor_id = $3)
    and ($4::text is null or action = $4) and ($5::text is null or resource_id = $5)
    and ($6::bigint is null or at >= $6) and ($7::bigint is null or at < $7)
  order by number desc limit $8`
const PRUNE = `delete from audit_log where number = any(array(
  select number from audit_log where at < $1 order by at limit $2))`

/** Adds audit entries to the changes of an audited action. */
export interface AuditRecorder {
  during: AuditLog['during']
  put(statements: Statements, entry: AuditEntry): Promise<void>
  accompany: Accompany
}

/** The current action is passed through AsyncLocalStorage: a method of the store could omit an argument, but every
 *  write goes through the writer. */
export function createAuditRecorder(): AuditRecorder {
  const underWay = new AsyncLocalStorage<AuditNote>()
  const put = async (statements: Statements, entry: AuditEntry) => {
    const { id, organizationId, at, actor, action, resourceId, createdId } = entry
    const rest = [JSON.stringify(entry.fields), entry.ipAddress, entry.outcome, entry.requestId]
    const values = [id, organizationId, at, actor.type, actor.id, actor.name, action, resourceId, createdId, ...rest]
    await statements.run(PUT, values)
  }
  return {
    put,
    during: (note, work) => underWay.run(note, work),
    accompany: (change) => {
      const note = underWay.getStore()
      if (note === undefined) return change
      return async (statements) => {
        let written = 0
        const value = await change({
          ...statements,
          run: async (text, values) => {
            const count = await statements.run(text, values)
            written += count
            return count
          },
        })
        if (written > 0) {
          await put(statements, note.entry())
          note.isKept = true
        }
        return value
      }
    },
  }
}

export function postgresAuditLog(reads: Reads, writer: Writer, recorder: AuditRecorder): AuditLog {
  return {
    during: recorder.during,
    put: (entry) => writer.write((statements) => recorder.put(statements, entry)),
    list: async (filter, page) => {
      const { organizationId, actorId, action, resourceId, createdAfter, createdBefore } = filter
      const asked = [page.after, organizationId, actorId, action, resourceId, createdAfter, createdBefore]
      return toPage(await reads.query<Row>(LIST, [...asked, page.limit + 1]), page, toEntry)
    },
    prune: (before, limit) => writer.write((statements) => statements.run(PRUNE, [before, limit])),
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
