import { z } from 'zod'
import type { AuditEntry } from '../../../model/audit-entry.ts'
import { iso } from '../../../model/event.ts'
import type { Store } from '../../../storage/store.ts'
import { rule } from '../access.ts'
import { type Operation, operation } from '../operation.ts'
import { pageRequest, pageResponse } from '../page.ts'
import { characters, pageFields, timeFields, timeRange } from '../schema.ts'
import { NO_RECORDS, scopeOf } from '../scope.ts'

const name = characters(100, z.string().min(1))
const listQuery = z.strictObject({
  ...pageFields,
  ...timeFields,
  action: name.optional().describe('An operation, for example `api_keys_create`.').meta({ example: 'api_keys_create' }),
  actor_id: name.optional().describe('The ID of an API key or a user, or `operator`.'),
  resource_id: name.optional(),
})

/** The operations of `/v1/audit-log`: entries of the caller's organization. */
export function auditLogOperations({ store }: { store: Pick<Store, 'auditLog'> }): Operation[] {
  return [
    operation({
      id: 'audit_log_list',
      method: 'GET',
      path: '/v1/audit-log',
      tag: 'Audit log',
      access: rule('admin', 'developer', 'test_records', 'organization'),
      summary: 'List audit log entries',
      description:
        'Every management operation is recorded, including rejected ones. Postrider writes an entry in the same transaction as the change and keeps it for one year. Sending and reading are not recorded here; see the messages for sending.',
      responses: async () => (await import('../responses/audit-log.ts')).auditLogResponses,
      query: listQuery,
      async handle({ key, organizationId, query }) {
        const { action = null, resource_id = null } = query
        const { actor_id = scopeOf(key).mode === 'test' ? key.id : null } = query
        // A test key can only list its own entries: those of live keys describe changes to live records.
        if (scopeOf(key).mode === 'test' && actor_id !== key.id) return pageResponse(NO_RECORDS, () => null)
        const who = { organizationId, action, actorId: actor_id, resourceId: resource_id }
        return pageResponse(await store.auditLog.list({ ...who, ...timeRange(query) }, pageRequest(query)), auditRecord)
      },
    }),
  ]
}

/** Audit entry → its JSON record, for the API and the command line. */
export function auditRecord(entry: AuditEntry) {
  return {
    id: entry.id,
    created_at: iso(entry.at),
    actor: entry.actor,
    action: entry.action,
    resource_id: entry.resourceId,
    created_id: entry.createdId,
    fields: entry.fields,
    ip_address: entry.ipAddress,
    outcome: entry.outcome,
    request_id: entry.requestId,
  }
}
