import { Refusal } from '../model/refusal.ts'
import { grantsOf, ROLES, type Role, type User } from '../model/user.ts'
import type { Maker } from './makers.ts'
import type { Operation } from './operation.ts'
import type { OperationId } from './permission-table.ts'

/** Operation → the least role that may call it in a dashboard session; roles before it in ROLES may too. `operator`: only
 *  operators of the installation, who may call everything. respond.ts enforces the table, and test/api/roles.test.ts
 *  calls every operation with every role. An operation without an entry does not compile.
 *
 *  Webhooks and inbound routes begin at `developer`, because their URLs often contain a secret. `owner` alone manages
 *  users and plans, and grants keys with `admin`, which can do both. */
export const ROLE_TABLE = {
  messages_send: 'developer',
  messages_batch: 'developer',
  messages_analyze: 'developer',
  messages_list: 'viewer',
  messages_get: 'viewer',
  messages_content: 'viewer',
  messages_delete_content: 'admin',
  messages_attachment: 'viewer',
  messages_events: 'viewer',
  messages_attempts: 'viewer',
  messages_webhook_deliveries: 'developer',
  messages_explain: 'viewer',
  messages_update: 'support',
  messages_cancel: 'support',
  messages_resend: 'support',
  explain_address: 'viewer',

  events_list: 'viewer',
  events_get: 'viewer',
  events_stream: 'viewer',
  stats_read: 'viewer',
  quality_list: 'viewer',
  domains_dmarc: 'viewer',
  domains_tls_reports: 'viewer',

  templates_create: 'developer',
  templates_list: 'viewer',
  templates_get: 'viewer',
  templates_update: 'developer',
  templates_delete: 'developer',
  templates_render: 'viewer',
  templates_preview: 'viewer',
  templates_versions: 'viewer',

  suppressions_list: 'viewer',
  suppressions_get: 'viewer',
  suppressions_export: 'viewer',
  suppressions_create: 'support',
  suppressions_import: 'support',
  suppressions_delete: 'support',

  recipients_erase: 'admin',
  recipients_erasures_list: 'admin',
  recipients_erasure_get: 'admin',

  webhooks_create: 'developer',
  webhooks_list: 'developer',
  webhooks_get: 'developer',
  webhooks_update: 'developer',
  webhooks_delete: 'developer',
  webhooks_test: 'developer',
  webhooks_rotate_secret: 'developer',
  webhooks_replay: 'developer',
  webhook_deliveries_list: 'developer',
  webhook_deliveries_get: 'developer',
  webhook_deliveries_retry: 'developer',

  domains_create: 'developer',
  domains_list: 'viewer',
  domains_get: 'viewer',
  domains_dns_host: 'viewer',
  domains_verify: 'developer',
  domains_update: 'developer',
  domains_rotate_dkim: 'developer',
  domains_delete: 'admin',

  inbound_routes_create: 'developer',
  inbound_routes_list: 'developer',
  inbound_routes_get: 'developer',
  inbound_routes_update: 'developer',
  inbound_routes_delete: 'developer',
  inbound_routes_test: 'developer',
  inbound_routes_confirmations: 'developer',
  inbound_messages_list: 'viewer',
  inbound_messages_get: 'viewer',
  inbound_messages_raw: 'viewer',
  inbound_messages_deliveries: 'developer',
  inbound_messages_redeliver: 'support',

  api_keys_create: 'developer',
  api_keys_list: 'developer',
  api_keys_get: 'developer',
  api_keys_update: 'developer',
  api_keys_revoke: 'developer',
  api_keys_rotate: 'developer',

  audit_log_list: 'developer',
  invitations_create: 'owner',
  invitations_list: 'owner',
  invitations_delete: 'owner',
  users_list: 'owner',
  users_create: 'operator',
  users_get: 'owner',
  users_update: 'owner',
  users_delete: 'owner',
  users_sessions_list: 'owner',
  users_sessions_delete: 'owner',
  users_reset: 'operator',
  usage_get: 'viewer',
  billing_get: 'owner',
  billing_update: 'owner',

  organizations_list: 'operator',
  organizations_create: 'operator',
  organizations_get: 'operator',
  organizations_update: 'operator',
  plans_list: 'operator',
  configuration_get: 'operator',
  health_checks_list: 'operator',
  health_checks_run: 'operator',
  queues_get: 'operator',
  nodes_list: 'operator',
  sending_addresses_list: 'operator',
  alerts_list: 'operator',
  alerts_test: 'operator',
  canary_list: 'operator',
  canary_run: 'operator',
  relays_list: 'operator',
  sessions_list: 'operator',
  sessions_delete: 'operator',
  blocked_links_list: 'operator',
  blocked_links_create: 'operator',
  blocked_links_delete: 'operator',
} as const satisfies Record<OperationId, LeastRole>

/** The least role of an operation. */
export type LeastRole = Role | 'operator'

const LEAST = new Map<string, LeastRole>(Object.entries(ROLE_TABLE))

/** True if a role may call the operation. False for an operation without an entry, and without a role. */
export function roleAllows(role: Role | undefined, operationId: string): boolean {
  const least = LEAST.get(operationId) ?? 'operator'
  return role !== undefined && least !== 'operator' && ROLES.indexOf(role) <= ROLES.indexOf(least)
}

/** A role → the operations that it may not call, with the least role that may; {} for `operator`. The dashboard hides them. */
export function refusedTo(role: LeastRole): Record<string, LeastRole> {
  if (role === 'operator') return {}
  return Object.fromEntries([...LEAST].filter(([id]) => !roleAllows(role, id)))
}

/** Throws `forbidden` unless the user may call the operation in the organization. The response is the same for an
 *  organization that does not exist and one in which the user has no role. */
export function requireRole(user: User, organizationId: string, { id }: Pick<Operation, 'id'>): void {
  const role = user.roles[organizationId]
  if (user.isOperator || roleAllows(role, id)) return
  const required = LEAST.get(id) ?? 'operator'
  const message =
    role === undefined
      ? 'You have no role in this organization.'
      : required === 'operator'
        ? 'Only the operator of this server can do this.'
        : `This requires the role ${required}. Your role is ${role}.`
  throw new Refusal('forbidden', message, { details: { required, held: role ?? null } })
}

/** Throws `forbidden` if the user who made a key may not call the operation in the organization any more. Null: the key has
 *  no maker. Rights that wait for a verified address count, so that a key does not stop while the person proves it. */
export function requireMaker(maker: Maker | null, organizationId: string, { id }: Pick<Operation, 'id'>): void {
  if (maker === null) return
  const { isOperator, roles } = grantsOf(maker)
  if (maker.disabledAt === null && (isOperator || roleAllows(roles[organizationId], id))) return
  throw new Refusal('forbidden', 'The user who made this key may not do this. Use a key of somebody else.', {
    details: { required: LEAST.get(id) ?? 'operator', created_by: maker.id },
  })
}

/** Operations in a row of the table, for narrow screens. */
const PER_ROW = 12

/** The table in Markdown, for the manual. */
export function renderRoleTable(): string {
  const byRole = new Map<LeastRole, string[]>()
  for (const [id, least] of LEAST) byRole.set(least, [...(byRole.get(least) ?? []), `\`${id}\``])
  const rows = [...[...ROLES].reverse(), 'operator' as const].flatMap((role) => {
    const ids = byRole.get(role) ?? []
    const parts = Array.from({ length: Math.ceil(ids.length / PER_ROW) }, (_, at) =>
      ids.slice(at * PER_ROW, (at + 1) * PER_ROW),
    )
    return parts.map((part) => `| \`${role}\` | ${part.join(' ')} |`)
  })
  return ['| Least role | Operations |', '|---|---|', ...rows].join('\n')
}
