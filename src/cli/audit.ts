import type { AuditEntry } from '../model/audit-entry.ts'
import { iso } from '../model/event.ts'
import { auditRecord } from '../web/api/routes/audit-log.ts'
import { withCliContext } from './cli-context.ts'
import { requireOrganization } from './places.ts'
import { print, printJson, sanitize, table } from './print.ts'

/** Prints the newest `limit` entries of the audit log, newest first. `org` (id or name) selects one organization;
 *  without it, the list has the entries of all organizations and of the installation. Prints "no entries yet" without
 *  entries. Throws CommandFailure for an unknown `org`. */
export async function showAuditLog(options: {
  config: string
  json?: true
  org?: string
  limit: number
}): Promise<void> {
  await withCliContext(options.config, async ({ store }) => {
    const organizationId = options.org === undefined ? null : (await requireOrganization(options.org, store)).id
    const all = {
      organizationId,
      actorId: null,
      action: null,
      resourceId: null,
      createdAfter: null,
      createdBefore: null,
    }
    const { records } = await store.auditLog.list(all, { limit: options.limit, after: null })
    if (options.json) {
      const data = records.map((entry) => ({ ...auditRecord(entry), organization_id: entry.organizationId }))
      return printJson({ data })
    }
    const heads = ['time', 'actor', 'from', 'action', 'resource', 'fields', 'outcome']
    print(table(heads, records.map(row)) || 'no entries yet')
  })
}

function row({ at, actor, ipAddress, action, resourceId, fields, outcome }: AuditEntry): string[] {
  const who = sanitize(actor.type === 'operator' ? `operator ${actor.name}` : `${actor.name} (${actor.id})`)
  return [iso(at), who, ipAddress ?? '-', action, resourceId ?? '-', fields.join(',') || '-', outcome]
}
