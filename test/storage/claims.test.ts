import { afterEach, beforeEach, expect, test } from 'bun:test'
import { type Connection, connect } from '../../src/storage/sqlite/driver.ts'
import { openEncryption } from '../../src/storage/sqlite/encryption-key.ts'
import { migrate } from '../../src/storage/sqlite/migrate.ts'
import { storeOn } from '../../src/storage/sqlite/store.ts'
import type { Store } from '../../src/storage/store.ts'
import { claimDue } from '../support/claim.ts'
import { accept, claim, createRecords, found, postAttempt, type Records, recordOf, START, WORKER } from './records.ts'

let db: Connection
let store: Store
let records: Records
beforeEach(async () => {
  db = connect(':memory:', { busyTimeoutMs: 0 })
  migrate(db, 0)
  store = storeOn(db, openEncryption(':memory:', db))
  records = createRecords()
  await found(store, records)
})
afterEach(() => store.close())

const claims = () => db.prepare<unknown[], string>('select numbers from claims order by number').pluck().all()
const claimOne = async () => (await claim(store, { limit: 1 }))[0]!

test('claims whose leases are over are removed by later ones, and those of a lease stay', async () => {
  await accept(
    store,
    records.accepted({ deliveries: Array.from({ length: 101 }, (_, at) => ({ email: `${at}@b.example` })) }),
  )
  await claimOne()
  const [held] = claims()
  for (let count = 0; count < 100; count++) await store.deliveries.record(recordOf(await claimOne()))
  expect(claims()).toContain(held!)
  expect(claims().length).toBeLessThanOrEqual(17)
  expect(await store.workers.ended('another')).toEqual([WORKER])
  expect(await store.deliveries.endLeases(WORKER, new Set(), START)).toBe(1)
  expect(claims()).toEqual([])
})

test('claims of two queues that take turns are removed in both', async () => {
  await store.webhooks.create(records.webhook(), 'whsec_a')
  await accept(
    store,
    records.accepted({ deliveries: Array.from({ length: 40 }, (_, at) => ({ email: `${at}@b.example` })) }),
  )
  for (let count = 0; count < 40; count++) {
    await store.deliveries.record({ ...recordOf(await claimOne()), events: [records.event()] })
    const [post] = await claimDue(store.webhookDeliveries, { now: START, limit: 1, worker: WORKER })
    const { id: deliveryId, worker, attempt } = post!
    const result = { status: 'delivered', nextAttemptAt: null, pauseReason: null, now: START } as const
    await store.webhookDeliveries.record({ deliveryId, worker, attempt: postAttempt({ number: attempt }), ...result })
  }
  expect(claims().length).toBeLessThanOrEqual(2 * 16)
})

test('a claim that is rolled back with its group leaves no row, and what it found is due', async () => {
  await accept(store, records.accepted())
  const failing = records.accepted()
  const mail = { ...failing, message: { ...failing.message, id: null as never } }
  const [claimed, refused] = await Promise.allSettled([claim(store), accept(store, mail)])
  expect([claimed.status, refused.status]).toEqual(['fulfilled', 'rejected'])
  expect(claims()).toHaveLength(1)
})
