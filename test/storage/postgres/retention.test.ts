import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'bun:test'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseDatabaseUrl } from '../../../src/storage/postgres/address.ts'
import { connect } from '../../../src/storage/postgres/connection.ts'
import { openPostgresStore } from '../../../src/storage/postgres/open.ts'
import type { Store } from '../../../src/storage/store.ts'
import { claimDue } from '../../support/claim.ts'
import { until } from '../../support/patience.ts'
import { describeWithPostgres, startPostgres, type TestPostgres } from '../../support/postgres.ts'
import {
  accept,
  claim,
  createRecords,
  DEFERRED,
  found,
  lateBounce,
  ORGANIZATION,
  postAttempt,
  type Records,
  recordOf,
  START,
  WORKER,
} from '../records.ts'

const DAY = 86_400_000
const OVER = { status: 'delivered' as const, deliveries: [{ status: 'delivered' as const, nextAttemptAt: null }] }

describeWithPostgres('retention in PostgreSQL', () => {
  let postgres: TestPostgres
  let dataDir: string
  let database: string
  let store: Store
  let records: Records
  let databases = 0
  beforeAll(async () => {
    postgres = await startPostgres()
  })
  beforeEach(async () => {
    dataDir = mkdtempSync(join(tmpdir(), 'postrider-store-'))
    database = `retention${++databases}`
    store = await openPostgresStore({ url: await postgres.createDatabase(database), dataDir, now: START })
    records = createRecords()
    await found(store, records)
  })
  afterEach(async () => {
    await store.close()
    rmSync(dataDir, { recursive: true })
  })
  afterAll(() => postgres.stop())

  const sql = (statement: string) => postgres.psql(statement, database)
  const step = (timeIsUp = () => false) =>
    store.retention.remove({ organizationId: ORGANIZATION, before: START + DAY, unsubscribableSince: START, timeIsUp })

  /** Names of the tables that have rows, in order. */
  const filled = () => {
    const tables = sql(`select tablename from pg_tables where schemaname = 'public'`).split('\n')
    const each = tables.map((table) => `select '${table}' as name where exists (select from ${table})`)
    return sql(`${each.join(' union all ')} order by name`).split('\n')
  }

  test('removed mail leaves no row in any table of mail', async () => {
    const hook = records.webhook()
    await store.webhooks.create(hook, 'whsec_a')
    const deliveries = [{}, { status: 'suppressed' as const, nextAttemptAt: null }]
    const { message, deliveries: parts } = await accept(store, records.accepted({ tags: ['a', 'a', 'b'], deliveries }))
    const [claimed] = await claim(store)
    await store.deliveries.record(recordOf(claimed!, DEFERRED, { events: [records.event({ messageId: message.id })] }))
    const [again] = await claim(store, { now: START + 60_000 })
    await store.deliveries.record(recordOf(again!))
    const id = parts[0]!.id
    await store.deliveries.recordLate(lateBounce(id, records.report(), 'delivered'))
    const opened = { deliveryId: id, kind: 'opened' as const, machine: false, suppression: null, now: START }
    await store.deliveries.recordEngagement({ ...opened, event: records.event({ type: 'message.opened' }) })
    await store.events.append([records.event()])
    const [post] = await claimDue(store.webhookDeliveries, { now: START, limit: 1, worker: WORKER })
    const attempt = { attempt: postAttempt(), pauseReason: null, now: START }
    const deferred = { status: 'pending' as const, nextAttemptAt: START + 5 }
    await store.webhookDeliveries.record({ deliveryId: post!.id, worker: WORKER, ...deferred, ...attempt })

    const routes = [records.inboundRoute(), records.inboundRoute({ action: { type: 'store', config: {} } })]
    for (const route of routes) await store.inboundRoutes.create(route, 'whsec_a')
    await store.inbound.accept(records.acceptedInbound(routes))
    const [mail] = await claimDue(store.inboundDeliveries, { now: START, limit: 1, worker: WORKER })
    const over = { status: 'delivered' as const, nextAttemptAt: null, now: START, attempt: postAttempt() }
    await store.inboundDeliveries.record({ deliveryId: mail!.id, worker: WORKER, ...over })

    const before = filled()
    while (await step());
    const after = filled()
    expect(before.filter((table) => !after.includes(table))).toEqual([
      'contents',
      'deliveries',
      'delivery_outcomes',
      'engagement',
      'events',
      'inbound_addresses',
      'inbound_attempts',
      'inbound_deliveries',
      'inbound_messages',
      'message_marks',
      'message_tags',
      'messages',
      'reports',
      'search_ranges',
      'webhook_attempts',
      'webhook_deliveries',
      'webhook_queue',
    ])
    expect(after).toEqual([
      'certificates',
      'configuration',
      'configuration_changes',
      'dkim_keys',
      'domains',
      'event_kinds',
      'inbound_routes',
      'instance',
      'lanes',
      'leases',
      'migrations',
      'nodes',
      'organizations',
      'quality_counts',
      'seal',
      'slots',
      'stats',
      'usage',
      'users',
      'webhooks',
      'workers',
    ])
    expect((await store.usage.of(ORGANIZATION, START)).storedBytes).toBe(0)
  })

  test('an event with more webhook deliveries than a step removes is removed with the last of them', async () => {
    const event = records.event()
    await store.events.append([event])
    sql(`insert into webhook_deliveries (id, organization_id, webhook_id, event_id, type, created_at)
      select 'whd_' || n, '${ORGANIZATION}', 'whk_' || n, '${event.id}', 'message.delivered', 0
      from generate_series(1, 1500) n`)
    sql(`insert into fan_outs select organization_id, place, id, 'digest' from events`)
    const left = () => ['webhook_deliveries', 'events', 'fan_outs'].map((table) => sql(`select count(*) from ${table}`))
    await step() // messages: there are none
    await step()
    expect(left()).toEqual(['500', '1', '1'])
    await step()
    expect(left()).toEqual(['0', '0', '0'])
  })

  test('an opening that is being recorded is removed with its message', async () => {
    const { deliveries } = await accept(store, records.accepted(OVER))
    const id = deliveries[0]!.id
    const settings = { idle_in_transaction_session_timeout: '0' }
    const other = await connect({ address: parseDatabaseUrl(postgres.url(database)), name: 'opening', settings })
    await other.query('begin')
    await other.query('select id from deliveries where id = $1 for no key update', [id])
    await other.query('insert into engagement (delivery_id, organization_id, opens) values ($1, $2, 1)', [id, 'org_a'])
    const removing = step()
    const waiting = `select count(*) from pg_stat_activity where wait_event_type = 'Lock'`
    await until('the removal to wait', () => sql(waiting) !== '0')
    await other.query('commit')
    other.close()
    await removing
    expect([sql('select count(*) from messages'), sql('select count(*) from engagement')]).toEqual(['0', '0'])
  })

  test('a step ends when it has removed some megabytes', async () => {
    await accept(store, ...Array.from({ length: 5 }, () => records.accepted({ ...OVER, sizeBytes: 5_000_000 })))
    const left: string[] = []
    for (let steps = 0; steps < 3; steps++) {
      await step()
      left.push(sql('select count(*) from messages'))
    }
    expect(left).toEqual(['3', '1', '0'])
  })
})
