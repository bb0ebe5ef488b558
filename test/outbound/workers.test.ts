import { afterAll, afterEach, expect, test } from 'bun:test'
import { generateKeyPairSync } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { startZone, type Zone } from '../../src/cli/try/zone-server.ts'
import { packContent } from '../../src/mail/content.ts'
import { type Clock, systemClock } from '../../src/os/clock.ts'
import { silentLog } from '../../src/os/log.ts'
import { CONTENT_NICE } from '../../src/os/thread-priority.ts'
import type { AttemptJob, AttemptResult } from '../../src/sending/outbound/job.ts'
import { type Note, readJournals } from '../../src/sending/outbound/journal/delivered-journal.ts'
import { DeliveryThreads, type LostJob } from '../../src/sending/outbound/workers.ts'
import { createFakeClock } from '../support/fake-clock.ts'
import { niceValues } from '../support/nice-values.ts'
import { type RawMx, startRawMx } from '../support/remote-mx.ts'
import { attemptJob, CONTENT, deliverySettings } from './jobs.ts'

const open: { stop(timeoutMs: number): Promise<void> }[] = []
afterEach(async () => {
  for (const each of open.splice(0).reverse()) await each.stop(2000)
})
const keep = <T extends { stop(timeoutMs: number): Promise<void> }>(each: T): T => {
  open.push(each)
  return each
}

const FOLDER = mkdtempSync(join(tmpdir(), 'postrider-workers-'))
afterAll(() => rmSync(FOLDER, { recursive: true }))

const job = (number: number, more: Partial<AttemptJob> = {}) => attemptJob({ deliveryId: `dlv_${number}`, ...more })

const realThread = () => new Worker(new URL('../../src/sending/outbound/worker.ts', import.meta.url).href)

async function remote(script?: Parameters<typeof startRawMx>[0]): Promise<{ mx: RawMx; zone: Zone }> {
  const mx = keep(await startRawMx(script))
  const zone = keep(await startZone())
  zone.set('remote.test', 'A', ['127.0.0.1'])
  return { mx, zone }
}

/** Threads under test, with their results and losses as promises of that many; each result counts as stored at once,
 *  unless not `isWritten`. */
function threads(options: {
  zone?: Zone
  mx?: RawMx
  count?: number
  spawn?: () => Worker
  clock?: Clock
  isWritten?: () => boolean
  longestWaitMs?: number
  folder?: string
  computeMs?: number
}) {
  const results: AttemptResult[] = []
  const lost: LostJob[] = []
  const batches: number[] = []
  const spawned: Worker[] = []
  let waiting: (() => void)[] = []
  const reported = () => {
    for (const resolve of waiting) resolve()
    waiting = []
  }
  const settings = deliverySettings({
    folder: options.folder ?? FOLDER,
    zone: options.zone?.address ?? '127.0.0.1:9',
    port: options.mx?.port ?? 25,
    longestWaitMs: options.longestWaitMs,
  })
  const workers = keep(
    new DeliveryThreads(
      {
        spawn: () => {
          const worker = (options.spawn ?? realThread)()
          spawned.push(worker)
          return worker
        },
        count: options.count ?? 2,
        settings,
        computeMs: options.computeMs,
        clock: options.clock ?? systemClock,
        log: silentLog,
      },
      {
        onResults: (batch) => {
          batches.push(batch.length)
          results.push(...batch)
          if (options.isWritten?.() ?? true) for (const { deliveryId } of batch) workers.written(deliveryId)
          reported()
        },
        onLost: (jobs) => {
          lost.push(...jobs)
          reported()
        },
      },
    ),
  )
  const until = async (done: () => boolean) => {
    while (!done()) await new Promise<void>((resolve) => waiting.push(resolve))
  }
  return { workers, results, lost, batches, spawned, until }
}

test('jobs spread over the threads and come back, each once, several in a batch', async () => {
  const { mx, zone } = await remote()
  const { workers, results, batches, until } = threads({ mx, zone })
  await workers.ready
  workers.submit(Array.from({ length: 60 }, (_, i) => job(i)))
  expect(workers.underWay()).toBe(60)
  await until(() => results.length === 60)
  expect(workers.underWay()).toBe(0)
  expect(new Set(results.map(({ deliveryId }) => deliveryId)).size).toBe(60)
  expect(results.every(({ outcome }) => outcome.kind === 'delivered')).toBe(true)
  expect(mx.mails.length).toBe(60)
  expect(mx.connections()).toBe(6)
  expect(batches.length).toBeLessThan(60)
})

test('a destination with two connections gets two, however many threads there are', async () => {
  const { mx, zone } = await remote()
  const { workers, results, until } = threads({ mx, zone, count: 4 })
  await workers.ready
  const route = { destination: 'remote.test', mx: null, connections: 2, maxMails: 500 }
  for (let round = 0; round < 5; round++) {
    workers.submit(Array.from({ length: 8 }, (_, i) => job(8 * round + i, { route })))
    await until(() => results.length === 8 * (round + 1))
  }
  expect(mx.connections()).toBe(2)
})

test('without a journal, few mails stay with a destination while the store does not have them', async () => {
  const { mx, zone } = await remote()
  let isStoreUp = false
  const { workers, results, until } = threads({ mx, zone, isWritten: () => isStoreUp, folder: '/dev/null/taken' })
  await workers.ready
  workers.submit(Array.from({ length: 40 }, (_, i) => job(i)))
  await until(() => results.length === 14)
  // Mail to other destinations does not wait.
  workers.submit([job(40, { route: { destination: 'other.test', mx: null, connections: 2, maxMails: 500 } })])
  await until(() => results.length === 15)
  expect(mx.mails.length).toBe(15)

  isStoreUp = true
  for (const { deliveryId } of [...results]) workers.written(deliveryId)
  await until(() => results.length === 41)
  expect(new Set(results.map(({ deliveryId }) => deliveryId)).size).toBe(41)
})

test('a mail accepted by a server stays in the journal until it is stored', async () => {
  const { mx, zone } = await remote({
    script: (_cue, line) => (line.startsWith('RCPT TO:<bob@') ? '550 5.1.1 no' : null),
  })
  let isStoreUp = false
  const { workers, results, until } = threads({ mx, zone, count: 1, isWritten: () => isStoreUp })
  workers.submit([
    job(1),
    job(2, { recipient: 'bob@remote.test' }),
    job(3, { sandbox: true, recipient: 'carl@remote.test' }),
  ])
  await until(() => results.length === 3)
  const noted = () => readJournals(FOLDER).flatMap(({ notes }) => notes)
  const { outcome, attempt } = results.find(({ deliveryId }) => deliveryId === 'dlv_1')!
  expect(noted()).toEqual([{ deliveryId: 'dlv_1', outcome, attempt } as Note])
  isStoreUp = true
  for (const { deliveryId } of [...results]) workers.written(deliveryId)
  workers.submit([job(4)])
  await until(() => results.length === 4)
  await workers.stop(60_000)
  expect(noted()).toEqual([])
})

// threat: hostile-content-holds-delivery
test('expensive mail gets a separate thread of lower priority while others send', async () => {
  const { mx, zone } = await remote()
  const { workers, results, spawned, until } = threads({ mx, zone })
  const { privateKey } = generateKeyPairSync('ed25519')
  const privateKeyPem = privateKey.export({ type: 'pkcs8', format: 'pem' }) as string
  const from = (domain: string, number: number, html: string | null) =>
    job(number, {
      content: packContent({ ...CONTENT, html }),
      signingKeys: [{ domain, selector: 's', algorithm: 'ed25519-sha256', privateKeyPem }],
    })
  const large = '<p>x</p>\n'.repeat(2_000_000)
  await workers.ready
  workers.submit([from('healthy.test', 1, null), from('costly.test', 2, large)])
  await until(() => results.length === 2)
  expect(spawned.length).toBe(2)

  workers.submit([from('costly.test', 3, null), from('healthy.test', 4, null), from('costly.test', 5, null)])
  await until(() => results.length === 5)
  expect(spawned.length).toBe(3)
  expect(niceValues()).toContain(CONTENT_NICE)
  expect(results.every(({ outcome }) => outcome.kind === 'delivered')).toBe(true)
})

test('stop lets current mail finish and sends QUIT', async () => {
  const { mx, zone } = await remote()
  const { workers, results } = threads({ mx, zone, count: 1 })
  workers.submit([job(1), job(2)])
  await workers.stop(60_000)
  expect(results.map(({ outcome }) => outcome.kind)).toEqual(['delivered', 'delivered'])
  expect(mx.heard).toContain('QUIT')
})

test('stop waits a second for the reply to QUIT', async () => {
  const { mx, zone } = await remote({ script: (cue) => (cue === 'QUIT' ? { do: 'hang' } : null) })
  const { workers, results, until } = threads({ mx, zone, count: 1 })
  workers.submit([job(1)])
  await until(() => results.length === 1)
  const stoppedAt = performance.now()
  await workers.stop(5000)
  expect(performance.now() - stoppedAt).toBeGreaterThan(900)
})

test('stop waits for a server no longer than its timeout', async () => {
  const { mx, zone } = await remote({ script: (cue) => (cue === 'EHLO' ? { do: 'hang' } : null) })
  const { workers, results, until } = threads({ mx, zone, count: 1, longestWaitMs: 50 })
  workers.submit([job(1)])
  await until(() => results.length === 1)
  // On a busy machine the time may end before there is a connection.
  const rule = expect.stringMatching(/^timeout:(?:connect|greeting|ehlo)$/)
  expect(results[0]!.outcome).toMatchObject({ kind: 'deferred', cause: { rule } })
})

test('a server that exceeds the stop timeout makes its mail unknown', async () => {
  const { mx, zone } = await remote({ script: (cue) => (cue === 'DOT' ? { do: 'hang' } : null) })
  const { workers, lost } = threads({ mx, zone, count: 1 })
  workers.submit([job(1)])
  await mx.hears('<mail>')
  await workers.stop(20)
  expect(lost).toEqual([{ deliveryId: 'dlv_1', result: 'unknown' }])
  expect(workers.underWay()).toBe(0)
})

test('replaces a thread that dies, reports its jobs as lost and continues', async () => {
  const { mx, zone } = await remote({ script: (cue, _line, n) => (cue === 'DOT' && n === 1 ? { do: 'hang' } : null) })
  const { workers, results, lost, spawned, until } = threads({ mx, zone, count: 1 })
  workers.submit([job(1)])
  await mx.hears('<mail>')
  spawned[0]!.terminate()
  await until(() => lost.length === 1)
  workers.submit([job(2)])
  await until(() => results.length === 1)
  expect(lost).toEqual([{ deliveryId: 'dlv_1', result: 'unknown' }])
  expect(results[0]).toMatchObject({ deliveryId: 'dlv_2', outcome: { kind: 'delivered' } })
  expect(spawned.length).toBe(2)
})

test('an error outside any job ends the thread and only the thread', async () => {
  const { mx, zone } = await remote({ script: (cue, _line, n) => (cue === 'DOT' && n === 1 ? { do: 'hang' } : null) })
  const { workers, results, lost, spawned, until } = threads({ mx, zone, count: 1 })
  workers.submit([job(1)])
  await mx.hears('<mail>')
  spawned[0]!.postMessage({ kind: 'attempt', jobs: null })
  await until(() => lost.length === 1)
  workers.submit([job(2)])
  await until(() => results.length === 1)
  expect(results[0]).toMatchObject({ deliveryId: 'dlv_2', outcome: { kind: 'delivered' } })
})

/** Threads of which the first two die at their start, so that the third one waits for the clock. */
async function restingThreads() {
  const { mx, zone } = await remote()
  const broken = URL.createObjectURL(new Blob(['throw new Error("no")'], { type: 'application/javascript' }))
  const clock = createFakeClock(0)
  let starts = 0
  const spawn = () => (++starts <= 2 ? new Worker(broken) : realThread())
  const made = threads({ mx, zone, count: 1, clock, spawn })
  made.workers.ready.catch(() => {})
  await clock.untilSleeping()
  made.workers.submit([job(1), job(2)])
  return { ...made, clock }
}

test('jobs that arrive while no thread may start wait for the next one', async () => {
  const { workers, results, lost, until, clock } = await restingThreads()
  expect(workers.state()).toEqual({ runners: 0, waiting: 2, underWay: 0 })
  expect(workers.underWay()).toBe(2)
  await clock.advance(2_000)
  await until(() => results.length === 2)
  expect(results.map(({ deliveryId }) => deliveryId).sort()).toEqual(['dlv_1', 'dlv_2'])
  expect([workers.underWay(), lost]).toEqual([0, []])
})

test('jobs that still wait for a thread at a stop are reported as not tried', async () => {
  const { workers, results, lost } = await restingThreads()
  await workers.stop(1_000)
  expect(lost).toEqual([1, 2].map((number) => ({ deliveryId: `dlv_${number}`, result: 'not_tried' })))
  expect([workers.underWay(), results]).toEqual([0, []])
})

test('reports threads that cannot start at all', async () => {
  const broken = URL.createObjectURL(new Blob(['throw new Error("no")'], { type: 'application/javascript' }))
  const waits: number[] = []
  const hasty: Clock = { now: () => 0, sleep: async (ms) => void waits.push(Math.round(ms / 1000)) }
  const { workers } = threads({ count: 1, clock: hasty, spawn: () => new Worker(broken) })
  await workers.ready.catch((error: Error) => expect(error.message).toContain('did not start'))
  expect(waits.slice(0, 3)).toEqual([0, 1, 5])
})

test('transfers a large content, copies a shared one and copies a view without its buffer', async () => {
  const { mx, zone } = await remote()
  const { workers, results, until } = threads({ mx, zone })
  await workers.ready
  const noise = Buffer.from(crypto.getRandomValues(new Uint8Array(60_000)))
  const file = { filename: 'a.bin', contentType: 'application/octet-stream', contentId: null, content: noise }
  const packed = packContent({ ...CONTENT, attachments: [file, file] })
  const own = new Uint8Array(packed)
  const shared = new Uint8Array(packed)
  const pool = new Uint8Array(packed.byteLength + 1000)
  pool.set(packed, 500)
  const view = pool.subarray(500, 500 + packed.byteLength)
  workers.submit([job(1, { content: own }), job(2, { content: shared }), job(3, { content: shared })])
  workers.submit([job(4, { content: view })])
  expect([own.byteLength, shared.byteLength, pool.byteLength]).toEqual([0, packed.byteLength, packed.byteLength + 1000])
  await until(() => results.length === 4)
  expect(results.every(({ outcome }) => outcome.kind === 'delivered')).toBe(true)
  expect(new Set(mx.mails.map(String)).size).toBe(1)
})

const hostileThread = () =>
  new Worker(new URL('../../src/sending/outbound/worker.ts', import.meta.url).href, {
    preload: [new URL('../support/hostile-thread.ts', import.meta.url).href],
  })
const hostile = (how: string) => packContent({ ...CONTENT, headers: [['X-Hostile', how]] })
const kindOf = (results: AttemptResult[], deliveryId: string) =>
  results.find((result) => result.deliveryId === deliveryId)?.outcome.kind

for (const how of ['loop', 'regex']) {
  // threat: hostile-content-holds-delivery
  test(`blames only the mail whose ${how} blocks its thread, and returns the others unattempted`, async () => {
    const { mx, zone } = await remote({ script: (cue, _line, n) => (cue === 'DOT' && n === 1 ? { do: 'hang' } : null) })
    const { workers, results, lost, until } = threads({ mx, zone, count: 1, spawn: hostileThread, computeMs: 500 })
    await workers.ready
    workers.submit([job(1)])
    await mx.hears('<mail>')
    workers.submit([job(2, { content: hostile(how) }), job(3), job(4, { sandbox: true })])
    await until(() => lost.length + results.length === 4)
    expect(lost.filter(({ deliveryId }) => deliveryId !== 'dlv_4')).toEqual([
      { deliveryId: 'dlv_1', result: 'unknown' },
      { deliveryId: 'dlv_2', result: 'too_slow' },
      { deliveryId: 'dlv_3', result: 'not_tried' },
    ])
    workers.submit([job(5)])
    await until(() => results.some(({ deliveryId }) => deliveryId === 'dlv_5'))
    expect(kindOf(results, 'dlv_5')).toBe('delivered')
  })
}

test('blames a mail that ends its thread', async () => {
  const { workers, lost, until } = threads({ count: 1, spawn: hostileThread })
  await workers.ready
  workers.submit([job(1, { sandbox: true, content: hostile('exit') })])
  await until(() => lost.length === 1)
  expect(lost).toEqual([{ deliveryId: 'dlv_1', result: 'ended_thread' }])
})

test('delivers a mail that takes long but not too long', async () => {
  const { workers, results, until } = threads({ count: 1, spawn: hostileThread, computeMs: 2_000 })
  await workers.ready
  workers.submit([job(1, { sandbox: true, content: hostile('slow') })])
  await until(() => results.length === 1)
  expect(kindOf(results, 'dlv_1')).toBe('delivered')
})

test('reports mail accepted before its thread ended as delivered', async () => {
  const { mx, zone } = await remote()
  const { workers, results, lost, until } = threads({ mx, zone, count: 1, spawn: hostileThread, computeMs: 500 })
  await workers.ready
  // Five in flight: the result of the first is held to share a message with others, and the loop runs first.
  workers.submit([1, 2, 3, 4, 5].map((number) => job(number)))
  await mx.hears('<mail>')
  workers.submit([job(6, { content: hostile('loop') })])
  await until(() => lost.length + results.length === 6)
  const delivered = results.filter(({ outcome }) => outcome.kind === 'delivered').map(({ deliveryId }) => deliveryId)
  const unknown = lost.filter(({ result }) => result === 'unknown')
  // No mail that the server accepted counts as untried.
  expect(mx.mails.length).toBeLessThanOrEqual(delivered.length + unknown.length)
  expect(lost).toContainEqual({ deliveryId: 'dlv_6', result: 'too_slow' })
})
