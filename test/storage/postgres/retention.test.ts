import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'bun:test'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseDatabaseUrl } from '../../../src/storage/postgres/address.ts'
import { type Connection, connect } from '../../../src/storage/postgres/connection.ts'
import { openPostgresStore } from '../../../src/storage/postgres/open.ts'
import type { Store } from '../../../src/storage/store.ts'
import { until } from '../../support/patience.ts'
import { describeWithPostgres, startPostgres, type TestPostgres } from '../../support/postgres.ts'
import { accept, createRecords, found, ORGANIZATION, type Records, START } from '../records.ts'

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
  const pass = async () => {
    while (await step());
  }
  const count = (...tables: string[]) => tables.map((table) => Number(sql(`select count(*) from ${table}`)))

  /** Another session in a transaction. Its connection reads one number of each row. */
  const inTransaction = async (): Promise<Connection> => {
    const settings = { idle_in_transaction_session_timeout: '0' }
    const other = await connect({ address: parseDatabaseUrl(postgres.url(database)), name: 'other', settings })
    await other.query('begin')
    return other
  }
  const waitsForLock = () =>
    until(
      'a session to wait',
      () => sql(`select count(*) from pg_stat_activity where wait_event_type = 'Lock'`) !== '0',
    )

  test('an event with more webhook deliveries than a step removes is removed with the last of them', async () => {
    await store.events.append([records.event()])
    sql(`insert into webhook_deliveries (number, id, webhook_id, event_number, type, status, attempts, created_at)
      select n, 'whd_' || n, 'whk_' || n, (select number from events), 'message.delivered', 'delivered', 1, 0
      from generate_series(1, 1500) n`)
    sql(`insert into fan_outs (event_number, organization_id, target_set, next)
      select number, organization_id, 1, 0 from events`)
    await step(() => true)
    expect(count('webhook_deliveries', 'events')).toEqual([500, 1])
    await step(() => true)
    expect(count('webhook_deliveries', 'events', 'fan_outs')).toEqual([0, 0, 0])
  })

  test('a message with a delivery that another session has locked is for the next pass', async () => {
    await accept(store, records.accepted(OVER), records.accepted(OVER))
    const other = await inTransaction()
    await other.query('select number from deliveries order by number limit 1 for no key update')
    await other.query(`insert into reports (number, delivery_number, digest, kind, received_at)
      select 1, min(number), 'x', 'bounce', 0 from deliveries`)
    await pass()
    expect(count('messages', 'deliveries')).toEqual([1, 1])
    await other.query('commit')
    other.close()
    await pass()
    expect(count('messages', 'deliveries', 'reports')).toEqual([0, 0, 0])
  })

  test('an event with a post that another session has locked stays until then', async () => {
    await store.webhooks.create(records.webhook(), 'whsec_a')
    await store.events.append([records.event()])
    const other = await inTransaction()
    await other.query('select number from webhook_deliveries for update')
    await other.query(`insert into webhook_attempts (delivery_number, number, at, duration_ms)
      select number, 1, 0, 1 from webhook_deliveries`)
    await step(() => true)
    expect(count('events', 'webhook_deliveries')).toEqual([1, 1])
    await other.query('commit')
    other.close()
    await pass()
    expect(count('events', 'webhook_deliveries', 'webhook_attempts')).toEqual([0, 0, 0])
  })

  test('of two sessions that remove the last messages of one mail, the second removes the mail', async () => {
    const routes = [1, 2].map(() => records.inboundRoute({ action: { type: 'store', config: {} } }))
    await store.inbound.accept(records.acceptedInbound(routes))
    expect(count('inbound_messages', 'inbound_raws')).toEqual([2, 1])
    const other = await inTransaction()
    await other.query('select number from inbound_raws for update')
    await other.query('delete from inbound_messages where number = (select max(number) from inbound_messages)')
    const removing = step(() => true)
    await waitsForLock()
    await other.query('commit')
    other.close()
    await removing
    expect(count('inbound_messages', 'inbound_raws')).toEqual([0, 0])
  })

  test('a step ends when it has removed some megabytes', async () => {
    await accept(store, ...Array.from({ length: 5 }, () => records.accepted({ ...OVER, sizeBytes: 5_000_000 })))
    const left: number[] = []
    for (let steps = 0; steps < 3; steps++) {
      await step()
      left.push(...count('messages'))
    }
    expect(left).toEqual([3, 1, 0])
  })
})
