import { partition } from '../../os/partition.ts'
import { searchVector } from '../postgres/search-words.ts'
import { foldedSubject } from '../search-text.ts'
import { marksOf } from '../search-tokens.ts'
import { slotOf, slotOfQueue } from '../slots.ts'

/** Type of a column in PostgreSQL, and its value as SQL over SQLite's tables; alone if the column has the same name there. */
type Column = ColumnType | readonly [ColumnType, string]
export type ColumnType = 'text' | 'bigint' | 'int' | 'smallint' | 'boolean' | 'bytea' | 'float8' | 'tsvector'

/** A row by the names of its columns in PostgreSQL, as SQLite has it. */
export type MovedRow = Readonly<Record<string, string | number | Uint8Array | null>>

/** Chooses what PostgreSQL's indexes of lists and searches contain of new rows. */
export interface Chosen {
  /** Organization and ID of a message → the code of its range in the search index. */
  rangeCode(organizationId: string, id: string): string
  /** Kind of an event. */
  kind(row: MovedRow): number
}

/** A table of PostgreSQL, and where its rows are in SQLite. */
export interface MovedTable {
  name: string
  columns: Readonly<Record<string, Column>>
  from: string
  /** Condition. */
  where?: string
  /** The ID by whose time rows are compared in parts: SQL over SQLite, and the column. Without it, the whole table is one
   *  part. */
  id?: readonly [sql: string, column: string]
  /** Further values of a row, for derived columns. */
  besides?: Readonly<Record<string, string>>
  /** Columns made of others; they are not compared. */
  derived?: Readonly<Record<string, readonly [ColumnType, (row: MovedRow, chosen: Chosen) => number | string | null]>>
  /** Its rows are final, or are changed again when the move ends: they move while the server runs. */
  isEarly?: boolean
  /** Other tables refer to it, so that its rows are replaced together with theirs. */
  isReferred?: boolean
  /** It contains whole mails. */
  hasLongValues?: boolean
  /** Its column `number` counts up by itself. */
  isNumbered?: boolean
}

const ATTEMPTED = 'exists (select 1 from attempts a where a.delivery_number = d.number)'
const IS_LAST =
  'not exists (select 1 from attempts l where l.delivery_number = a.delivery_number and l.number > a.number)'
/** The state of a delivery belongs to its last attempt, if there is one. */
const asAccepted = (column: string, before = 'null') => `iif(${ATTEMPTED}, ${before}, d.${column})`
const asRecorded = (column: string, before = 'null') => `iif(${IS_LAST}, d.${column}, ${before})`

const OPEN = `d.status in ('scheduled', 'queued', 'deferred')`
const posts = (table: 'webhook' | 'inbound') =>
  ({
    attempts: ['int', 'd.attempts'],
    recorded: ['int', `(select count(*) from ${table}_attempts a where a.delivery_number = d.number)`],
    attempted_at: ['bigint', `(select max(a.at) from ${table}_attempts a where a.delivery_number = d.number)`],
    recorded_at: ['bigint', `(select max(a.at) from ${table}_attempts a where a.delivery_number = d.number)`],
    accepted_at: ['bigint', 'd.created_at'],
  }) as const
/** What waits is due, or on hold. */
const DUE = {
  due_at: ['bigint', 'd.next_attempt_at'],
  held_due_at: ['bigint', 'iif(d.next_attempt_at is null, coalesce(h.due_at, 0), null)'],
} as const
const STATUSES_OF_MARKS = `d.status not in ('scheduled', 'queued', 'deferred', 'delivered')`
const ORGANIZATION_OF_DELIVERY = 'deliveries d join messages m on m.number = d.message_number'
const STATS = {
  accepted: 'bigint',
  delivered: 'bigint',
  deferred: 'bigint',
  hard_bounced: 'bigint',
  soft_bounced: 'bigint',
  late_bounced: 'bigint',
  opened: 'bigint',
  unique_opened: 'bigint',
  clicked: 'bigint',
  unique_clicked: 'bigint',
  machine_opened: 'bigint',
  machine_clicked: 'bigint',
  unsubscribed: 'bigint',
  complained: 'bigint',
  suppressed: 'bigint',
} as const
/** Counters have a row for each lane; lanes count from 1. */
const NO_LANE = { lane_id: ['int', '0'] } as const

/** Counters of the server. */
const COUNTERS: readonly MovedTable[] = [
  {
    name: 'usage',
    columns: {
      organization_id: 'text',
      name: 'text',
      period: 'text',
      ...NO_LANE,
      used: 'bigint',
    },
    // Scheduled messages are counted from the queue.
    from: `(select organization_id, name, period, used from usage
        where name not in ('stored_bytes_count', 'scheduled_messages')
      union all select organization_id, 'volume', month, accepted from volumes)`,
  },
  {
    name: 'quality_counts',
    columns: {
      width_ms: 'int',
      domain_id: 'text',
      start: 'bigint',
      ...NO_LANE,
      delivered: 'bigint',
      bounced: 'bigint',
      hard_bounced: 'bigint',
      late_bounced: 'bigint',
      complained: 'bigint',
    },
    from: 'quality_counts',
  },
  {
    name: 'stats',
    columns: {
      day: 'int',
      hour: 'int',
      organization_id: 'text',
      tag: 'text',
      mode: 'text',
      domain_id: 'text',
      ...NO_LANE,
      ...STATS,
    },
    from: 'stats',
  },
]

/** Records that grow with the mail. */
const RECORDS: readonly MovedTable[] = [
  {
    name: 'messages',
    columns: {
      id: ['text', 'm.id'],
      organization_id: 'text',
      domain_id: 'text',
      key_id: 'text',
      mode: 'text',
      source: 'text',
      sender: 'text',
      sender_address: 'text',
      recipients: 'text',
      subject: 'text',
      tags: 'text',
      metadata: 'text',
      template_id: 'text',
      size_bytes: 'bigint',
      message_id_header: 'text',
      created_at: 'bigint',
      scheduled_at: 'bigint',
      expires_at: 'bigint',
      require_tls: 'boolean',
      unsubscribe: 'boolean',
      track_opens: 'boolean',
      track_clicks: 'boolean',
      stream: 'text',
      stored_bytes: 'bigint',
    },
    besides: {
      emails: `(select group_concat(email, ' ') from
        (select email from deliveries where message_number = m.number order by position))`,
    },
    derived: {
      words: ['tsvector', (row, { rangeCode }) => wordsOf(row, rangeCode)],
      folded_subject: ['text', ({ subject }) => foldedSubject(String(subject))],
    },
    from: 'messages m',
    id: ['m.id', 'id'],
    isEarly: true,
  },
  {
    name: 'contents',
    columns: {
      owner_id: ['text', 'c.id'],
      kind: ['text', 'c.kind'],
      content: ['bytea', 'whole_content(c.kind, c.number, c.first)'],
    },
    from: `(select m.id, 'content' as kind, m.number, s.content as first
        from messages m join message_contents s on s.message_number = m.number
      union all select m.id, k.kind, r.number, iif(k.kind = 'raw', r.raw, r.parsed)
        from inbound_messages m join inbound_raws r on r.number = m.raw_number
          join (select 'raw' as kind union all select 'parsed') k
        where m.number = (select min(f.number) from inbound_messages f where f.raw_number = r.number)) c`,
    id: ['c.id', 'owner_id'],
    isEarly: true,
    hasLongValues: true,
  },
  {
    name: 'message_tags',
    columns: { organization_id: ['text', 'm.organization_id'], tag: ['text', 't.value'], message_id: ['text', 'm.id'] },
    from: 'messages m join json_each(m.tags) t',
    where: 't.key = (select min(s.key) from json_each(m.tags) s where s.value = t.value)',
    id: ['m.id', 'message_id'],
    isEarly: true,
  },
  {
    name: 'deliveries',
    columns: {
      id: ['text', 'd.id'],
      organization_id: ['text', 'm.organization_id'],
      message_id: ['text', 'm.id'],
      position: ['int', 'd.position'],
      email: ['text', 'd.email'],
      address: ['text', 'd.address'],
      type: ['text', 'd.type'],
      queue: ['text', 'd.queue'],
      status: ['text', asAccepted('status', `'queued'`)],
      attempts: ['int', asAccepted('attempts', '0')],
      last_attempt_at: ['bigint', asAccepted('last_attempt_at')],
      delivered_at: ['bigint', asAccepted('delivered_at')],
      smtp_response: ['text', asAccepted('smtp_response')],
      bounce_type: ['text', asAccepted('bounce_type')],
      bounce_code: ['text', asAccepted('bounce_code')],
    },
    from: ORGANIZATION_OF_DELIVERY,
    id: ['d.id', 'id'],
    isEarly: true,
  },
  {
    name: 'delivery_outcomes',
    columns: {
      delivery_id: ['text', 'd.id'],
      seq: [
        'int',
        '(select count(*) from attempts b where b.delivery_number = a.delivery_number and b.number <= a.number)',
      ],
      organization_id: ['text', 'm.organization_id'],
      status: ['text', asRecorded('status', `'deferred'`)],
      attempts: ['int', asRecorded('attempts', 'a.number')],
      last_attempt_at: ['bigint', asRecorded('last_attempt_at', 'a.started_at')],
      delivered_at: ['bigint', asRecorded('delivered_at')],
      smtp_response: ['text', asRecorded('smtp_response')],
      bounce_type: ['text', asRecorded('bounce_type')],
      bounce_code: ['text', asRecorded('bounce_code')],
      mx_host: ['text', asRecorded('mx_host')],
      tls: ['text', asRecorded('tls')],
      soft_bounce_reported: ['boolean', asRecorded('soft_bounce_told', '0')],
      // model/delivery.ts Attempt; `facts` is an object with the rest.
      attempt: [
        'text',
        `'{"number":' || a.number || ',"startedAt":' || a.started_at || ',"durationMs":' || a.duration_ms ||
          ',"outcome":' || json_quote(a.outcome) || ',' || substr(a.facts, 2)`,
      ],
    },
    from: `${ORGANIZATION_OF_DELIVERY} join attempts a on a.delivery_number = d.number`,
    id: ['d.id', 'delivery_id'],
    isEarly: true,
  },
  {
    name: 'message_marks',
    columns: { organization_id: ['text', 'k.organization_id'], mark: ['text', 'k.mark'], message_id: ['text', 'k.id'] },
    from: `(select m.organization_id, d.status as mark, m.id from ${ORGANIZATION_OF_DELIVERY} where ${STATUSES_OF_MARKS}
      union select m.organization_id, 'partial', m.id from ${ORGANIZATION_OF_DELIVERY} where ${STATUSES_OF_MARKS}
        and exists (select 1 from deliveries o where o.message_number = m.number and o.number <> d.number)) k`,
    id: ['k.id', 'message_id'],
    isEarly: true,
  },
  {
    name: 'engagement',
    columns: {
      delivery_id: ['text', 'd.id'],
      organization_id: ['text', 'm.organization_id'],
      opens: 'int',
      clicks: 'int',
      machine_opens: 'int',
      machine_clicks: 'int',
      unsubscribed_at: 'bigint',
    },
    from: ORGANIZATION_OF_DELIVERY,
    where: `opens > 0 or clicks > 0 or machine_opens > 0 or machine_clicks > 0 or unsubscribed_at is not null`,
    id: ['d.id', 'delivery_id'],
    isEarly: true,
  },
  {
    name: 'reports',
    columns: {
      delivery_id: ['text', 'd.id'],
      digest: 'bytea',
      number: ['bigint', 'r.number'],
      organization_id: ['text', 'm.organization_id'],
      kind: 'text',
      received_at: 'bigint',
      reporter: 'text',
      status: ['text', 'r.status'],
      diagnostic: 'text',
      cause: 'text',
      feedback_type: 'text',
    },
    from: `${ORGANIZATION_OF_DELIVERY} join reports r on r.delivery_number = d.number`,
    id: ['d.id', 'delivery_id'],
    isEarly: true,
    isNumbered: true,
  },
  {
    name: 'events',
    columns: {
      id: 'text',
      // Places are given by time, so later ones are higher (postgres/places.ts).
      place: ['bigint', 'number'],
      organization_id: 'text',
      domain_id: 'text',
      message_id: 'text',
      type: 'text',
      mode: 'text',
      created_at: 'bigint',
      body: 'text',
    },
    derived: { kind: ['bigint', (row, { kind }) => kind(row)] },
    from: 'events',
    id: ['id', 'id'],
    isEarly: true,
  },
  {
    name: 'webhook_deliveries',
    columns: {
      id: ['text', 'd.id'],
      organization_id: ['text', 'e.organization_id'],
      webhook_id: ['text', 'd.webhook_id'],
      event_id: ['text', 'e.id'],
      type: ['text', 'd.type'],
      created_at: ['bigint', 'd.created_at'],
      failed: ['boolean', `d.status = 'failed'`],
    },
    from: 'webhook_deliveries d join events e on e.number = d.event_number',
    id: ['d.id', 'id'],
    isEarly: true,
  },
  {
    name: 'webhook_attempts',
    columns: {
      delivery_id: ['text', 'd.id'],
      number: ['int', 'a.number'],
      at: 'bigint',
      duration_ms: 'bigint',
      status_code: 'int',
      error: 'text',
      response_excerpt: 'text',
    },
    from: 'webhook_deliveries d join webhook_attempts a on a.delivery_number = d.number',
    id: ['d.id', 'delivery_id'],
    isEarly: true,
  },
  {
    name: 'inbound_messages',
    columns: {
      id: ['text', 'm.id'],
      organization_id: 'text',
      domain_id: 'text',
      route_id: 'text',
      action: 'text',
      received_at: 'bigint',
      return_path: 'text',
      sender: 'text',
      recipients: 'text',
      subject: 'text',
      message_id_header: 'text',
      size_bytes: 'bigint',
      sender_ip: 'text',
      helo: 'text',
      tls: 'text',
      spf: 'text',
      dkim: 'text',
      dmarc: 'text',
      arc: 'text',
      parse_error: 'text',
      forwarded_as: 'text',
      not_forwarded: 'text',
      // The mail belongs to the first of its messages.
      content_id: [
        'text',
        `coalesce((select f.id from inbound_messages f where f.raw_number = m.raw_number order by f.number limit 1), m.id)`,
      ],
      delivery_status: 'text',
    },
    from: 'inbound_messages m',
    id: ['m.id', 'id'],
    isEarly: true,
  },
  {
    name: 'inbound_addresses',
    columns: {
      organization_id: ['text', 'a.organization_id'],
      field: 'text',
      address: 'text',
      message_id: ['text', 'm.id'],
    },
    from: 'inbound_messages m join inbound_addresses a on a.message_number = m.number',
    id: ['m.id', 'message_id'],
    isEarly: true,
  },
  {
    name: 'inbound_deliveries',
    columns: {
      id: ['text', 'd.id'],
      message_id: ['text', 'm.id'],
      route_id: ['text', 'd.route_id'],
      status: ['text', 'd.status'],
      number: ['bigint', 'd.number'],
      created_at: ['bigint', 'd.created_at'],
    },
    from: 'inbound_deliveries d join inbound_messages m on m.number = d.message_number',
    id: ['d.id', 'id'],
    isEarly: true,
    isNumbered: true,
  },
  {
    name: 'inbound_attempts',
    columns: {
      delivery_id: ['text', 'd.id'],
      number: ['int', 'a.number'],
      at: 'bigint',
      duration_ms: 'bigint',
      status_code: 'int',
      error: 'text',
      response_excerpt: 'text',
    },
    from: 'inbound_deliveries d join inbound_attempts a on a.delivery_number = d.number',
    id: ['d.id', 'delivery_id'],
    isEarly: true,
  },
  {
    name: 'removed_contents',
    columns: { message_id: ['text', 'm.id'], removed_at: ['bigint', 'r.removed_at'], reason: ['text', 'r.reason'] },
    from: 'removed_contents r join messages m on m.number = r.message_number',
    id: ['m.id', 'message_id'],
  },
  {
    name: 'content_redactions',
    columns: { message_id: ['text', 'm.id'], after_ms: ['bigint', 'r.after_ms'], due_at: ['bigint', 'r.due_at'] },
    from: 'content_redactions r join messages m on m.number = r.message_number',
    id: ['m.id', 'message_id'],
  },
]

/** What waits. No worker has anything once the server has stopped. */
const QUEUES: readonly MovedTable[] = [
  {
    name: 'delivery_queue',
    columns: {
      id: ['text', 'd.id'],
      organization_id: ['text', 'm.organization_id'],
      message_id: ['text', 'm.id'],
      key: ['text', 'd.queue'],
      ...DUE,
      attempts: ['int', 'd.attempts'],
      recorded: ['int', '(select count(*) from attempts a where a.delivery_number = d.number)'],
      attempted_at: ['bigint', 'd.last_attempt_at'],
      recorded_at: ['bigint', '(select max(a.started_at) from attempts a where a.delivery_number = d.number)'],
      seq: ['int', '(select count(*) from attempts a where a.delivery_number = d.number)'],
      accepted_at: ['bigint', 'm.created_at'],
      status: ['text', 'd.status'],
      expires_at: ['bigint', 'm.expires_at'],
      is_only_recipient: [
        'boolean',
        'not exists (select 1 from deliveries o where o.message_number = m.number and o.number <> d.number)',
      ],
    },
    derived: { slot: ['smallint', ({ key }) => slotOfQueue(String(key))] },
    from: `${ORGANIZATION_OF_DELIVERY} left join held_deliveries h on h.number = d.number`,
    where: OPEN,
    id: ['d.id', 'id'],
  },
  {
    name: 'webhook_queue',
    columns: {
      id: ['text', 'd.id'],
      organization_id: ['text', 'e.organization_id'],
      key: ['text', 'd.webhook_id'],
      ...DUE,
      ...posts('webhook'),
    },
    derived: { slot: ['smallint', ({ key }) => slotOf(String(key))] },
    from: `webhook_deliveries d join events e on e.number = d.event_number
      left join held_webhook_deliveries h on h.number = d.number`,
    where: `d.status = 'pending'`,
    id: ['d.id', 'id'],
  },
  {
    name: 'inbound_queue',
    columns: {
      id: ['text', 'd.id'],
      organization_id: ['text', 'm.organization_id'],
      key: ['text', 'd.route_id'],
      ...DUE,
      ...posts('inbound'),
    },
    derived: { slot: ['smallint', ({ key }) => slotOf(String(key))] },
    from: `inbound_deliveries d join inbound_messages m on m.number = d.message_number
      left join held_inbound_deliveries h on h.number = d.number`,
    where: `d.status = 'pending'`,
    id: ['d.id', 'id'],
  },
]

/** Tables of PostgreSQL that are made of other ones of SQLite. */
export const MADE_TABLES: readonly MovedTable[] = [...RECORDS, ...COUNTERS, ...QUEUES]

/** Tables of both databases that are not the same. */
export const DIFFERENT = new Set(MADE_TABLES.map(({ name }) => name))

/** Every table that moves, in the order in which they are written. `alike`: those of tablesAlike. */
export function movedTables(alike: readonly MovedTable[]): MovedTable[] {
  const [referred, others] = partition(alike, ({ isReferred = false }) => isReferred)
  return [...referred, ...RECORDS, ...COUNTERS, ...others, ...QUEUES]
}

function wordsOf(row: MovedRow, rangeCode: Chosen['rangeCode']): string {
  const [id, organizationId, subject, sender] = [row.id, row.organization_id, row.subject, row.sender].map(String)
  const tokens = marksOf({
    senderAddress: String(row.sender_address),
    templateId: row.template_id === null ? null : String(row.template_id),
    domainId: String(row.domain_id),
    mode: String(row.mode),
    stream: String(row.stream),
    metadata: String(row.metadata),
    id: id ?? '',
    messageIdHeader: String(row.message_id_header),
  })
  const texts = { subject: subject ?? '', sender: sender ?? '', emails: [String(row.emails ?? '')] }
  return searchVector(rangeCode(organizationId ?? '', id ?? ''), texts, tokens)
}
