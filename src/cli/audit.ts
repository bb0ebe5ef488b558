import { auditRecord } from '../web/api/routes/audit-log.ts'
import { type OperationContext, withOperations } from './operation-context.ts'
import { organization, requireOrganization } from './places.ts'
import { print, printJson, table } from './print.ts'
import type { Lists, Results } from './results.ts'
import type { Server } from './server-access.ts'

interface Options {
  config: string
  json?: true
  org?: string
  limit: number
  server?: Server | null
}

type Entry = Lists['audit_log_list']

/** Prints the newest `limit` entries of the audit log, newest first. `org` (id or name) selects one organization;
 *  without it, the list has the entries of all organizations and of the installation, and on another server those of the
 *  key's organization. Prints "no entries yet" without entries. Throws CommandFailure for an unknown `org`. */
export async function showAuditLog(options: Options): Promise<void> {
  const data = await withOperations(options, (context) => entriesOf(options, context))
  const heads = ['time', 'actor', 'from', 'action', 'resource', 'fields', 'outcome']
  if (options.json) printJson({ data })
  else print(table(heads, data.map(row)) || 'no entries yet')
}

async function entriesOf(options: Options, context: OperationContext): Promise<Entry[]> {
  const { store, operator } = context
  const { org, limit } = options
  if (store !== null) {
    const organizationId = org === undefined ? null : (await requireOrganization(org, store)).id
    const all = { actorId: null, action: null, resourceId: null, createdAfter: null, createdBefore: null }
    const { records } = await store.auditLog.list({ organizationId, ...all }, { limit, after: null })
    return records.map((entry) => ({ ...auditRecord(entry), organization_id: entry.organizationId }))
  }
  const place = await organization({ operands: [], options }, context)
  const entries: Entry[] = []
  for (let cursor: string | null = ''; cursor !== null && entries.length < limit; ) {
    const size = String(Math.min(limit - entries.length, LARGEST_PAGE))
    const query: Record<string, string> = { limit: size, ...(cursor !== '' && { cursor }) }
    const page: Results['audit_log_list'] = await operator.run('audit_log_list', { ...place, query })
    entries.push(...page.data)
    cursor = page.next_cursor
  }
  return entries
}

/** Of the API. */
const LARGEST_PAGE = 100

function row({ created_at, actor, ip_address, action, resource_id, fields, outcome }: Entry): string[] {
  const who = actor.type === 'operator' ? `operator ${actor.name}` : `${actor.name} (${actor.id})`
  return [created_at, who, ip_address ?? '-', action, resource_id ?? '-', fields.join(',') || '-', outcome]
}
