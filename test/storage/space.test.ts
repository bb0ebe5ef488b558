import { afterEach, beforeEach, expect, test } from 'bun:test'
import { mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openStore } from '../../src/storage/sqlite/open.ts'
import { SEARCH_FILE } from '../../src/storage/sqlite/search-index.ts'
import { removeAll } from './contract-retention.ts'
import { ALL_MESSAGES, accept, createRecords, found, START } from './records.ts'

let dataDir: string
beforeEach(() => {
  dataDir = mkdtempSync(join(tmpdir(), 'postrider-space-'))
})
afterEach(() => rmSync(dataDir, { recursive: true }))

const MIB = 2 ** 20
const DAY = 86_400_000

test('removed data leaves the disk: the files shrink, and no word of it remains', async () => {
  const store = await openStore({ dataDir, now: START })
  const records = createRecords()
  await found(store, records)
  const random = new Uint8Array(20_000)
  const message = (at: number, subject: string) => {
    crypto.getRandomValues(random)
    const over = { status: 'delivered' as const, deliveries: [{ status: 'delivered' as const, nextAttemptAt: null }] }
    const content = Buffer.concat([random, Buffer.from(subject)])
    return { ...records.accepted({ ...over, subject, createdAt: at }), content }
  }
  const old = Array.from({ length: 500 }, () => message(START, 'Zanzibar'))
  const young = Array.from({ length: 20 }, () => message(START + DAY, 'Quokka'))
  // Interleaved, so that the end of the file is in use.
  for (let from = 0; from < 20; from++) await accept(store, ...old.slice(from * 25, from * 25 + 25), young[from]!)
  while (await store.maintain('recent', () => true));
  while (await store.maintain('removed', () => false));
  const bytes = () => readFileSync(join(dataDir, 'postrider.db'))
  const full = bytes()
  expect(full.length).toBeGreaterThan(10 * MIB)
  const words = () => Buffer.concat(['', '-wal'].map((end) => readFileSync(join(dataDir, SEARCH_FILE + end))))
  expect([full.includes('Zanzibar'), words().includes('zanzibar')]).toEqual([true, true])

  await removeAll(store, START + DAY)
  while (await store.maintain('removed', () => false));
  const left = bytes()
  expect(left.length).toBeLessThan(3 * MIB)
  expect([left.includes('Zanzibar'), left.includes('Quokka')]).toEqual([false, true])
  expect([words().includes('zanzibar'), words().includes('quokka')]).toEqual([false, true])
  expect(statSync(join(dataDir, 'postrider.db-wal')).size).toBe(0)
  const all = (await store.messages.list({ ...ALL_MESSAGES, text: 'quokka' }, { limit: 100, after: null })).records
  expect(all.map(({ id }) => id).sort()).toEqual(young.map(({ message: { id } }) => id).sort())
  expect(await store.messages.content(young[7]!.message.id)).toEqual(young[7]!.content)
  await store.close()
})

test('space is given back in as many steps as it takes when each has no time', async () => {
  const store = await openStore({ dataDir, now: START })
  const records = createRecords()
  await found(store, records)
  const random = crypto.getRandomValues(new Uint8Array(60_000))
  const removed = () => ({ ...records.accepted({ status: 'cancelled' }), content: random })
  await accept(store, ...Array.from({ length: 60 }, removed))
  while (await store.maintain('removed', () => false));
  const size = () => statSync(join(dataDir, 'postrider.db')).size
  const full = size()
  await removeAll(store, START + DAY)
  let steps = 0
  while (await store.maintain('removed', () => true)) steps++
  expect(steps).toBeGreaterThan(100)
  expect(size()).toBeLessThan(full - 2 * MIB)
  await store.close()
})

test('a little space stays free for new data', async () => {
  const store = await openStore({ dataDir, now: START })
  const records = createRecords()
  await found(store, records)
  await accept(store, ...Array.from({ length: 200 }, () => records.accepted({ status: 'cancelled' })))
  while (await store.maintain('removed', () => false));
  const before = statSync(join(dataDir, 'postrider.db')).size
  await removeAll(store, START + DAY)
  expect(await store.maintain('removed', () => false)).toBe(false)
  expect(statSync(join(dataDir, 'postrider.db')).size).toBe(before)
  await store.close()
})
