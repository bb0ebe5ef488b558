import { expect, spyOn, test } from 'bun:test'
import { type Connection, connect } from '../../src/storage/sqlite/driver.ts'
import { openEncryption } from '../../src/storage/sqlite/encryption-key.ts'
import { migrate } from '../../src/storage/sqlite/migrate.ts'
import { storeOn } from '../../src/storage/sqlite/store.ts'
import type { ClaimedInboundDelivery, ClaimedWebhookDelivery, ClaimQueue, Store } from '../../src/storage/store.ts'
import { ANY, claimDue } from '../support/claim.ts'
import { accept, claim, createRecords, found, postAttempt, type Records, recordOf, START, WORKER } from './records.ts'

test('statements for a mail are prepared once and not for each mail', async () => {
  const db = connect(':memory:', { busyTimeoutMs: 0 })
  migrate(db, 0)
  const store = storeOn(watched(db), openEncryption(':memory:', db))
  const records = createRecords()
  await found(store, records)
  await store.webhooks.create(records.webhook(), 'secret')
  const route = records.inboundRoute()
  await store.inboundRoutes.create(route, 'secret')
  const carry = async () => {
    await sent(store, records)
    await store.inbound.accept(records.acceptedInbound([route]))
    await answered(store.inboundDeliveries)
  }
  await carry()
  // The driver generates the row function of a statement each time after SQLite has prepared it.
  const written = spyOn(globalThis, 'Function')
  try {
    await carry()
    expect(written.mock.calls).toEqual([])
    db.prepare('select 1 as one').get()
    expect(written).toHaveBeenCalledTimes(1) // the driver is unchanged
  } finally {
    written.mockRestore()
    await store.close()
  }
})

async function sent(store: Store, records: Records): Promise<void> {
  const accepted = [records.accepted(), records.accepted()]
  for (const email of ['ann@example.com', 'ben@example.com']) {
    await store.suppressions.among(accepted[0]!.message, [email])
  }
  await accept(store, ...accepted)
  await store.deliveries.nextDueAt(ANY)
  for (const claimed of await claim(store)) {
    await store.deliveries.record(recordOf(claimed, undefined, { events: [records.event()] }))
  }
  await answered(store.webhookDeliveries)
}

async function answered(queue: Store['webhookDeliveries'] | Store['inboundDeliveries']): Promise<void> {
  const claims = await claimDue(queue as ClaimQueue<ClaimedInboundDelivery | ClaimedWebhookDelivery>, {
    now: START,
    limit: 9,
    worker: WORKER,
  })
  for (const { id, attempt, worker } of claims) {
    const outcome = { status: 'delivered' as const, nextAttemptAt: null, pauseReason: null, now: START }
    const attempted = postAttempt({ number: attempt })
    await queue.record({ deliveryId: id, worker, attempt: attempted, ...outcome })
  }
}

/** Single values are read as rows, because only those show it. */
function watched(db: Connection): Connection {
  const prepare = db.prepare.bind(db)
  const single = (row: unknown) => Object.values(row as object)[0]
  db.prepare = ((sql: string) => {
    const statement = prepare(sql)
    const pluck = () => ({
      get: (...values: unknown[]) => {
        const row = statement.get(...values)
        return row === undefined ? undefined : single(row)
      },
      all: (...values: unknown[]) => statement.all(...values).map(single),
    })
    return Object.assign(statement, { pluck })
  }) as Connection['prepare']
  return db
}
