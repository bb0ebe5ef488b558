import type { Permission } from '../model/api-key.ts'

/** The access rule of an operation, one row of the permission table. `operation()` adds permission and test-key rule to
 *  the operation, and respond.ts enforces them before it reads the body. scripts/permission-table.ts writes the table
 *  into the manual's page `keys`, and test/api/walk.test.ts tests every row with every kind of key. An operation
 *  without a row does not compile. */
export interface AccessRule {
  /** `admin` implies all others; the others imply nothing. */
  permission: Permission
  /** Only for the operator, in a dashboard session or on the command line. API keys get 403. */
  forOperator?: true
  testKey: TestKeyRule
  reach: Reach
  /** The operation creates, changes or revokes a key. The calling key must be able to grant all its rights
   *  (grants.ts). */
  grants?: true
}

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

const rule = (permission: Permission, testKey: TestKeyRule, reach: Reach): AccessRule => ({
  permission,
  testKey,
  reach,
})
const grant = (): AccessRule => ({ ...rule('manage', 'test_records', 'own_domain'), grants: true })
const OPERATOR: AccessRule = { ...rule('admin', 'refused', 'organization'), forOperator: true }

/** Operation ID → its access rule. */
export const PERMISSION_TABLE = {
  messages_send: rule('send', 'test_records', 'own_domain'),
  messages_batch: rule('send', 'test_records', 'own_domain'),
  messages_analyze: rule('send', 'no_records', 'own_domain'),
  messages_list: rule('read', 'test_records', 'own_domain'),
  messages_get: rule('read', 'test_records', 'own_domain'),
  messages_content: rule('read', 'test_records', 'own_domain'),
  messages_delete_content: rule('manage', 'test_records', 'own_domain'),
  messages_attachment: rule('read', 'test_records', 'own_domain'),
  messages_events: rule('read', 'test_records', 'own_domain'),
  messages_attempts: rule('read', 'test_records', 'own_domain'),
  messages_webhook_deliveries: rule('manage', 'test_records', 'own_domain'),
  messages_explain: rule('read', 'test_records', 'own_domain'),
  messages_update: rule('send', 'test_records', 'own_domain'),
  messages_cancel: rule('send', 'test_records', 'own_domain'),
  messages_resend: rule('send', 'test_records', 'own_domain'),
  explain_address: rule('read', 'test_records', 'own_domain'),

  events_list: rule('read', 'test_records', 'own_domain'),
  events_get: rule('read', 'test_records', 'own_domain'),
  events_stream: rule('read', 'test_records', 'own_domain'),
  stats_read: rule('read', 'test_records', 'own_domain'),
  quality_list: rule('read', 'test_records', 'own_domain'),

  templates_create: rule('manage', 'test_records', 'organization'),
  templates_list: rule('manage', 'test_records', 'organization'),
  templates_get: rule('manage', 'test_records', 'organization'),
  templates_update: rule('manage', 'test_records', 'organization'),
  templates_delete: rule('manage', 'test_records', 'organization'),
  templates_render: rule('manage', 'test_records', 'organization'),
  templates_preview: rule('manage', 'no_records', 'organization'),
  templates_versions: rule('manage', 'test_records', 'organization'),

  suppressions_list: rule('read', 'test_records', 'own_or_shared'),
  suppressions_get: rule('read', 'test_records', 'own_or_shared'),
  suppressions_export: rule('read', 'test_records', 'own_or_shared'),
  suppressions_create: rule('manage', 'test_records', 'own_or_shared'),
  suppressions_import: rule('manage', 'test_records', 'own_or_shared'),
  suppressions_delete: rule('manage', 'test_records', 'own_or_shared'),

  recipients_erase: rule('admin', 'refused', 'organization'),
  recipients_erasures_list: rule('admin', 'refused', 'organization'),
  recipients_erasure_get: rule('admin', 'refused', 'organization'),

  webhooks_create: rule('manage', 'test_records', 'own_domain'),
  webhooks_list: rule('manage', 'test_records', 'own_domain'),
  webhooks_get: rule('manage', 'test_records', 'own_domain'),
  webhooks_update: rule('manage', 'test_records', 'own_domain'),
  webhooks_delete: rule('manage', 'test_records', 'own_domain'),
  webhooks_test: rule('manage', 'test_records', 'own_domain'),
  webhooks_rotate_secret: rule('manage', 'test_records', 'own_domain'),
  webhooks_replay: rule('manage', 'test_records', 'own_domain'),
  webhook_deliveries_list: rule('manage', 'test_records', 'own_domain'),
  webhook_deliveries_get: rule('manage', 'test_records', 'own_domain'),
  webhook_deliveries_retry: rule('manage', 'test_records', 'own_domain'),

  domains_create: rule('manage', 'refused', 'organization'),
  domains_list: rule('manage', 'no_records', 'organization'),
  domains_dns_host: rule('manage', 'no_records', 'organization'),
  domains_dmarc: rule('read', 'test_records', 'own_domain'),
  domains_tls_reports: rule('read', 'test_records', 'own_domain'),
  domains_get: rule('manage', 'no_records', 'organization'),
  domains_verify: rule('manage', 'refused', 'organization'),
  domains_update: rule('manage', 'refused', 'own_domain'),
  domains_rotate_dkim: rule('manage', 'refused', 'own_domain'),
  domains_delete: rule('admin', 'refused', 'organization'),

  inbound_routes_create: rule('manage', 'refused', 'own_domain'),
  inbound_routes_list: rule('manage', 'test_records', 'own_domain'),
  inbound_routes_get: rule('manage', 'test_records', 'own_domain'),
  inbound_routes_update: rule('manage', 'test_records', 'own_domain'),
  inbound_routes_delete: rule('manage', 'test_records', 'own_domain'),
  inbound_routes_test: rule('manage', 'test_records', 'own_domain'),
  inbound_routes_confirmations: rule('manage', 'test_records', 'own_domain'),
  inbound_messages_list: rule('read', 'test_records', 'own_domain'),
  inbound_messages_get: rule('read', 'test_records', 'own_domain'),
  inbound_messages_raw: rule('read', 'test_records', 'own_domain'),
  inbound_messages_deliveries: rule('read', 'test_records', 'own_domain'),
  inbound_messages_redeliver: rule('manage', 'test_records', 'own_domain'),

  api_keys_create: grant(),
  api_keys_list: rule('manage', 'test_records', 'own_domain'),
  api_keys_get: rule('manage', 'test_records', 'own_domain'),
  api_keys_update: grant(),
  api_keys_revoke: grant(),
  api_keys_rotate: grant(),

  audit_log_list: rule('admin', 'test_records', 'organization'),
  invitations_create: rule('admin', 'refused', 'organization'),
  invitations_list: rule('admin', 'refused', 'organization'),
  invitations_delete: rule('admin', 'refused', 'organization'),
  users_list: rule('admin', 'refused', 'organization'),
  users_create: OPERATOR,
  users_get: rule('admin', 'refused', 'organization'),
  users_update: rule('admin', 'refused', 'organization'),
  users_delete: rule('admin', 'refused', 'organization'),
  users_sessions_list: rule('admin', 'refused', 'organization'),
  users_sessions_delete: rule('admin', 'refused', 'organization'),
  users_reset: OPERATOR,
  usage_get: rule('read', 'test_records', 'organization'),
  billing_get: rule('admin', 'test_records', 'organization'),
  billing_update: rule('admin', 'refused', 'organization'),

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

/** Access rule → sentences that describe it, in CommonMark, for the description of an operation. */
export function accessWords({ permission, forOperator, testKey, reach, grants }: AccessRule): string {
  if (forOperator) return 'Requires the `operator` of this server, signed in to the dashboard.'
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
    const cells = rule.forOperator ? OPERATOR_CELLS : cellsOf(rule)
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
