import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'bun:test'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseDatabaseUrl } from '../../../src/storage/postgres/address.ts'
import { connect } from '../../../src/storage/postgres/connection.ts'
import { openPostgresStore } from '../../../src/storage/postgres/open.ts'
import type { Store } from '../../../src/storage/store.ts'
import { ANY, claimDue } from '../../support/claim.ts'
import { until } from '../../support/patience.ts'
import { describeWithPostgres, startPostgres, type TestPostgres } from '../../support/postgres.ts'
import { createMigrated } from '../migrated.ts'
import { accept, claim, createRecords, found, type Records, recordOf, START } from '../records.ts'

/** More rows than one statement visits. */
const ROWS = 12_000

describeWithPostgres('queues in PostgreSQL', () => {
  let postgres: TestPostgres
  let dataDir: string
  let url: string
  let createDatabase: () => Promise<string>
  let store: Store
  let records: Records
  beforeAll(async () => {
    postgres = await startPostgres()
    createDatabase = await createMigrated(postgres)
  })
  afterAll(async () => {
    await postgres.stop()
  })
  afterEach(async () => {
    await store.close()
    rmSync(dataDir, { recursive: true })
  })
  beforeEach(async () => {
    dataDir = mkdtempSync(join(tmpdir(), 'postrider-store-'))
    url = await createDatabase()
    const open = async () => (await openPostgresStore({ url, dataDir, now: START })) as Store
    store = await open()
    reopen = async () => {
      await store.close()
      store = await open()
    }
    records = createRecords()
    await found(store, records)
  })
  let reopen: () => Promise<void>
  const sql = (statement: string) => postgres.psql(statement, new URL(url).pathname.slice(1))

  /** One delivery due each ms; a worker has the first three. */
  const fill = () => {
    sql(`insert into claims (number, queue, worker, writer, numbers)
      values (1, 'webhook_deliveries', 'w', 0, '[1, 2, 3]')`)
    sql(`insert into webhook_deliveries (number, id, webhook_id, event_number, type, status, attempts, next_attempt_at,
        worker, created_at)
      select n, 'whd_' || n, 'whk_' || n % 7, n, 'message.delivered', 'pending', 0, ${START} + n,
        case when n <= 3 then 'w' end, 0 from generate_series(1, ${ROWS}) n`)
  }

  test('claims that are over are removed by later ones, whatever numbers others take between them', async () => {
    const deliveries = Array.from({ length: 60 }, (_, at) => ({ email: `${at}@b.example` }))
    await accept(store, records.accepted({ deliveries }))
    const fifteen = () => Array.from({ length: 15 }, () => records.event())
    for (let count = 0; count < 60; count++) {
      const [claimed] = await claim(store, { limit: 1 })
      await store.deliveries.record({ ...recordOf(claimed!), events: fifteen() })
    }
    expect(Number(sql('select count(*) from claims'))).toBeLessThanOrEqual(16)
    // Statements are planned while the table is empty. Sessions tell at their end what they read.
    await store.close()
    await until('its sessions have ended', () => postgres.backendsOf('postrider mail').length === 0)
    const read = Number(sql(`select idx_tup_read from pg_stat_user_indexes where indexrelname = 'deliveries_pkey'`))
    await reopen()
    expect(read).toBeLessThan(1_000)
  })

  test('a delivery that a claim passed over, because another transaction had locked it, is due again', async () => {
    const deliveries = [-9, -6, -3].map((at) => ({ email: `${-at}@b.example`, nextAttemptAt: START + at }))
    await accept(store, records.accepted({ deliveries }))
    const other = await connect({ address: parseDatabaseUrl(url), name: 'another transaction' })
    await other.query('begin')
    await other.query(`select 1 from deliveries where email = '9@b.example' for update`)
    const emails = async (limit: number) => (await claim(store, { limit })).map(({ delivery }) => delivery.email)
    expect(await emails(1)).toEqual(['6@b.example'])
    await other.query('rollback')
    other.close()
    expect(await store.deliveries.nextDueAt(ANY)).toBe(START - 9)
    expect(await emails(9)).toEqual(['9@b.example', '3@b.example'])
    expect(await store.deliveries.nextDueAt(ANY)).toBeNull()
  })

  test('a queue of any length is counted', async () => {
    fill()
    expect((await store.queues.waiting(START + 100)).webhookDeliveries).toEqual({
      due: 97,
      later: ROWS - 97,
      oldestDueAt: START + 4,
    })
  })

  test('a queue of any length is put on hold, released by their time and discarded', async () => {
    fill()
    await store.held.hold()
    const heldNow = async () => (await store.held.count()).webhookDeliveries
    expect(await heldNow()).toBe(ROWS)
    expect(await store.webhookDeliveries.nextDueAt(ANY)).toBeNull()
    const half = START + ROWS / 2
    expect(await store.held.release('webhookDeliveries', { dueAfter: half, now: half + 2 })).toBe(ROWS / 2)
    const waiting = 'from webhook_deliveries where next_attempt_at is not null'
    expect(sql(`select min(next_attempt_at), count(*) ${waiting}`)).toBe(`${half + 2}|${ROWS / 2}`)
    await store.held.hold()
    expect(await store.held.release('webhookDeliveries', { dueAfter: half + 2, now: half })).toBe(ROWS / 2 - 2)
    expect(await store.held.discard('webhookDeliveries', START)).toBe(ROWS / 2 + 2)
    expect(await heldNow()).toBe(0)
    expect(sql(`select count(*) from webhook_deliveries where status = 'failed'`)).toBe(String(ROWS / 2 + 2))
    expect(sql(`select count(*), max(worker) ${waiting}`)).toBe(`${ROWS / 2 - 2}|`)
  })

  test('a burst of mails, and of the results of their posts, shares transactions', async () => {
    const route = records.inboundRoute()
    await store.inboundRoutes.create(route, 'secret')
    const groups = () => Number(sql('select sum(group_no) from lanes'))
    const before = groups()
    await Promise.all(Array.from({ length: 200 }, () => store.inbound.accept(records.acceptedInbound([route]))))
    expect(groups() - before).toBeLessThan(10)
    const request = { now: START, limit: 200, worker: 'w' }
    const claims = await claimDue(store.inboundDeliveries, request)
    const attempt = { number: 1, at: START, durationMs: 1, statusCode: 200, error: null, responseExcerpt: null }
    const result = { worker: 'w', attempt, status: 'delivered' as const, nextAttemptAt: null, now: START }
    const results = await Promise.all(
      claims.map(({ id }) => store.inboundDeliveries.record({ ...result, deliveryId: id })),
    )
    expect(results).toEqual(Array(200).fill('recorded'))
    expect(groups() - before).toBeLessThan(20)
  })

  test('a claim takes the destinations that are due longest, of any number', async () => {
    const many = 400
    sql(`insert into webhook_deliveries (number, id, webhook_id, event_number, type, status, attempts, next_attempt_at,
        created_at)
      select n, 'whd_' || n, 'whk_' || n, 1, 'message.delivered', 'pending', 0, ${START} + n, 0
        from generate_series(0, ${many - 1}) n;
      insert into events (number, id, organization_id, domain_id, kind, type, mode, created_at, body)
        values (1, 'evt_1', 'org_a', null, 1, 'message.delivered', 'live', 0, '{}');
      analyze`)
    for (let n = 0; n < many; n++) await store.webhooks.create(records.webhook({ id: `whk_${n}` }), 'whsec_a')
    await reopen()
    const request = { now: START + many, limit: 100 }
    const plan = await store.webhookDeliveries.planClaims({ ...request, look: ANY })
    const claims = await store.webhookDeliveries.claimDue({ ...request, limit: 10, plan, worker: 'w' })
    expect(claims.map(({ id }) => id)).toEqual(Array.from({ length: 10 }, (_, n) => `whd_${n}`))
  })

  test('a claim whose messages cannot be read leases nothing', async () => {
    await accept(store, records.accepted())
    sql('alter table message_contents rename to aside')
    expect(await claim(store).catch(String)).toContain('message_contents')
    sql('alter table aside rename to message_contents')
    await reopen()
    expect((await claim(store)).map(({ delivery }) => delivery.attempts)).toEqual([1])
  })

  const refuseRemoval = (table: string) =>
    sql(`create function refuse() returns trigger language plpgsql as 'begin raise exception ''not now''; end';
      create trigger refuse before delete on ${table} execute function refuse()`)
  const allowRemoval = () => sql('drop function refuse cascade')

  test('a route whose removal was interrupted takes no delivery, and can be removed again', async () => {
    const route = records.inboundRoute()
    await store.inboundRoutes.create(route, 'secret')
    const before = records.acceptedInbound([route])
    await store.inbound.accept(before)
    refuseRemoval('inbound_routes')
    expect(await store.inboundRoutes.remove(route.id).catch(String)).toContain('not now')
    expect(await store.inboundRoutes.get(route.id)).toEqual({ ...route, enabled: false })
    await reopen()
    const late = records.acceptedInbound([route])
    await store.inbound.accept(late)
    const deliveryOf = async ({ taken }: typeof late) =>
      (await store.inboundDeliveries.ofMessage(taken[0]!.message.id))[0]
    expect(await deliveryOf(late)).toMatchObject({ status: 'failed', nextAttemptAt: null })
    allowRemoval()
    await store.inboundRoutes.remove(route.id)
    expect(await store.inboundRoutes.get(route.id)).toBeNull()
    for (const each of [before, late]) {
      expect(await deliveryOf(each)).toMatchObject({ status: 'failed', nextAttemptAt: null })
    }
  })

  test('a webhook whose removal was interrupted gets no delivery, and can be removed again', async () => {
    const hook = records.webhook()
    await store.webhooks.create(hook, 'whsec_a')
    await store.events.append([records.event()])
    refuseRemoval('webhooks')
    expect(await store.webhooks.remove(hook.id).catch(String)).toContain('not now')
    expect(await store.webhooks.get(hook.id)).toEqual({ ...hook, status: 'paused' })
    await reopen()
    await store.webhooks.update(hook.id, { status: 'active' }, START)
    await store.events.append([records.event()])
    await store.events.append([records.event()], hook.id)
    const range = { from: START - 1, before: START + 1_000_000, type: null, afterEvent: null }
    expect(await store.webhookDeliveries.replay(hook.id, range, 9, START).catch(String)).toContain('no webhook')
    // The last deliveries are deleted together with the webhook.
    expect(sql('select count(*) from webhook_deliveries')).toBe('1')
    allowRemoval()
    await store.webhooks.remove(hook.id)
    expect(await store.webhooks.get(hook.id)).toBeNull()
    expect(sql('select count(*) from webhook_deliveries')).toBe('0')
  })
})
