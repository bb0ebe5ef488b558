import { expect, test } from 'bun:test'
import { type Connection, connect } from '../../src/storage/sqlite/driver.ts'
import { openEncryption } from '../../src/storage/sqlite/encryption-key.ts'
import { PACE } from '../../src/storage/sqlite/engine.ts'
import { migrate } from '../../src/storage/sqlite/migrate.ts'
import { storeOn } from '../../src/storage/sqlite/store.ts'
import { ALL_MESSAGES, accept, createRecords, found, idsByPage, ORGANIZATION, START } from './records.ts'

const SLICE = PACE.slice
const DAY = 86_400_000
const OVER = { status: 'delivered' as const, deliveries: [{ status: 'delivered' as const, nextAttemptAt: null }] }
const MANY = 40

test('no read of retention exceeds a slice, and a step without time reads once', async () => {
  const db = connect(':memory:', { busyTimeoutMs: 0 })
  migrate(db, 0)
  const reads: number[] = []
  const store = storeOn(watched(db, reads), openEncryption(':memory:', db))
  const records = createRecords()
  await found(store, records)
  const route = records.inboundRoute({ action: { type: 'store', config: {} } })
  for (let count = 0; count < MANY; count++) {
    await accept(store, records.accepted(OVER), records.accepted())
    await store.inbound.accept(records.acceptedInbound([route]))
  }
  await store.events.append(Array.from({ length: MANY }, () => records.event()))

  const request = { organizationId: ORGANIZATION, before: START + DAY, unsubscribableSince: START }
  const remove = async (isUp: boolean) => {
    reads.length = 0
    return store.retention.remove({ ...request, timeIsUp: () => isUp })
  }
  expect(await remove(true)).toBe(true)
  expect(reads.filter((count) => count > 1)).toEqual([SLICE]) // the others are of what belongs to a message
  const sizes: number[] = []
  while (await remove(false)) sizes.push(...reads)
  expect(Math.max(...sizes)).toBe(SLICE)
  expect(sizes.length).toBeGreaterThan((4 * MANY) / SLICE)
  expect(await idsByPage((page) => store.messages.list(ALL_MESSAGES, page))).toHaveLength(MANY)
  await store.close()
})

/** Records how many rows each statement for several rows has returned. */
function watched(db: Connection, reads: number[]): Connection {
  const prepare = db.prepare.bind(db)
  db.prepare = ((sql: string) => {
    const statement = prepare(sql)
    const all = statement.all.bind(statement)
    statement.all = (...values: unknown[]) => {
      const rows = all(...values)
      reads.push(rows.length)
      return rows
    }
    return statement
  }) as Connection['prepare']
  return db
}
