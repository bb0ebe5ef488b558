import { afterEach, beforeEach, expect, test } from 'bun:test'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { systemClock } from '../../src/os/clock.ts'
import { silentLog } from '../../src/os/log.ts'
import { createThreadPool, nativeThreadRunner, type PoolEvent, type Runner } from '../../src/os/thread-pool.ts'
import { StoreUnavailable } from '../../src/storage/errors.ts'
import { DATABASE_FILE, openStore } from '../../src/storage/sqlite/open.ts'
import type { ReadingThread, ReadJob } from '../../src/storage/sqlite/reader.ts'
import type { Store } from '../../src/storage/store.ts'
import { startStorageThread } from '../../src/threads.ts'
import { openNewStore } from '../support/migrated-store.ts'
import { TEST_LIMIT_MS } from '../support/patience.ts'
import { ALL_EVENTS, ALL_MESSAGES, accept, createRecords, found, type Records, START } from './records.ts'

let dataDir: string
let store: Store
let records: Records
let events: PoolEvent[]
/** Ends the thread when it is ready and has a job, so many times. */
let deaths: number
beforeEach(async () => {
  dataDir = mkdtempSync(join(tmpdir(), 'postrider-reading-'))
  events = []
  deaths = 0
  store = await openNewStore({ dataDir, now: START, readingThread: openThread() })
  records = createRecords()
  await found(store, records)
})
afterEach(async () => {
  await store.close()
  rmSync(dataDir, { recursive: true })
})

function openThread(): ReadingThread {
  return createThreadPool<ReadJob, unknown>({
    name: 'storage',
    start: () => dying(nativeThreadRunner(startStorageThread)()),
    count: 1,
    perRunner: 1,
    computeMs: TEST_LIMIT_MS,
    totalMs: TEST_LIMIT_MS,
    ownerOf: ({ owner }) => owner,
    settings: { file: join(dataDir, DATABASE_FILE) },
    clock: systemClock,
    log: silentLog,
    onEvent: (event) => events.push(event),
  })
}

/** A thread that the pool loses once it is ready and has a job. */
function dying(runner: Runner): Runner {
  const seen = new Set<unknown>()
  let isLost = false
  let whenEnded = (_reason: string) => {}
  const see = (message: unknown) => {
    seen.add((message as { kind: string }).kind)
    if (isLost || !seen.has('ready') || !seen.has('job') || deaths-- <= 0) return
    isLost = true
    runner.end()
    whenEnded('lost')
  }
  return {
    ...runner,
    send: (message, transfer) => {
      runner.send(message, transfer)
      see(message)
    },
    onMessage: (listener) =>
      runner.onMessage((message) => {
        if (isLost) return
        listener(message)
        see(message)
      }),
    onEnd: (listener) => {
      whenEnded = listener
      runner.onEnd((reason) => !isLost && listener(reason))
    },
  }
}

const newest = async () => (await store.messages.list(ALL_MESSAGES, { limit: 1, after: null })).records[0]?.id

test('a list contains what was written before it was asked for', async () => {
  for (let round = 0; round < 200; round++) {
    const accepted = records.accepted({ subject: `Number ${round}` })
    await accept(store, accepted)
    expect(await newest()).toBe(accepted.message.id)
    const event = records.event()
    await store.events.append([event])
    expect((await store.events.list(ALL_EVENTS, { limit: 1, after: null })).records[0]?.id).toBe(event.id)
    const found = await store.messages.list({ ...ALL_MESSAGES, text: `number ${round}` }, { limit: 1, after: null })
    expect(found.records.map(({ id }) => id)).toEqual([accepted.message.id])
  }
  expect(events).toEqual([{ kind: 'started', pool: 'storage' }])
})

test('a list whose thread dies is read by the next thread', async () => {
  const accepted = records.accepted()
  await accept(store, accepted)
  deaths = 1
  const { id } = accepted.message
  expect(await Promise.all([newest(), newest(), newest()])).toEqual([id, id, id])
  expect(events).toContainEqual(expect.objectContaining({ kind: 'ended', cause: 'died' }))
})

test('a list that ends two threads is refused as unavailable, and the next one works', async () => {
  const accepted = records.accepted()
  await accept(store, accepted)
  deaths = 2
  expect(await newest().catch((error: unknown) => error)).toBeInstanceOf(StoreUnavailable)
  expect(await newest()).toBe(accepted.message.id)
})

test('a thread that is ended inside a statement finishes it, then ends alone', async () => {
  const start = nativeThreadRunner(() => new Worker(new URL('./long-statement-worker.ts', import.meta.url).href))
  for (let round = 0; round < 5; round++) {
    const runner = start()
    const { promise: ended, resolve } = Promise.withResolvers<string>()
    const said: unknown[] = []
    runner.onEnd(resolve)
    runner.onMessage((message) => {
      said.push(message)
      runner.end()
    })
    runner.send('begin')
    expect(await ended).toBe('the thread exited with code 0')
    expect(said).toEqual(['begins', 'ends'])
  }
})

test('lists of organizations take turns, however many one of them asks for', async () => {
  await accept(store, records.accepted(), records.accepted({ organizationId: 'org_b' }))
  await newest()
  const ended: string[] = []
  const list = (organizationId: string) =>
    store.messages
      .list({ ...ALL_MESSAGES, organizationId }, { limit: 1, after: null })
      .then(() => ended.push(organizationId))
  await Promise.all([...Array.from({ length: 50 }, () => list('org_a')), list('org_b')])
  expect(ended.indexOf('org_b')).toBeLessThan(4)
})

test('an organization that fills its part of the queue leaves room for others', async () => {
  const asked = Promise.allSettled(Array.from({ length: 1_100 }, newest))
  const other = store.messages.list({ ...ALL_MESSAGES, organizationId: 'org_b' }, { limit: 1, after: null })
  expect((await other).records).toEqual([])
  expect((await asked).filter(({ status }) => status === 'fulfilled')).toHaveLength(250)
  expect(await newest()).toBeUndefined()
})

test('more lists than fit the queue are refused as unavailable', async () => {
  const list = (at: number) =>
    store.messages.list({ ...ALL_MESSAGES, organizationId: `org_${at % 10}` }, { limit: 1, after: null })
  const asked = await Promise.allSettled(Array.from({ length: 1_100 }, (_, at) => list(at)))
  const refused = asked.filter((each) => each.status === 'rejected').map(({ reason }) => reason)
  expect(refused.length).toBeGreaterThan(0)
  expect(refused.every((reason) => reason instanceof StoreUnavailable)).toBe(true)
  expect(await newest()).toBeUndefined()
})

test('a closed store leaves no log behind, though its thread read', async () => {
  await accept(store, records.accepted())
  await newest()
  await store.close()
  expect([...new Bun.Glob('postrider.db*').scanSync(dataDir)]).toEqual([DATABASE_FILE])
  store = await openStore({ dataDir, now: START })
})
