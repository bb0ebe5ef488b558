import { DELIVERY_STATE, MESSAGE_STATUS } from '../postgres/message-row.ts'
import { columnsOf } from './source.ts'
import type { ColumnType, MovedTable } from './tables.ts'

/** A table of SQLite, and where its rows are in PostgreSQL. */
export interface BackTable {
  name: string
  /** By column of SQLite: SQL over PostgreSQL's tables. */
  columns: Readonly<Record<string, string>>
  /** Columns whose value is looked up in SQLite, by the ID that is in `columns`. */
  found?: Readonly<Record<string, string>>
  from: string
}

const numberIn = (table: string) => `(select number from ${table} where id = ?)`
const same = (...names: string[]) => Object.fromEntries(names.map((name) => [name, name]))
const times = (prefix: string, ...names: string[]) =>
  Object.fromEntries(names.map((name) => [name, `${prefix}${name}::float8`]))
const sums = (...names: string[]) => Object.fromEntries(names.map((name) => [name, `sum(${name})::float8`]))

/** Tables with the same columns on both sides; what the operator is removing stays behind. */
const backOf = (table: MovedTable): BackTable => ({
  name: table.name,
  columns: Object.fromEntries(columnsOf(table).map(([name, type]) => [name, read(name, type)])),
  from: REMOVABLE.has(table.name) ? `${table.name} where not removing` : table.name,
})

const REMOVABLE = new Set(['inbound_routes', 'webhooks'])

function read(name: string, type: ColumnType): string {
  if (type === 'boolean') return `${name}::int`
  return type === 'bigint' ? `${name}::float8` : name
}

const state = (column: string) => `case when o.delivery_id is null then d.${column} else o.${column} end`
const attempt = (name: string) => `(a.attempt::json ->> '${name}')`
const posts = (table: 'webhook' | 'inbound') => ({
  attempts: `coalesce(q.attempts, (select count(*) from ${table}_attempts a where a.delivery_id = d.id))::int`,
  next_attempt_at: 'q.due_at::float8',
  created_at: 'd.created_at::float8',
})
const postAttempts = (table: 'webhook' | 'inbound', from: string): BackTable => ({
  name: `${table}_attempts`,
  columns: {
    delivery_number: 'a.delivery_id',
    number: 'a.number',
    at: 'a.at::float8',
    duration_ms: 'a.duration_ms::float8',
    status_code: 'a.status_code',
    error: 'a.error',
    response_excerpt: 'a.response_excerpt',
  },
  found: { delivery_number: numberIn(`${table}_deliveries`) },
  from,
})
const held = (table: string, queue: string): BackTable => ({
  name: `held_${table}`,
  columns: { number: 'id', due_at: 'held_due_at::float8' },
  found: { number: numberIn(table) },
  from: `${queue} where due_at is null`,
})
/** Those of webhooks that are being removed go with them. */
const KEPT_POSTS = `webhook_deliveries d join events e on e.id = d.event_id
  join webhooks w on w.id = d.webhook_id and not w.removing`
const COUNTS = [
  'accepted',
  'delivered',
  'deferred',
  'hard_bounced',
  'soft_bounced',
  'late_bounced',
  'opened',
  'unique_opened',
  'clicked',
  'unique_clicked',
  'machine_opened',
  'machine_clicked',
  'unsubscribed',
  'complained',
  'suppressed',
]

const MADE: readonly BackTable[] = [
  {
    name: 'usage',
    columns: { ...same('organization_id', 'name', 'period'), ...sums('used') },
    from: `usage where name not in ('volume', 'ever_scheduled') group by organization_id, name, period`,
  },
  {
    name: 'volumes',
    columns: { organization_id: 'organization_id', month: 'period', accepted: 'sum(used)::float8' },
    from: `usage where name = 'volume' group by organization_id, period`,
  },
  {
    name: 'quality_counts',
    columns: {
      ...same('width_ms', 'domain_id'),
      ...times('', 'start'),
      ...sums('delivered', 'bounced', 'hard_bounced', 'late_bounced', 'complained'),
    },
    from: 'quality_counts group by width_ms, domain_id, start',
  },
  {
    name: 'stats',
    columns: { ...same('day', 'hour', 'organization_id', 'tag', 'mode', 'domain_id'), ...sums(...COUNTS) },
    from: 'stats group by day, hour, organization_id, tag, mode, domain_id',
  },
  {
    name: 'messages',
    columns: {
      ...same('id', 'organization_id', 'domain_id', 'key_id', 'mode', 'source', 'stream', 'sender', 'sender_address'),
      status: MESSAGE_STATUS,
      ...same('recipients', 'subject', 'tags', 'metadata', 'template_id', 'message_id_header'),
      ...times('', 'size_bytes', 'created_at', 'scheduled_at', 'expires_at', 'stored_bytes'),
      require_tls: 'require_tls::int',
      unsubscribe: 'unsubscribe::int',
      track_opens: 'track_opens::int',
      track_clicks: 'track_clicks::int',
    },
    from: 'messages m order by m.id',
  },
  {
    name: 'message_tags',
    columns: { ...same('organization_id', 'tag'), message_number: 'message_id' },
    found: { message_number: numberIn('messages') },
    from: 'message_tags',
  },
  {
    name: 'deliveries',
    columns: {
      id: 'd.id',
      message_number: 'd.message_id',
      position: 'd.position',
      email: 'd.email',
      address: 'd.address',
      type: 'd.type',
      queue: 'd.queue',
      status: 'coalesce(o.status, d.status)',
      attempts: 'coalesce(q.attempts, o.attempts, d.attempts)',
      last_attempt_at: `(case when q.id is null then ${state('last_attempt_at')} else q.attempted_at end)::float8`,
      next_attempt_at: 'q.due_at::float8',
      delivered_at: `(${state('delivered_at')})::float8`,
      smtp_response: state('smtp_response'),
      bounce_type: state('bounce_type'),
      bounce_code: state('bounce_code'),
      mx_host: 'o.mx_host',
      tls: 'o.tls',
      opens: 'coalesce(e.opens, 0)',
      clicks: 'coalesce(e.clicks, 0)',
      machine_opens: 'coalesce(e.machine_opens, 0)',
      machine_clicks: 'coalesce(e.machine_clicks, 0)',
      unsubscribed_at: 'e.unsubscribed_at::float8',
      soft_bounce_told: 'coalesce(o.soft_bounce_reported, false)::int',
    },
    found: { message_number: numberIn('messages') },
    from: `deliveries d ${DELIVERY_STATE} order by d.id`,
  },
  held('deliveries', 'delivery_queue'),
  {
    name: 'attempts',
    columns: {
      delivery_number: 'a.delivery_id',
      number: `${attempt('number')}::int`,
      started_at: `${attempt('startedAt')}::float8`,
      duration_ms: `${attempt('durationMs')}::float8`,
      outcome: attempt('outcome'),
      facts: `(a.attempt::jsonb - array['number', 'startedAt', 'durationMs', 'outcome'])::text`,
    },
    found: { delivery_number: numberIn('deliveries') },
    from: 'delivery_outcomes a where a.attempt is not null',
  },
  {
    name: 'reports',
    columns: {
      ...times('', 'number', 'received_at'),
      delivery_number: 'delivery_id',
      ...same('digest', 'kind', 'reporter', 'status', 'diagnostic', 'cause', 'feedback_type'),
    },
    found: { delivery_number: numberIn('deliveries') },
    from: 'reports order by reports.number',
  },
  {
    name: 'events',
    columns: {
      ...same('id', 'type', 'organization_id', 'domain_id', 'message_id', 'mode', 'body'),
      ...times('', 'created_at'),
    },
    from: 'events order by place',
  },
  {
    name: 'webhook_deliveries',
    columns: {
      id: 'd.id',
      webhook_id: 'd.webhook_id',
      event_number: 'd.event_id',
      type: 'd.type',
      status: `case when q.id is not null then 'pending' when d.failed then 'failed' else 'delivered' end`,
      ...posts('webhook'),
    },
    found: { event_number: numberIn('events') },
    from: `${KEPT_POSTS} left join webhook_queue q on q.id = d.id order by d.created_at, d.id`,
  },
  held('webhook_deliveries', 'webhook_queue'),
  {
    name: 'removed_contents',
    columns: { message_number: 'message_id', removed_at: 'removed_at::float8', reason: 'reason' },
    found: { message_number: numberIn('messages') },
    from: 'removed_contents',
  },
  {
    name: 'content_redactions',
    columns: { message_number: 'message_id', after_ms: 'after_ms::float8', due_at: 'due_at::float8' },
    found: { message_number: numberIn('messages') },
    from: 'content_redactions',
  },
  postAttempts('webhook', `${KEPT_POSTS} join webhook_attempts a on a.delivery_id = d.id`),
  {
    name: 'inbound_messages',
    columns: {
      ...same('id', 'organization_id', 'domain_id', 'route_id', 'action', 'return_path', 'sender', 'recipients'),
      ...same('subject', 'message_id_header', 'sender_ip', 'helo', 'tls', 'spf', 'dkim', 'dmarc', 'arc'),
      ...same('parse_error', 'forwarded_as', 'not_forwarded', 'delivery_status'),
      ...times('', 'received_at', 'size_bytes'),
      raw_number: 'content_id',
    },
    found: { raw_number: '(select number from temp.raws where owner = ?)' },
    from: 'inbound_messages m order by m.id',
  },
  {
    name: 'inbound_addresses',
    columns: { ...same('organization_id', 'field', 'address'), message_number: 'message_id' },
    found: { message_number: numberIn('inbound_messages') },
    from: 'inbound_addresses',
  },
  {
    name: 'inbound_deliveries',
    columns: {
      number: 'd.number::float8',
      id: 'd.id',
      message_number: 'd.message_id',
      route_id: 'd.route_id',
      status: 'd.status',
      ...posts('inbound'),
    },
    found: { message_number: numberIn('inbound_messages') },
    from: 'inbound_deliveries d left join inbound_queue q on q.id = d.id order by d.number',
  },
  held('inbound_deliveries', 'inbound_queue'),
  postAttempts('inbound', 'inbound_attempts a'),
]

/** Every table but those of contents, in the order in which they are written. `alike`: those of tablesAlike. */
export const backTables = (alike: readonly MovedTable[]): BackTable[] => [...alike.map(backOf), ...MADE]

/** Made of the others in SQLite, once they are written. */
export const MADE_LAST = `
  insert into event_kinds select distinct organization_id, number / 1024, type, mode, coalesce(domain_id, '') from events;
  insert into usage select organization_id, 'scheduled_messages', '', count(*) from messages
    where status = 'scheduled' group by organization_id;
  delete from storage_count;`
