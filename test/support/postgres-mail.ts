import { codesOf, digitsOf } from '../../src/storage/postgres/search-ranges.ts'
import { marksOf } from '../../src/storage/search-tokens.ts'

/** Statements that fill an empty database with mail of 20 organizations, of which `org_0` has half. All of it is over
 *  except the newest fifth, which `org_0` has scheduled and the others have queued. `messages`: their number. The
 *  domain `dom_100` of `org_0` has none. The webhooks `whk_0` to `whk_19` and routes `rte_0` to `rte_19`, of the
 *  organizations with these numbers, are created by the store, which encrypts their secrets. */
export function mailOf(messages: number): string[] {
  const id = (prefix: string, n = 'n') => `'${prefix}_' || lpad((${n})::text, 8, '0') || '0000'`
  const organization = `'org_' || case when n % 2 = 0 then 0 else n % 20 end`
  const waiting = messages / 5
  const series = (to: number) => `generate_series(1, ${Math.floor(to)}) n`
  const at = (n = 'n') => `(${FIRST} + (${n})::bigint * 1000)`
  // A range of the search index for each organization and 1,024 messages.
  const ranges = Math.floor(messages / RANGE) + 1
  const prefixes = Array.from({ length: ranges }, (_, at) => digitsOf(at * RANGE * STEP).slice(0, -3))
  const codes = Array.from({ length: 20 * ranges }, (_, at) => {
    const prefix = prefixes[at % ranges]!
    return codesOf({ organizationId: `org_${Math.floor(at / ranges)}`, prefix }).at(-1)
  })
  const code = `(array['${codes.join("','")}'])[case when n % 2 = 0 then 0 else n % 20 end * ${ranges} + n / ${RANGE} + 1]`
  const number = (n = 'n') => `(${n}) * ${STEP}::bigint`
  const kind = (n: string) => `(${n}) % 100 * 2 + case when n % 20 = 0 then 1 else 0 end`
  const tokens = marksOf({
    senderAddress: 'ann@a.example',
    templateId: null,
    domainId: '',
    mode: 'live',
    metadata: '{}',
    id: 'msg_1',
    messageIdHeader: '<1@a.example>',
  })
  const lexemes = [`'message'`, 'n::text', ...tokens.map((token) => `'=${token}'`)]
  const words = `array_to_tsvector(array[${lexemes.map((lexeme) => `code || ${lexeme}`).join()}])`
  return [
    `insert into organizations select 'org_' || n, 'Organization ' || n, 'pro', 0 from generate_series(0, 19) n`,
    `insert into domains (id, organization_id, name, status, created_at, return_path_host, track_opens, track_clicks,
        track_unsubscribe, findings)
      select 'dom_' || n, 'org_' || n % 20, n || '.example', 'verified', 0, 'bounce.' || n || '.example', true, true,
        true, '[]' from generate_series(0, 100) n`,
    `insert into messages (number, id, organization_id, domain_id, key_id, mode, source, status, sender, sender_address,
        recipients, subject, tags, metadata, size_bytes, message_id_header, created_at, scheduled_at, expires_at,
        require_tls, unsubscribe, track_opens, track_clicks, stored_bytes)
      select ${number()}, ${id('msg')}, ${organization}, 'dom_' || n % 100, 'key_' || n % 100, 'live',
        case when n % 3 = 0 then 'smtp' else 'api' end,
        case when n <= ${messages} - ${waiting} then case when n % 20 < 2 then 'bounced' else 'delivered' end
          when n % 2 = 0 then 'scheduled' else 'queued' end,
        'Ann <ann@a.example>', 'ann@a.example', '[["Bob <bob@dest.example>"],null,null,null]', 'Message ' || n,
        '["tag' || n % 7 || '"]', '{}', 1000, '<' || n || '@a.example>', ${at()},
        case when n > ${messages} - ${waiting} and n % 2 = 0 then ${at('10 * n')} end,
        case when n % 10 = 0 then ${at('11 * n')} end, false, true, true, true, 3072
      from ${series(messages)}`,
    `insert into message_words (message_number, words) select ${number()}, ${words}
      from ${series(messages)} cross join lateral (select ${code} as code) chosen`,
    `insert into search_ranges select 'org_' || o, prefix from generate_series(0, 19) o,
      unnest(array['${prefixes.join("','")}']) prefix`,
    `insert into message_tags select ${organization}, 'tag' || n % 7, ${number()} from ${series(messages)}`,
    `insert into message_contents select ${number()}, convert_to(repeat(md5(n::text), 30), 'utf8')
      from ${series(messages)}`,
    `insert into deliveries (number, id, message_number, position, email, address, type, queue, status, attempts,
        last_attempt_at, next_attempt_at, delivered_at, opens)
      select ${number()}, ${id('dlv')}, ${number()}, 0, 'r' || n % 5000 || '@dest.example',
        'r' || n % 5000 || '@dest.example', 'to', 'dest.example ' || ${organization}, m.status, 1, ${at()},
        case when n > ${messages} - ${waiting} then case when n % 2 = 0 then ${at('10 * n')} else ${at()} end end,
        case when m.status = 'delivered' then ${at()} end, case when n % 3 = 0 then 1 else 0 end
      from ${series(messages)} join messages m on m.number = ${number()}`,
    `insert into attempts (delivery_number, number, started_at, duration_ms, outcome, facts)
      select ${number()}, 1, ${at()}, 10, 'delivered', '{}' from ${series(messages - waiting)}`,
    `insert into reports (number, delivery_number, digest, kind, received_at)
      select ${number()}, ${number()}, sha256(n::text::bytea), 'failed', ${at()}
      from ${series(messages)} where n % 50 = 0`,
    `insert into unsubscribables (delivery_id, organization_id, domain_id, message_id, sender, email, sent_at)
      select ${id('dlv', 'n + 10000000')}, ${organization}, 'dom_0', 'msg', 'Ann', 'r@dest.example', ${at()}
      from ${series(messages)}`,
    `insert into events (number, position, id, kind, organization_id, domain_id, message_id, type, mode, created_at, body)
      select ${number()}, n, ${id('evt')}, ${kind('n')}, ${organization}, 'dom_' || n % 100, ${id('msg', 'n / 2')},
        case when n % 20 = 0 then 'message.bounced' else 'message.delivered' end, 'live', ${at('n / 2')},
        '{"id":"' || n || '"}' from ${series(2 * messages)}`,
    `insert into event_kinds select distinct organization_id, kind, type, mode, domain_id from events`,
    `insert into webhook_deliveries (number, id, webhook_id, event_number, type, status, attempts, next_attempt_at, created_at)
      select ${number()}, ${id('whd')}, 'whk_' || case when n % 2 = 0 then 0 else n % 20 end, ${number()},
        'message.delivered', case when n > ${2 * messages - waiting} then 'pending' else 'delivered' end, 1,
        case when n > ${2 * messages - waiting} then ${at('n / 2')} end, ${at('n / 2')} from ${series(2 * messages)}`,
    `insert into webhook_attempts (delivery_number, number, at, duration_ms, status_code)
      select ${number()}, 1, ${at('n / 2')}, 20, 200 from ${series(2 * messages - waiting)}`,
    `insert into inbound_raws select ${number()}, convert_to(repeat(md5(n::text), 30), 'utf8'),
      convert_to(repeat(md5(n::text), 30), 'utf8') from ${series(messages)}`,
    `insert into inbound_messages (number, id, organization_id, domain_id, route_id, action, received_at, return_path,
        sender, recipients, subject, message_id_header, size_bytes, sender_ip, helo, spf, dkim, dmarc, arc,
        auto_submitted, raw_number, delivery_status)
      select ${number()}, ${id('inb')}, ${organization}, 'dom_' || n % 100, 'rte_' || n % 20, 'webhook', ${at()},
        'b@out.example', 'b@out.example', '["in@a.example"]', 'Hello', '<one@out.example>', 1000, '192.0.2.9', 'mx',
        'pass', 'pass', 'pass', 'none', false, ${number()},
        case when n > ${messages - waiting} then 'pending' else 'delivered' end
      from ${series(messages)}`,
    `insert into inbound_addresses select ${organization}, field, 'b@out.example', ${number()}
      from ${series(messages)}, (values ('from'), ('to')) fields (field)`,
    `insert into inbound_deliveries (number, id, message_number, route_id, status, attempts, next_attempt_at, created_at)
      select ${number()}, ${id('ind')}, ${number()}, 'rte_' || n % 20,
        case when n > ${messages - waiting} then 'pending' else 'delivered' end, 1,
        case when n > ${messages - waiting} then ${at()} end, ${at()} from ${series(messages)}`,
    `insert into inbound_attempts (delivery_number, number, at, duration_ms, status_code)
      select ${number()}, 1, ${at()}, 20, 200 from ${series(messages - waiting)}`,
    `select setval('numbers', ${10 * messages * STEP})`,
    `insert into suppressions (id, organization_id, domain_id, mode, email, reason, created_at)
      select ${id('sup')}, ${organization}, '', 'live', 'r' || n || '@dest.example', 'hard_bounce', ${at()}
      from ${series(messages / 4)}`,
    `insert into idempotency select ${organization}, sha256(n::text::bytea), sha256(n::text::bytea), 202,
        convert_to(repeat('x', 200), 'utf8'), ${at()} from ${series(messages)}`,
    `insert into usage select 'org_' || o, name, to_char(date '2026-01-01' + day, 'YYYY-MM-DD'), lane, 5
      from generate_series(0, 19) o, generate_series(0, ${Math.floor(messages / 200)}) day, generate_series(1, 4) lane,
        (values ('forwards'), ('confirmation_mails')) names (name)`,
    `insert into usage select 'org_' || o, name, '', lane, 5 from generate_series(0, 19) o, generate_series(1, 4) lane,
        (values ('stored_bytes'), ('suppressions')) names (name)`,
    `insert into stats select day, hour, 'org_' || o, tag, 'live', 'dom_' || o + 20 * d, lane,
        1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0
      from generate_series(20000, ${Math.floor(20000 + messages / 2000)}) day, generate_series(0, 24) hour, generate_series(0, 19) o,
        (values (''), ('tag1')) tags (tag), generate_series(0, 2) d, generate_series(1, 2) lane`,
    `insert into quality_counts select width, 'dom_' || d, start * width, lane, 1, 1, 1, 0, 0
      from (values (5000), (900000)) widths (width), generate_series(0, 99) d, generate_series(1, 2) lane,
        generate_series(1, ${Math.floor(messages / 400)}) start`,
    `insert into quality_alerts select ${id('alr')}, 'org_0', 'dom_' || n % 100, 'a.example',
        case when n % 2 = 0 then 'bounce_rate' else 'complaint_rate' end, 0.1, 0.05, 24, 100, 10,
        'resolved', ${at()}, ${at()} from ${series(messages / 10)}`,
    `insert into audit_log (id, organization_id, at, actor_type, actor_id, actor_name, action, fields, outcome, request_id)
      select ${id('aud')}, ${organization}, ${at()}, 'key', 'key_' || n % 20, 'Key', 'create', '[]', 'done', 'req'
      from ${series(messages)}`,
    `insert into forward_targets (organization_id, address, status, changed_at, asked_at)
      select ${organization}, 'a' || n || '@dest.example', 'pending', 0, ${at()} from ${series(messages)}`,
    'vacuum analyze',
  ]
}

/** Messages in a range of the search index, and the step of their numbers: a range has 2^15 of them. */
const RANGE = 1024
const STEP = 32

/** When the first message was accepted (ms UTC). */
export const FIRST = Date.UTC(2026, 0, 1)

/** ID of the n-th record of a kind. */
export const idOf = (prefix: string, n: number) => `${prefix}_${String(n).padStart(8, '0')}0000`
