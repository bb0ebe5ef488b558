import { expect, test } from 'bun:test'
import { EACH_STATEMENTS } from '../../src/storage/mail/each.ts'
import { STATEMENTS } from '../../src/storage/sql.ts'
import { type Connection, connect } from '../../src/storage/sqlite/driver.ts'
import { eachText } from '../../src/storage/sqlite/each.ts'
import { openEncryption } from '../../src/storage/sqlite/encryption-key.ts'
import { migrate } from '../../src/storage/sqlite/migrate.ts'
import { storeOn } from '../../src/storage/sqlite/store.ts'
import { toSqlite } from '../../src/storage/sqlite/translate.ts'
import type { Store } from '../../src/storage/store.ts'
import '../../src/storage/records/re-encrypt.ts' // declares statements that no store uses
import { ALL_EVENTS, ALL_INBOUND, ALL_MESSAGES, ORGANIZATION } from './records.ts'

/** Statements that may scan a whole table, with the reason for each. */
const MAY_SCAN = [
  /from (organizations|api_keys|domains)( order by id)?$/, // it returns all of them; on PostgreSQL once for each start
  /from dedicated_addresses order by/, // the same; one row for each configured address at most
  /from alert_silences where until/, // operators silence one alert at a time, for a week at most
  /from alert_channels order by channel$/, // one row for each configured channel
  /from alerts a where a\.state <> 'resolved'|from alerts a join alert_notices/, // the partial index of open alerts, which are few
  /from alerts a where a\.state = 'resolved' order by a\.resolved_at desc, a\.id desc limit \?$/, // as many as it returns
  /from dkim_keys where state = 'pending'/, // the partial index of pending keys, which are few
  /from webhooks where status = 'paused' and disabled_reason/, // the partial index of paused webhooks
  /heartbeat|from seal$|update seal/, // one row
  /from pragma_table_info\(\?\)/, // the columns of a table
  /from quality_alerts where state = 'firing'/, // it returns all active alerts
  /from blocked_links( order by id limit \?)?$/, // at most a thousand, and it returns all of them
  /from users (u )?where \(operator and/, // the partial index of operators, who are few
  /from users u order by u\.id limit 2$/, // two rows
  /from users u where u\.email_verified_at is null/, // for `doctor`: the partial index of users without a verified address
  /from search_outdated order by number limit 1$/, // the first row
  /^with recursive/, // reads what it has just created, one row for each key
  /^select 1 as found where exists \( select 1 from webhook_deliveries/, // the constant row
  /^select count\(\*\) as count from held_|from restored/, // held records are counted on request; one row
  /^select \(select coalesce\(max\(created_at\)/, // the constant row: the newest event
  /^select \+\?( as place)?, |^select \? as locked|total_changes\(\)|last_insert_rowid\(\)|^select exists \(select 1 from messages indexed by messages_by_status/, // the constant row
  /^select f\.message_number as number from \( select distinct/, // ten rows of an index
  /from storage_count$/, // a row for each of four sources
  /^select count\(\*\) as total, count.* indexed by \w+_due /, // in the reading thread: the index of what waits
  /from sqlite_sequence/, // a row for some tables
  /from \(select number, next_attempt_at as at from \w+ .* limit 2000\)/, // what it has just read of the index
  /from claims c, json_each\(c\.numbers\)|from claims where worker|select worker from claims/, // claims of one worker, of which only the latest stay
  /^with walked as materialized/, // what it has just read of an index: 256 rows
  /^select count\(\*\) as count from \(select .* limit \?\) walked$/, // the same: at most 1,000
  /from json_each\(\?\)/, // the given values
]
/** Statements that may sort: their input is small. */
const MAY_SORT = [
  /^with walked as materialized/, // the page that it returns
  /from invitations where organization_id/, // of one organization, at most 200
  /from dkim_keys/, // keys of one domain, or pending ones
  /from dedicated_addresses order by/, // few
  /from address_hours where hour/, // two days of each configured address
  /from warmup_days where address in/, // the days of a warm-up, of each configured address
  /^select id, mx_host as "mxHost" from deliveries where id in/, // those that mails accepted together answer
  /join attempts a/, // attempts of one message
  /join inbound_attempts a/, // the same
  /join reports r/, // reports of one message
  /where (m\.id = \?|d\.message_number = \+\?) order by d\.id/, // recipients of one message
  /from tls_results where domain_id = \?/, // few of each report
  /asked cross join stats s/, // counters of the hours or days that are asked for
  /count\(distinct \+received_day\)/, // of one reporter, at most 50 of a day
  /^select count\(distinct v\.value\) as due from claims/, // what is claimed, as much as the server sends at once
]

const EVENT = {
  id: 'evt_1',
  type: 'message.opened' as const,
  organizationId: ORGANIZATION,
  domainId: null,
  messageId: null,
  mode: 'live' as const,
  createdAt: 0,
  body: '{}',
}

const plans = await plansOf((store) => everyList(store))

test('no statement scans every row of a table', () => {
  const scans = plans.filter(({ sql, plan }) => /\bSCAN\b/.test(plan) && !MAY_SCAN.some((each) => each.test(sql)))
  expect(scans).toEqual([])
})

test('no statement sorts rows without a bound', () => {
  const sorts = plans.filter(({ sql, plan }) => /TEMP B-TREE/.test(plan) && !MAY_SORT.some((each) => each.test(sql)))
  expect(sorts).toEqual([])
})

test('every exception is needed', () => {
  for (const exception of MAY_SCAN) {
    expect([exception, plans.some(({ sql, plan }) => exception.test(sql) && /\bSCAN\b/.test(plan))]).toEqual([
      exception,
      true,
    ])
  }
  for (const exception of MAY_SORT) {
    expect([exception, plans.some(({ sql, plan }) => exception.test(sql) && /TEMP B-TREE/.test(plan))]).toEqual([
      exception,
      true,
    ])
  }
})

const INTENDED: [statement: RegExp, plan: RegExp][] = [
  // The claim of all queues: the due rows of one, in the order of the index.
  [
    /^select \+\? as place, d\.number .* from deliveries d where d\.queue/,
    /INDEX deliveries_due \(queue=\? AND next_attempt_at>\? AND next_attempt_at<\?\)/,
  ],
  [
    /^select \+\? as place, d\.number .* from webhook_deliveries d where d\.webhook_id/,
    /INDEX webhook_deliveries_due \(webhook_id=\? AND next_attempt_at>\? AND next_attempt_at<\?\)/,
  ],
  [
    /^select \+\? as place, \(select min\(d\.next_attempt_at\) from deliveries/,
    /INDEX deliveries_due \(queue=\? AND next_attempt_at>\?\)/,
  ],
  [
    /^select \+\? as place, \(select min\(d\.next_attempt_at\) from webhook_deliveries/,
    /INDEX webhook_deliveries_due \(webhook_id=\? AND next_attempt_at>\?\)/,
  ],
  [
    /^with recursive keys .* from deliveries d where/,
    /COVERING INDEX deliveries_due \(queue>\?\)[\s\S]*INDEX deliveries_due \(queue=\?/,
  ],
  [
    /^with recursive keys .* from webhook_deliveries d where/,
    /COVERING INDEX webhook_deliveries_due \(webhook_id>\?\)[\s\S]*INDEX webhook_deliveries_due \(webhook_id=\?/,
  ],
  [
    /^select d\.number as number from deliveries d where d\.number in/,
    /COVERING INDEX deliveries_due \(\(queue,next_attempt_at\)>\(\?,\?\)\)/,
  ],
  [
    /^select d\.number as number from webhook_deliveries d where d\.number in/,
    /COVERING INDEX webhook_deliveries_due \(\(webhook_id,next_attempt_at\)>\(\?,\?\)\)/,
  ],
  [
    /^select d\.number as number from messages m join deliveries d .* m\.expires_at <=/,
    /INDEX messages_expiring \(expires_at<\?\)[\s\S]*INDEX deliveries_of_message \(message_number=\?\)/,
  ],
  [
    /^select d\.number as number from inbound_deliveries d where d\.number in/,
    /COVERING INDEX inbound_deliveries_due \(\(route_id,next_attempt_at\)>\(\?,\?\)\)/,
  ],
  [
    /from inbound_deliveries where route_id = \? and next_attempt_at >= \?/,
    /INDEX inbound_deliveries_due \(route_id=\? AND next_attempt_at>\?\)/,
  ],
  // A replay starts in the middle of the history.
  [
    /from events where organization_id = \? and \(created_at, number\)/,
    /INDEX events_by_time \(organization_id=\? AND created_at>\? AND created_at<\?\)/,
  ],
  // Called at every request or attempt.
  [/from api_keys where secret_hash/, /INDEX sqlite_autoindex_api_keys_2 \(secret_hash=\?\)/],
  [
    /^select \+\? as number, s\.email, s\.reason, .* from suppressions s/,
    /INDEX suppressions_by_address \(organization_id=\? AND email=\?\)/,
  ],
  [/from users (u )?where \(operator and/, /USING INDEX users_operators/],
  [/from sessions where token_hash/, /INDEX \w+ \(token_hash=\?\)/],
  [/from idempotency where organization_id = \? and key_hash = \?/, /\(organization_id=\? AND key_hash=\?\)/],
  [/from idempotency where organization_id = \? and key_hash > /, /\(organization_id=\? AND key_hash>\?\)/],
  [
    /^delete from idempotency where organization_id = \+\?/,
    /INDEX .*idempotency.* \(organization_id=\? AND key_hash=\?\)/,
  ],
  [
    /^delete from idempotency where created_at < \? and rowid in/,
    /INTEGER PRIMARY KEY \(rowid=\?\)[\s\S]*COVERING INDEX idempotency_by_age \(created_at<\?\)/,
  ],
  // The result of a claim, and its end: one row.
  [
    /^select \+\? as place, d\.number .* from deliveries d where d\.id = \+\? and d\.worker/,
    /^SEARCH d USING INDEX \w+ \(id=\?\)/,
  ],
  [
    /^select \+\? as place, d\.number .* from (webhook|inbound)_deliveries d where d\.id = \+\? and d\.worker/,
    /^SEARCH d USING INDEX \w+ \(id=\?\)/,
  ],
  [
    /^update ((webhook|inbound)_)?deliveries as d set attempts = d\.attempts - 1, worker = null, next_/,
    /^SEARCH d USING INDEX \w+ \(id=\?\)/,
  ],
  [
    /^update ((webhook|inbound)_)?deliveries (as d )?set .* where (d\.)?number = \+\?/,
    /^SEARCH \w+ USING INTEGER PRIMARY KEY \(rowid=\?\)/,
  ],
  [/from domains where return_path_host = \?/, /INDEX domains_by_return_path_host \(return_path_host=\?\)/],
  [/from inbound_routes where organization_id = \? and enabled/, /INDEX inbound_routes_of_organization/],
  [/^select 1 as known from reports/, /COVERING INDEX sqlite_autoindex_reports_1 \(delivery_number=\? AND digest=\?\)/],
  // Counters: a lookup for each hour or day, a range for each window.
  [
    /sum\(accepted\).* asked cross join stats s .* and mode = \? group by asked/,
    /SEARCH s USING PRIMARY KEY \(day=\? AND hour=\? AND organization_id=\? AND tag=\? AND mode=\?\)/,
  ],
  [
    /sum\(accepted\).* asked cross join stats s .* and mode = \? and domain_id = \? group by asked/,
    /tag=\? AND mode=\? AND domain_id=\?\)/,
  ],
  [/^with recursive counted/, /quality_counts USING PRIMARY KEY \(width_ms=\? AND domain_id>\?\)/],
  [/^with recursive counted .*max\(start\)/, /quality_counts USING PRIMARY KEY \(width_ms=\? AND domain_id=\?\)/],
  [/^select .* from quality_counts/, /quality_counts USING PRIMARY KEY \(width_ms=\? AND domain_id=\? AND start>\?\)/],
  [
    /delete from quality_counts/,
    /SCAN counted\nSEARCH quality_counts USING PRIMARY KEY \(width_ms=\? AND domain_id=\? AND start<\?\)/,
  ],
  [/^select .* from quality_alerts where state = 'firing'/, /quality_alerts USING INDEX quality_alerts_firing/],
  [/^select .* from quality_alerts where domain_id/, /quality_alerts USING INDEX quality_alerts_of_domain/],
  [/from mta_sts_policies where domain/, /mta_sts_policies USING PRIMARY KEY \(domain=\?\)/],
  [/from mta_sts_policies where refresh_at/, /mta_sts_policies USING INDEX mta_sts_policies_due \(refresh_at<\?\)/],
  [/^select domain, day from tls_sessions/, /tls_sessions USING PRIMARY KEY \(\(day,domain\)>\(\?,\?\)/],
  [
    /(from|delete from) tls_sessions where day = \? and domain/,
    /tls_sessions USING PRIMARY KEY \(day=\? AND domain=\?\)/,
  ],
  // Reports about a domain: a lookup for each report, a range of days for each page.
  [
    /^select 1 as known from policy_reports/,
    /COVERING INDEX \w+ \(domain_id=\? AND kind=\? AND reporter=\? AND report_id=\?\)/,
  ],
  [
    /from policy_reports where domain_id = \? and received_day >= \?/,
    /INDEX policy_reports_by_day \(domain_id=\? AND received_day>\? AND received_day<\?\)/,
  ],
  [/^select max\(received_day\) as day/, /COVERING INDEX policy_reports_by_day \(domain_id=\?\)/],
  [/^select min\(received_day\) as day/, /COVERING INDEX policy_reports_by_day \(domain_id=\?\)/],
  [/count\(\*\) as count from dmarc_sources/, /COVERING INDEX \w+ \(domain_id=\? AND day=\?\)/],
  [
    /^select day, source_ip/,
    /INDEX \w+ \(domain_id=\? AND day=\?\)[\s\S]*COVERING INDEX \w+ \(domain_id=\? AND day>\? AND day<\?\)/,
  ],
  [/from tls_results where domain_id = \? and day between/, /\(domain_id=\? AND day>\? AND day<\?\)/],
  [/^delete from dmarc_sources/, /COVERING INDEX dmarc_sources_by_age \(organization_id=\? AND day<\?\)/],
  [/^delete from tls_results/, /COVERING INDEX tls_results_by_age \(organization_id=\? AND day<\?\)/],
  [/^delete from policy_reports/, /COVERING INDEX policy_reports_by_age/],
  // Retention: each walk reads the oldest first.
  [
    /^select number as number, organization_id .* from messages where organization_id = \? and number >/,
    /^SEARCH messages USING INDEX messages_of_organization \(organization_id=\? AND number>\?\)$/,
  ],
  [
    /^select number as number, created_at as "createdAt" from events/,
    /^SEARCH events USING COVERING INDEX events_by_time \(organization_id=\? AND created_at>\? AND created_at<\?\)$/,
  ],
  [
    /^select number as number, received_at as "receivedAt"/,
    /^SEARCH inbound_messages USING INDEX inbound_messages_of_organization \(organization_id=\? AND number>\?\)$/,
  ],
  // What belongs to a removed record: each a look-up.
  [/^delete from (attempts|webhook_attempts|inbound_attempts) where/, /USING PRIMARY KEY \(delivery_number=\?\)/],
  [/^delete from reports where/, /\(delivery_number=\?\)/],
  [/^delete from message_tags where/, /PRIMARY KEY \(organization_id=\? AND tag=\? AND message_number=\?\)/],
  [/^select number as number, status from webhook_deliveries where event_number in/, /webhook_deliveries_of_event/],
  [/^delete from inbound_deliveries where/, /INDEX inbound_deliveries_of_message \(message_number=\?\)/],
  [/^delete from inbound_raws/, /COVERING INDEX inbound_messages_of_raw \(raw_number=\?\)/],
  [/^delete from unsubscribables where delivery_id in \(select value/, /PRIMARY KEY \(delivery_id=\?\)/],
  [
    /^delete from unsubscribables where delivery_id in \( select delivery_id/,
    /COVERING INDEX unsubscribables_by_time \(sent_at<\?\)/,
  ],
  [
    /^select number as number, status from webhook_deliveries where webhook_id = \?/,
    /INDEX webhook_deliveries_of_webhook \(webhook_id=\? AND number>\?\)/,
  ],
  // Held records are released one by one.
  [
    /^select number as number, due_at .* from held_deliveries/,
    /held_deliveries USING INTEGER PRIMARY KEY \(rowid>\?\)/,
  ],
  [/^update (webhook_|inbound_)?deliveries set next_attempt_at = \+\?/, /USING INTEGER PRIMARY KEY \(rowid=\?\)/],
  [/^select h\.number as number from messages/, /SEARCH h USING INTEGER PRIMARY KEY \(rowid=\?\)/],
  [
    /^select number as number, queue as key, .* \(queue, next_attempt_at\) >=/,
    /INDEX deliveries_due \(\(queue,next_attempt_at\)>\(\?,\?\)\)/,
  ],
  [/^select d\.message_number .* d\.status from deliveries/, /INDEX deliveries_of_message \(message_number=\?\)/],
  [
    /^select id, .* from templates where organization_id = \? and alias/,
    /INDEX templates_by_alias \(organization_id=\? AND alias=\? AND mode=\?\)/,
  ],
  // Once per deletion of a part, over the templates of the organization.
  [/^select id, alias, name from templates/, /INDEX templates_of_organization \(organization_id=\?\)/],
  [/^select id, .* from templates where id/, /templates USING PRIMARY KEY \(id=\?\)/],
  // Lists, newest first.
  [
    /from templates t join .* order by t\.id desc/,
    /t USING INDEX templates_of_organization \(organization_id=\? AND id<\?\)\nSEARCH v USING INDEX \w+ \(template_id=\? AND version=\?\)/,
  ],
  [/from template_versions where template_id = \? and version </, /INDEX \w+ \(template_id=\? AND version<\?\)/],
  [
    /from messages m indexed by messages_of_organization where m\.organization_id = \? and m\.number >= \? and m\.number < \?/,
    /INDEX messages_of_organization \(organization_id=\? AND number>\? AND number<\?\)/,
  ],
  [
    /m\.status = \? and m\.number >= \? and m\.number < \?/,
    /INDEX messages_by_status \(organization_id=\? AND status=\? AND number>\? AND number<\?\)/,
  ],
  [
    /from deliveries d indexed by deliveries_by_address where/,
    /COVERING INDEX deliveries_by_address \(address=\? AND message_number>\? AND message_number<\?\)/,
  ],
  [/from deliveries o where o\.address = \?/, /deliveries_by_address \(address=\? AND message_number=\?\)/],
  [
    /from message_tags t where/,
    /t USING PRIMARY KEY \(organization_id=\? AND tag=\? AND message_number>\? AND message_number<\?\)/,
  ],
  [
    /from events e indexed by events_of_organization where e\.organization_id = \? and e\.number > \? and e\.number < \?/,
    /INDEX events_of_organization \(organization_id=\? AND number>\? AND number<\?\)/,
  ],
  [
    /from events e indexed by events_of_message where e\.message_id = \? and .*e\.number > \? and e\.number < \?/,
    /INDEX events_of_message \(message_id=\? AND number>\? AND number<\?\)/,
  ],
  [
    /from events e indexed by events_of_kind where e\.kind = \+\? .* e\.number > \+\? and e\.number < \+\?/,
    /INDEX events_of_kind \(kind=\? AND number>\? AND number<\?\)/,
  ],
  [/^select kind from event_kinds/, /event_kinds USING PRIMARY KEY \(organization_id=\?\)/],
  [
    /^with walked .* from webhook_deliveries d indexed by webhook_deliveries_of_webhook/,
    /INDEX webhook_deliveries_of_webhook \(webhook_id=\? AND number>\? AND number<\?\)/,
  ],
  [
    /^with walked .* from webhook_deliveries d indexed by webhook_deliveries_by_type/,
    /INDEX webhook_deliveries_by_type \(webhook_id=\? AND type=\? AND number>\? AND number<\?\)/,
  ],
  [
    /from events o indexed by events_of_message cross join webhook_deliveries/,
    /o USING INDEX events_of_message \(message_id=\?\)\nSEARCH m USING INDEX webhook_deliveries_of_event \(event_number=\?\)/,
  ],
  [
    /^select 1 as found where exists \( select 1 from webhook_deliveries where webhook_id = \? and next_/,
    /COVERING INDEX webhook_deliveries_due/,
  ],
  [
    /^with recursive search .* webhook_deliveries indexed by webhook_deliveries_of_webhook/,
    /INDEX webhook_deliveries_of_webhook \(webhook_id=\? AND number>\?\)/,
  ],
  [
    /^select id from messages indexed by messages_of_organization/,
    /INDEX messages_of_organization \(organization_id=\? AND number>/,
  ],
  [
    /from inbound_messages m indexed by inbound_messages_of_organization/,
    /INDEX inbound_messages_of_organization \(organization_id=\? AND number>\? AND number<\?\)/,
  ],
  [
    /from inbound_messages m indexed by inbound_messages_of_route/,
    /of_route \(route_id=\? AND number>\? AND number<\?\)/,
  ],
  [
    /from inbound_messages m indexed by inbound_messages_by_status/,
    /by_status \(organization_id=\? AND delivery_status=\? AND number>\? AND number<\?\)/,
  ],
  [
    /^select m\.number as number, m\.size_bytes .* from inbound_addresses a join/, // of an erasure
    /a USING PRIMARY KEY \(organization_id=\? AND field=\? AND address=\? AND message_number>\?\)\nSEARCH m USING INTEGER PRIMARY KEY/,
  ],
  [
    /^with walked .* from inbound_addresses a where/,
    /a USING PRIMARY KEY \(organization_id=\? AND field=\? AND address=\? AND message_number>\? AND message_number<\?\)[\s\S]*SEARCH m USING INTEGER PRIMARY KEY/,
  ],
  [
    /exists \( select 1 from inbound_addresses o where/,
    /SEARCH o USING COVERING INDEX \w+ \(message_number=\? AND organization_id=\? AND field=\? AND address=\?\)/,
  ],
  [
    /inbound_addresses p where/,
    /SEARCH p (EXISTS )?USING (COVERING )?INDEX inbound_addresses_of_message \(message_number=\?\)/,
  ],
  [
    /^select number from (inbound_)?messages indexed by/,
    /COVERING INDEX (inbound_)?messages_of_organization \(organization_id=\? AND (number>\? AND )?number<\?\)/,
  ],
  // Waiting records are counted along the due indexes only.
  [/^select count\(\*\) as total, .* from deliveries/, /COVERING INDEX deliveries_due$/],
  [/^select webhook_id as key/, /COVERING INDEX webhook_deliveries_due \(\(webhook_id,next_attempt_at\)>/],
  [/^select route_id as key/, /COVERING INDEX inbound_deliveries_due \(\(route_id,next_attempt_at\)>/],
  [/from inbound_messages m join inbound_deliveries d/, /INDEX inbound_deliveries_of_message \(message_number=\?\)/],
  [
    /from audit_log where number < \(select .*\) and organization_id = \? order/,
    /INDEX audit_log_of_organization \(organization_id=\? AND number<\?\)/,
  ],
  [
    /from audit_log where .* resource_id = \?/,
    /INDEX audit_log_of_(actor|resource) \(organization_id=\? AND \w+=\? AND number<\?\)/,
  ],
  [/^delete from audit_log/, /COVERING INDEX audit_log_by_time \(at<\?\)/],
  [
    /from suppressions s indexed by suppressions_of_organization where s\.organization_id = \? and s\.id >= /,
    /INDEX suppressions_of_organization \(organization_id=\? AND id>\? AND id<\?\)/,
  ],
  [
    /^select .* from suppressions where organization_id = \? and email in/,
    /INDEX suppressions_by_address \(organization_id=\? AND email=\?\)/,
  ],
  [
    /^select id from suppressions indexed by suppressions_by_address[\s\S]*email >= /,
    /INDEX suppressions_by_address \(organization_id=\? AND email>\? AND email<\?\)/,
  ],
  [
    /^select id from suppressions indexed by suppressions_by_host/,
    /INDEX suppressions_by_host \(organization_id=\? AND <expr>>\? AND <expr><\?\)/,
  ],
  [
    /from suppressions s indexed by suppressions_by_stream where/,
    /suppressions_by_stream \(organization_id=\? AND stream=\? AND id>\? AND id<\?\)/,
  ],
  [
    /from suppressions s indexed by suppressions_by_reason where/,
    /suppressions_by_reason \(organization_id=\? AND reason=\? AND id>\? AND id<\?\)/,
  ],
  [
    /from webhook_deliveries d indexed by webhook_deliveries_failed where/,
    /webhook_deliveries_failed \(webhook_id=\? AND number>\? AND number<\?\)/,
  ],
]

test.each(INTENDED)('%p uses %p', (statement, intended) => {
  const meant = plans.filter(({ sql }) => statement.test(sql))
  expect(meant.length).toBeGreaterThan(0)
  for (const { plan } of meant) expect(plan).toMatch(intended)
})

interface Plan {
  sql: string
  plan: string
}

/** Every statement that a store prepares, at its start and during use, with SQLite's plan for it. */
async function plansOf(use: (store: Store) => Promise<void>): Promise<Plan[]> {
  const db = connect(':memory:', { busyTimeoutMs: 0 })
  migrate(db, 0)
  const statements = new Set<string>()
  const prepare: Connection['prepare'] = db.prepare.bind(db)
  db.prepare = ((sql: string) => {
    statements.add(sql)
    return prepare(sql)
  }) as Connection['prepare']
  const store = storeOn(db, openEncryption(':memory:', db))
  await use(store)
  for (const { text, sqlite } of STATEMENTS) statements.add(toSqlite(sqlite ?? text).text)
  for (const statement of EACH_STATEMENTS)
    if (statement.sqlite !== '' && !/message_words|search_ranges/.test(statement.text))
      statements.add(eachText(statement).text)
  const plans = [...statements].map((sql) => {
    const values = Array(sql.split('?').length - 1).fill(null)
    const named = Object.fromEntries([...sql.matchAll(/@(\w+)/g)].map(([, name]) => [name, null]))
    const all = Object.keys(named).length > 0 ? [...values, named] : values
    const steps = prepare(`explain query plan ${sql}`).all(...all) as { detail: string }[]
    return { sql: sql.replace(/\s+/g, ' '), plan: steps.map((step) => step.detail).join('\n') }
  })
  await store.close()
  return plans
}

/** Lists whose statements depend on their filters, each filter alone and all together. */
async function everyList(store: Store): Promise<void> {
  const warmup = { address: '192.0.2.1', group: 'google', day: 0 } as const
  await store.warmups.take([{ ...warmup, count: 1, most: 1 }])
  await store.warmups.add([{ ...warmup, delivered: 1 }])
  await store.warmups.days([warmup.address])
  await store.queues.waiting(0)
  await store.held.count()
  const page = { limit: 9, after: 'msg_cursor' }
  const range = { createdAfter: 1, createdBefore: 2 }
  const messages = [
    { status: 'queued' as const },
    { to: 'a@b.example' },
    { from: 'a@b.example' },
    { subject: 's' },
    { tag: 't' },
    { metadata: [{ key: 'k', value: 'v' }] },
    { templateId: 't' },
    { id: 'msg_1' },
    { messageIdHeader: '<x@y>' },
    { domainId: 'd' },
    { mode: 'live' as const },
    { text: 'words' },
    range,
  ]
  for (const filter of [{}, ...messages, Object.assign({}, ...messages)]) {
    await store.messages.list({ ...ALL_MESSAGES, ...filter }, page)
  }
  const events = [
    { type: 'message.opened' as const },
    { type: 'message.bounced' as const },
    { messageId: 'm' },
    { domainId: 'd' },
    { mode: 'live' as const },
    range,
  ]
  for (const filter of [{}, ...events, Object.assign({}, ...events)]) {
    await store.events.append([EVENT])
    await store.events.list({ ...ALL_EVENTS, ...filter }, page)
    await store.events.feed({ ...ALL_EVENTS, ...filter }, EVENT.id, 9)
    await store.events.follow({ ...ALL_EVENTS, ...filter }, '', 9)
    await store.events.newest(ORGANIZATION)
  }
  const suppressions = [{ email: 'e' }, { beginning: 'b' }, { reason: 'manual' as const }, { stream: 'bulk' }, range]
  for (const filter of [{}, ...suppressions, Object.assign({}, ...suppressions)]) {
    const all = { organizationId: ORGANIZATION, email: null, reason: null, createdAfter: null, createdBefore: null }
    await store.suppressions.list({ ...all, ...filter }, page)
  }
  const entries = [
    { organizationId: null },
    { actorId: 'k' },
    { action: 'a' },
    { resourceId: 'r' },
    { organizationId: ORGANIZATION, ...range },
  ]
  for (const filter of [{}, ...entries, Object.assign({}, ...entries)]) {
    const who = { organizationId: ORGANIZATION, actorId: null, action: null, resourceId: null }
    await store.auditLog.list({ ...who, createdAfter: null, createdBefore: null, ...filter }, page)
  }
  const deliveries = [
    { status: 'failed' as const },
    { status: 'pending' as const },
    { type: 'message.opened' as const },
    range,
  ]
  for (const filter of [{}, ...deliveries, Object.assign({}, ...deliveries)]) {
    const all = { webhookId: 'w', status: null, type: null, createdAfter: null, createdBefore: null }
    await store.webhookDeliveries.list({ ...all, ...filter }, page)
  }
  const inbound = [
    { routeId: 'r' },
    { domainId: 'd' },
    { from: 'a@b.example' },
    { to: 'a@b.example' },
    { status: 'failed' as const },
    { part: 'b.ex' },
    range,
  ]
  for (const filter of [{}, ...inbound, Object.assign({}, ...inbound)]) {
    await store.inbound.list({ ...ALL_INBOUND, ...filter }, { ...page, after: 'inb_cursor' })
  }
}
