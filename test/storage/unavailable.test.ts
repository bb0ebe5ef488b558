import { afterEach, beforeEach, expect, test } from 'bun:test'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Connection, connect } from '../../src/storage/sqlite/driver.ts'
import { openEncryption } from '../../src/storage/sqlite/encryption-key.ts'
import { migrate } from '../../src/storage/sqlite/migrate.ts'
import { storeOn } from '../../src/storage/sqlite/store.ts'
import { type Store, StoreUnavailable } from '../../src/storage/store.ts'
import { ANY, claimDue } from '../support/claim.ts'
import {
  ALL_MESSAGES,
  accept,
  claim,
  createRecords,
  found,
  type Records,
  recordOf,
  START,
  WORKER,
  YEARS_LATER,
} from './records.ts'

let dataDir: string
let store: Store
let other: Connection
/** The disk refuses commits. */
let isFull: boolean
let onCommit: () => void
let records: Records
beforeEach(async () => {
  dataDir = mkdtempSync(join(tmpdir(), 'postrider-unavailable-'))
  const db = connect(join(dataDir, 'postrider.db'), { busyTimeoutMs: 0 })
  migrate(db, START)
  isFull = false
  refuseCommits(db)
  onCommit = () => {}
  const commitListener = { committed: () => onCommit(), suppressed: () => {} }
  store = storeOn(db, openEncryption(':memory:', db), { commitListener })
  other = connect(join(dataDir, 'postrider.db'), { busyTimeoutMs: 0 })
  records = createRecords()
  await found(store, records)
})
afterEach(async () => {
  other.close()
  await store.close()
  rmSync(dataDir, { recursive: true })
})

test('mail that was written with that of others is acknowledged, although its own turn comes when nothing can be written', async () => {
  const mails = Array.from({ length: 20 }, () => records.accepted())
  const written = () => new Set(other.prepare<unknown[], string>('select id from messages').pluck().all())
  onCommit = () => {
    if (written().size > 0) other.exec('begin immediate')
  }
  // The first mail is the last change of the first group.
  const before = Array.from({ length: 255 }, () => store.deliveries.release([], START))
  const answers = await Promise.allSettled(mails.map((mail) => accept(store, mail)))
  await Promise.allSettled(before)
  const acknowledged = mails.filter((_, at) => answers[at]!.status === 'fulfilled')
  expect(new Set(acknowledged.map(({ message }) => message.id))).toEqual(written())
  expect(acknowledged).not.toBeEmpty()
  other.exec('commit')
})

test('a store that cannot write says so and loses nothing', async () => {
  await accept(store, records.accepted({ deliveries: [{}, {}] }))
  const [held] = await claim(store, { limit: 1 })
  other.exec('begin immediate')
  await expect(store.checkWritable()).rejects.toBeInstanceOf(StoreUnavailable)
  await expect(accept(store, records.accepted())).rejects.toBeInstanceOf(StoreUnavailable)
  await expect(claim(store)).rejects.toBeInstanceOf(StoreUnavailable)
  await expect(store.deliveries.record(recordOf(held!))).rejects.toBeInstanceOf(StoreUnavailable)
  other.exec('commit')
  await store.checkWritable()
  expect(await store.deliveries.nextDueAt(ANY)).toBe(START)
  expect(await store.deliveries.record(recordOf(held!))).toBe('recorded')
  expect(await claim(store)).toHaveLength(1)
})

test('a store that cannot write can still be read and searched, up to the newest message', async () => {
  const { message } = await accept(store, records.accepted({ subject: 'indexed needle' }))
  await store.maintain('recent', () => true)
  const late = await accept(store, records.accepted({ subject: 'late needle' }))
  other.exec('begin immediate')
  expect(await store.messages.get(late.message.id)).not.toBeNull()
  const list = () => store.messages.list({ ...ALL_MESSAGES, text: 'needle' }, { limit: 9, after: null })
  const all = [late.message.id, message.id]
  expect((await list()).records.map(({ id }) => id)).toEqual(all)
  other.exec('commit')
  expect((await list()).records.map(({ id }) => id)).toEqual(all)
})

test('a claim that the disk refused leaves its work to the next one', async () => {
  await accept(store, records.accepted({ deliveries: [{ email: 'a@a.example' }, { email: 'b@b.example' }] }))
  isFull = true
  await expect(claim(store)).rejects.toThrow(StoreUnavailable)
  isFull = false
  expect(await claim(store)).toHaveLength(2)
  expect(await claim(store, { now: YEARS_LATER })).toEqual([])
})

test('cached reads of a change that the disk refused are dropped', async () => {
  const route = records.inboundRoute()
  await store.inboundRoutes.create(route, 'secret')
  await store.inbound.accept(records.acceptedInbound([route]))
  isFull = true
  const outcomes = await Promise.allSettled([
    store.inboundRoutes.update(route.id, { enabled: false }),
    store.inbound.accept(records.acceptedInbound([route])),
  ])
  isFull = false
  for (const outcome of outcomes) expect(outcome).toMatchObject({ reason: expect.any(StoreUnavailable) })
  const request = { now: START, limit: 9, worker: WORKER, freeFor: () => 9 }
  expect(await claimDue(store.inboundDeliveries, request)).toHaveLength(1)
})

/** Makes the connection's commits fail while the disk is full, as SQLite does. */
function refuseCommits(db: Connection): void {
  const prepare = db.prepare.bind(db)
  db.prepare = ((sql: string) => {
    const statement = prepare(sql)
    if (sql !== 'commit') return statement
    const run = statement.run.bind(statement)
    statement.run = () => {
      if (isFull) throw Object.assign(new Error('database or disk is full'), { code: 'SQLITE_FULL' })
      return run()
    }
    return statement
  }) as Connection['prepare']
}
