import type { Permission } from '../model/api-key.ts'
import { ROLES, type Role } from '../model/user.ts'

/** The right to call an operation, one row of the permission table, and the only place where rights are written down.
 *  `operation()` adds permission, role and test-key rule to the operation, and rights.ts checks them: for requests before
 *  the body is read, for compatible APIs, tools of /mcp, SMTP logins and open invitations. scripts/permission-table.ts
 *  writes the table into the manual's pages `keys` and `users`. test/api/walk.test.ts tests every row with every kind of
 *  key, test/api/roles.test.ts with every role, and test/fuzz/rights.test.ts after random grants. An operation without a
 *  row does not compile. */
export interface AccessRule {
  /** Of an API key. `admin` implies all others; the others imply nothing. No key may call an operation of the operator. */
  permission: Permission
  /** The least role that may call it in a dashboard session, or whose user's keys may; roles before it in ROLES may too. */
  role: LeastRole
  testKey: TestKeyRule
  reach: Reach
  /** The operation creates, changes or revokes a key. The calling key must be able to grant all its rights
   *  (grants.ts). */
  grants?: true
}

/** `operator`: only operators of the installation, in a dashboard session or on the command line, who may call
 *  everything. */
export type LeastRole = Role | 'operator'

/** Access of a test key:
 *
 *  - `test_records`: reads, changes and creates test records only. Requests for live records get 404, and
 *    lists and sums omit them.
 *  - `no_records`: same access as a live key, because the operation uses no records with a mode.
 *  - `refused`: 403, because the operation affects live mail. */
export type TestKeyRule = 'test_records' | 'no_records' | 'refused'

/** Access of a key without `admin`. Requests for other records of the organization get 403, and lists omit
 *  them.
 *
 *  - `own_domain`: records of its own domain.
 *  - `own_or_shared`: also records of the whole organization. Changing those requires `admin`, unless the organization
 *    has no other domain.
 *  - `organization`: the operation's records belong to no domain, so a key can access all of them. */
export type Reach = 'own_domain' | 'own_or_shared' | 'organization'

const rule = (permission: Permission, role: LeastRole, testKey: TestKeyRule, reach: Reach): AccessRule => ({
  permission,
  role,
  testKey,
  reach,
})
const GRANT: AccessRule = { ...rule('manage', 'developer', 'test_records', 'own_domain'), grants: true }
const OPERATOR = rule('admin', 'operator', 'refused', 'organization')

/** Operation ID → its access rule.
 *
 *  For people, webhooks and inbound routes begin at `developer`, because their URLs often contain a secret. `owner` alone
 *  manages users and plans, and grants keys with `admin`, which can do both. */
export const PERMISSION_TABLE = {
  messages_send: rule('send', 'developer', 'test_records', 'own_domain'),
  messages_batch: rule('send', 'developer', 'test_records', 'own_domain'),
  messages_analyze: rule('send', 'developer', 'no_records', 'own_domain'),
  messages_list: rule('read', 'viewer', 'test_records', 'own_domain'),
  messages_get: rule('read', 'viewer', 'test_records', 'own_domain'),
  messages_content: rule('read', 'viewer', 'test_records', 'own_domain'),
  messages_delete_content: rule('manage', 'admin', 'test_records', 'own_domain'),
  messages_attachment: rule('read', 'viewer', 'test_records', 'own_domain'),
  messages_events: rule('read', 'viewer', 'test_records', 'own_domain'),
  messages_attempts: rule('read', 'viewer', 'test_records', 'own_domain'),
  messages_webhook_deliveries: rule('manage', 'developer', 'test_records', 'own_domain'),
  messages_explain: rule('read', 'viewer', 'test_records', 'own_domain'),
  messages_update: rule('send', 'support', 'test_records', 'own_domain'),
  messages_cancel: rule('send', 'support', 'test_records', 'own_domain'),
  messages_resend: rule('send', 'support', 'test_records', 'own_domain'),
  explain_address: rule('read', 'viewer', 'test_records', 'own_domain'),

  events_list: rule('read', 'viewer', 'test_records', 'own_domain'),
  events_get: rule('read', 'viewer', 'test_records', 'own_domain'),
  events_stream: rule('read', 'viewer', 'test_records', 'own_domain'),
  stats_read: rule('read', 'viewer', 'test_records', 'own_domain'),
  quality_list: rule('read', 'viewer', 'test_records', 'own_domain'),

  templates_create: rule('manage', 'developer', 'test_records', 'organization'),
  templates_list: rule('manage', 'viewer', 'test_records', 'organization'),
  templates_get: rule('manage', 'viewer', 'test_records', 'organization'),
  templates_update: rule('manage', 'developer', 'test_records', 'organization'),
  templates_delete: rule('manage', 'developer', 'test_records', 'organization'),
  templates_render: rule('manage', 'viewer', 'test_records', 'organization'),
  templates_preview: rule('manage', 'viewer', 'no_records', 'organization'),
  templates_versions: rule('manage', 'viewer', 'test_records', 'organization'),

  suppressions_list: rule('read', 'viewer', 'test_records', 'own_or_shared'),
  suppressions_get: rule('read', 'viewer', 'test_records', 'own_or_shared'),
  suppressions_export: rule('read', 'viewer', 'test_records', 'own_or_shared'),
  suppressions_create: rule('manage', 'support', 'test_records', 'own_or_shared'),
  suppressions_import: rule('manage', 'support', 'test_records', 'own_or_shared'),
  suppressions_delete: rule('manage', 'support', 'test_records', 'own_or_shared'),

  recipients_erase: rule('admin', 'admin', 'refused', 'organization'),
  recipients_erasures_list: rule('admin', 'admin', 'refused', 'organization'),
  recipients_erasure_get: rule('admin', 'admin', 'refused', 'organization'),

  webhooks_create: rule('manage', 'developer', 'test_records', 'own_domain'),
  webhooks_list: rule('manage', 'developer', 'test_records', 'own_domain'),
  webhooks_get: rule('manage', 'developer', 'test_records', 'own_domain'),
  webhooks_update: rule('manage', 'developer', 'test_records', 'own_domain'),
  webhooks_delete: rule('manage', 'developer', 'test_records', 'own_domain'),
  webhooks_test: rule('manage', 'developer', 'test_records', 'own_domain'),
  webhooks_rotate_secret: rule('manage', 'developer', 'test_records', 'own_domain'),
  webhooks_replay: rule('manage', 'developer', 'test_records', 'own_domain'),
  webhook_deliveries_list: rule('manage', 'developer', 'test_records', 'own_domain'),
  webhook_deliveries_get: rule('manage', 'developer', 'test_records', 'own_domain'),
  webhook_deliveries_retry: rule('manage', 'developer', 'test_records', 'own_domain'),

  domains_create: rule('manage', 'developer', 'refused', 'organization'),
  domains_list: rule('manage', 'viewer', 'no_records', 'organization'),
  domains_dns_host: rule('manage', 'viewer', 'no_records', 'organization'),
  domains_dmarc: rule('read', 'viewer', 'test_records', 'own_domain'),
  domains_tls_reports: rule('read', 'viewer', 'test_records', 'own_domain'),
  domains_get: rule('manage', 'viewer', 'no_records', 'organization'),
  domains_verify: rule('manage', 'developer', 'refused', 'organization'),
  domains_update: rule('manage', 'developer', 'refused', 'own_domain'),
  domains_rotate_dkim: rule('manage', 'developer', 'refused', 'own_domain'),
  domains_delete: rule('admin', 'admin', 'refused', 'organization'),

  inbound_routes_create: rule('manage', 'developer', 'refused', 'own_domain'),
  inbound_routes_list: rule('manage', 'developer', 'test_records', 'own_domain'),
  inbound_routes_get: rule('manage', 'developer', 'test_records', 'own_domain'),
  inbound_routes_update: rule('manage', 'developer', 'test_records', 'own_domain'),
  inbound_routes_delete: rule('manage', 'developer', 'test_records', 'own_domain'),
  inbound_routes_test: rule('manage', 'developer', 'test_records', 'own_domain'),
  inbound_routes_confirmations: rule('manage', 'developer', 'test_records', 'own_domain'),
  inbound_messages_list: rule('read', 'viewer', 'test_records', 'own_domain'),
  inbound_messages_get: rule('read', 'viewer', 'test_records', 'own_domain'),
  inbound_messages_raw: rule('read', 'viewer', 'test_records', 'own_domain'),
  inbound_messages_deliveries: rule('read', 'developer', 'test_records', 'own_domain'),
  inbound_messages_redeliver: rule('manage', 'support', 'test_records', 'own_domain'),

  api_keys_create: GRANT,
  api_keys_list: rule('manage', 'developer', 'test_records', 'own_domain'),
  api_keys_get: rule('manage', 'developer', 'test_records', 'own_domain'),
  api_keys_update: GRANT,
  api_keys_revoke: GRANT,
  api_keys_rotate: GRANT,

  audit_log_list: rule('admin', 'developer', 'test_records', 'organization'),
  invitations_create: rule('admin', 'owner', 'refused', 'organization'),
  invitations_list: rule('admin', 'owner', 'refused', 'organization'),
  invitations_delete: rule('admin', 'owner', 'refused', 'organization'),
  users_list: rule('admin', 'owner', 'refused', 'organization'),
  users_create: OPERATOR,
  users_get: rule('admin', 'owner', 'refused', 'organization'),
  users_update: rule('admin', 'owner', 'refused', 'organization'),
  users_delete: rule('admin', 'owner', 'refused', 'organization'),
  users_sessions_list: rule('admin', 'owner', 'refused', 'organization'),
  users_sessions_delete: rule('admin', 'owner', 'refused', 'organization'),
  users_reset: OPERATOR,
  usage_get: rule('read', 'viewer', 'test_records', 'organization'),
  billing_get: rule('admin', 'owner', 'test_records', 'organization'),
  billing_update: rule('admin', 'owner', 'refused', 'organization'),

  organizations_list: OPERATOR,
  organizations_create: OPERATOR,
  organizations_get: OPERATOR,
  organizations_update: OPERATOR,
  plans_list: OPERATOR,
  configuration_get: OPERATOR,
  health_checks_list: OPERATOR,
  health_checks_run: OPERATOR,
  queues_get: OPERATOR,
  nodes_list: OPERATOR,
  sending_addresses_list: OPERATOR,
  relays_list: OPERATOR,
  alerts_list: OPERATOR,
  alerts_test: OPERATOR,
  canary_list: OPERATOR,
  canary_run: OPERATOR,
  sessions_list: OPERATOR,
  sessions_delete: OPERATOR,
  blocked_links_list: OPERATOR,
  blocked_links_create: OPERATOR,
  blocked_links_delete: OPERATOR,
} as const satisfies Record<string, AccessRule>

/** ID of an operation in the permission table. */
export type OperationId = keyof typeof PERMISSION_TABLE

const ROWS = new Map<string, AccessRule>(Object.entries(PERMISSION_TABLE))

/** Operation ID → its access rule; undefined if the table has no such row. */
export function accessOf(id: string): AccessRule | undefined {
  return ROWS.get(id)
}

/** A role → the operations that it may not call, with the least role that may; {} for `operator`. The dashboard hides them. */
export function refusedTo(role: LeastRole): Record<string, LeastRole> {
  const refused = [...ROWS].filter(([, { role: least }]) => !includes(role, least))
  return Object.fromEntries(refused.map(([id, { role: least }]) => [id, least]))
}

/** True if a role has the rights of another one. */
export function includes(held: LeastRole, least: LeastRole): boolean {
  return held === 'operator' || (least !== 'operator' && ROLES.indexOf(held) <= ROLES.indexOf(least))
}

/** Access rule → sentences that describe it, in CommonMark, for the description of an operation. */
export function accessWords({
  permission,
  role,
  testKey,
  reach,
  grants,
}: Omit<AccessRule, 'role'> & { role?: LeastRole }): string {
  if (role === 'operator') return 'Requires the `operator` of this server, signed in to the dashboard.'
  const words = [`Requires the permission \`${permission}\`.`]
  if (testKey === 'refused') words.push('Test keys get 403.')
  if (testKey === 'test_records') words.push('Test keys can access test records only and get 404 for live ones.')
  if (permission !== 'admin' && reach !== 'organization')
    words.push('Without `admin`, a key can access its own domain only.')
  if (grants) words.push('The key must be able to grant every permission of the affected key.')
  return words.join(' ')
}

/** The permission table in Markdown, for the manual. Operations with the same rule share a row. */
export function renderPermissionTable(): string {
  const rows = new Map<string, string[]>()
  for (const [id, rule] of Object.entries<AccessRule>(PERMISSION_TABLE)) {
    const cells = rule.role === 'operator' ? OPERATOR_CELLS : cellsOf(rule)
    rows.set(cells, [...(rows.get(cells) ?? []), `\`${id}\``])
  }
  const lines = [...rows].map(([cells, ids]) => `| ${ids.join(' ')} | ${cells} |`)
  return ['| Operations | Permission | Test key | Key without `admin` |', '|---|---|---|---|', ...lines].join('\n')
}

const OPERATOR_CELLS = 'operator | 403 | 403'

function cellsOf({ permission, testKey, reach, grants }: AccessRule): string {
  const needed = grants ? `${permission}, and the right to grant the other key’s permissions` : permission
  return `${needed} | ${TEST_KEY_CELLS[testKey]} | ${permission === 'admin' ? '403' : REACH_CELLS[reach]}`
}

const TEST_KEY_CELLS: Record<TestKeyRule, string> = {
  test_records: 'test records only',
  no_records: 'same as a live key',
  refused: '403',
}

const REACH_CELLS: Record<Reach, string> = {
  own_domain: 'own domain',
  own_or_shared: 'own domain; can read organization-wide records',
  organization: 'whole organization',
}

/** Operations in a row of the table of roles, for narrow screens. */
const PER_ROW = 12

/** The table of roles in Markdown, for the manual. */
export function renderRoleTable(): string {
  const rows = [...[...ROLES].reverse(), 'operator' as const].flatMap((role) => {
    const ids = [...ROWS].filter(([, rule]) => rule.role === role).map(([id]) => `\`${id}\``)
    const parts = Array.from({ length: Math.ceil(ids.length / PER_ROW) }, (_, at) =>
      ids.slice(at * PER_ROW, (at + 1) * PER_ROW),
    )
    return parts.map((part) => `| \`${role}\` | ${part.join(' ')} |`)
  })
  return ['| Least role | Operations |', '|---|---|', ...rows].join('\n')
}
