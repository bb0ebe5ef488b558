import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'bun:test'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openPostgresStore } from '../../../src/storage/postgres/open.ts'
import type { Store } from '../../../src/storage/store.ts'
import { describeWithPostgres, startPostgres, type TestPostgres } from '../../support/postgres.ts'
import { accept, createRecords, found, ORGANIZATION, type Records, START } from '../records.ts'

describeWithPostgres('the recount of stored bytes in PostgreSQL', () => {
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
    database = `bytes${++databases}`
    store = await openPostgresStore({ url: await postgres.createDatabase(database), dataDir, now: START })
    records = createRecords()
    await found(store, records)
    await store.organizations.create(records.organization({ id: 'org_b', name: 'Other' }))
  })
  afterEach(async () => {
    await store.close()
    rmSync(dataDir, { recursive: true })
  })
  afterAll(() => postgres.stop())

  const sql = (statement: string) => postgres.psql(statement, database)
  const used = async (organization = ORGANIZATION) => (await store.usage.of(organization, START)).storedBytes
  const recount = async () => {
    await store.usage.beginCount()
    while (await store.usage.countSome());
  }
  const OVER = { status: 'delivered' as const, deliveries: [{ status: 'delivered' as const, nextAttemptAt: null }] }

  test('it corrects a wrong counter, whatever is written and removed meanwhile', async () => {
    const many = (count: number) =>
      Promise.all(Array.from({ length: count }, () => accept(store, records.accepted(OVER))))
    await many(100)
    const route = records.inboundRoute({ action: { type: 'store', config: {} } })
    await store.inboundRoutes.create(route, 'whsec_a')
    await store.inbound.accept(records.acceptedInbound([route]))
    await store.suppressions.add(records.suppression(), records.remember({ body: new Uint8Array(1000) }))
    const request = { organizationId: ORGANIZATION, before: START + 1, unsubscribableSince: 0 }
    const removeSome = async () => {
      let looked = 0
      await store.retention.remove({ ...request, timeIsUp: () => ++looked > 20 })
    }
    for (const error of [12_345, -67_890]) {
      sql(`update usage set used = used + ${error} where ctid = (
        select ctid from usage where name = 'stored_bytes' and organization_id = '${ORGANIZATION}' limit 1)`)
      const busy = Promise.all([many(50), removeSome(), many(50)])
      await recount()
      await busy
      const [messages, inbound] = [sql('select sum(stored_bytes) from messages'), 2 * 100 + 2048]
      expect(await used()).toBe(Number(messages) + inbound + 1000)
    }
  })

  test('an organization whose count fails is skipped', async () => {
    for (const organizationId of [ORGANIZATION, 'org_b']) await accept(store, records.accepted({ organizationId }))
    const right = await used()
    sql(`update usage set used = 1 where name = 'stored_bytes'`)
    sql('alter table inbound_messages rename to missing')
    await store.usage.beginCount()
    await expect(store.usage.countSome()).rejects.toThrow('inbound_messages')
    sql('alter table missing rename to inbound_messages')
    expect(await store.usage.countSome()).toBe(false)
    expect([await used(), await used('org_b')].sort()).toEqual([1, right])
  })
})
