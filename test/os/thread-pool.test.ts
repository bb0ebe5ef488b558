import { afterEach, expect, test } from 'bun:test'
import { systemClock } from '../../src/os/clock.ts'
import { silentLog } from '../../src/os/log.ts'
import {
  createThreadPool,
  JobFailed,
  PoisonousJob,
  type PoolEvent,
  PoolStopped,
  type Runner,
  type ThreadPool,
  type ThreadPoolOptions,
  threadRunner,
} from '../../src/os/thread-pool.ts'
import { createFakeClock } from '../support/fake-clock.ts'
import { TEST_LIMIT_MS, until } from '../support/patience.ts'
import type { TestJob } from './pool-worker.ts'

const COMPUTE_MS = 300

const pools: ThreadPool<TestJob, unknown>[] = []
let events: PoolEvent[] = []

afterEach(async () => {
  for (const pool of pools.splice(0)) await pool.stop()
  events = []
})

const spawnThread = threadRunner(() => new Worker(new URL('./pool-worker.ts', import.meta.url).href))

function openPool(options: Partial<ThreadPoolOptions<TestJob>> = {}): ThreadPool<TestJob, unknown> {
  const pool = createThreadPool<TestJob, unknown>({
    name: 'test',
    start: spawnThread,
    count: 1,
    perRunner: 100,
    computeMs: COMPUTE_MS,
    totalMs: TEST_LIMIT_MS,
    clock: systemClock.steady,
    log: silentLog,
    onEvent: (event) => events.push(event),
    ...options,
  })
  pools.push(pool)
  return pool
}

/** A runner that answers by itself and cannot share memory, like a child process. */
const spawnByMessages = (): Runner => ({ ...spawnThread(), sharesMemory: false })

const failure = (promise: Promise<unknown>) =>
  promise.then(
    () => null,
    (error: unknown) => error,
  )
const ends = (cause: string) => events.filter((event) => event.kind === 'ended' && event.cause === cause).length

test('a job is answered, and no thread starts before it', async () => {
  const pool = openPool()
  expect(pool.state()).toEqual({ runners: 0, waiting: 0, underWay: 0 })
  expect(await pool.run({ kind: 'echo', value: { deep: [1] } })).toEqual({ deep: [1] })
  expect(pool.state()).toEqual({ runners: 1, waiting: 0, underWay: 0 })
})

test('settings reach each thread at its start', async () => {
  expect(await openPool({ settings: { limit: 3 } }).run({ kind: 'settings' })).toEqual({ limit: 3 })
})

for (const [name, start, computeMs] of [
  ['a thread', spawnThread, COMPUTE_MS],
  // Its CPU time is unknown, so that the time that it waits for a processor counts as well.
  ['a runner that shares no memory', spawnByMessages, TEST_LIMIT_MS / 150],
] as const) {
  for (const kind of ['loop', 'regex'] as const) {
    test(`${name} that a ${kind} job blocks is ended and replaced`, async () => {
      const pool = openPool({ start, computeMs })
      await pool.run({ kind: 'echo', value: 1 })
      const poisonous = failure(pool.run({ kind }))
      const healthy = pool.run({ kind: 'echo', value: 'healthy' })
      expect(await healthy).toBe('healthy')
      expect(await poisonous).toBeInstanceOf(PoisonousJob)
      expect(ends('over_budget')).toBe(2)
      expect(events.filter(({ kind: of }) => of === 'poisonous_job')).toHaveLength(1)
    })
  }
}

test('the job that blocked the thread is blamed, and those beside it are retried without blame', async () => {
  const pool = openPool()
  const healthy = Array.from({ length: 20 }, () => pool.run({ kind: 'wait', ms: 500 }))
  const poisonous = failure(pool.run({ kind: 'late loop', says: true }))
  const later = failure(pool.run({ kind: 'late loop', says: true }))
  expect(await Promise.all(healthy)).toEqual(healthy.map(() => 'waited'))
  expect(await poisonous).toBeInstanceOf(PoisonousJob)
  expect(await later).toBeInstanceOf(PoisonousJob)
})

test('a job that computes without reporting is found by running the suspects alone', async () => {
  const pool = openPool()
  const healthy = Array.from({ length: 3 }, () => pool.run({ kind: 'wait', ms: 400 }))
  const poisonous = failure(pool.run({ kind: 'late loop', says: false }))
  expect(await Promise.all(healthy)).toEqual(healthy.map(() => 'waited'))
  expect(await poisonous).toBeInstanceOf(PoisonousJob)
})

test('a job that yields may compute longer than a stretch', async () => {
  expect(await openPool().run({ kind: 'busy', ms: 3 * COMPUTE_MS })).toBe('worked')
  expect(ends('over_budget')).toBe(0)
})

test('a thread that gets no CPU is blamed for its job only after ten times as long', async () => {
  const pool = openPool()
  expect(await pool.run({ kind: 'block', ms: 5 * COMPUTE_MS })).toBe('went on')
  expect(ends('over_budget')).toBe(0)
  expect(await failure(pool.run({ kind: 'block', ms: TEST_LIMIT_MS }))).toBeInstanceOf(PoisonousJob)
  expect(ends('over_budget')).toBe(2)
})

test('a job that never answers is given up after its time, and those beside it are answered', async () => {
  const pool = openPool({ totalMs: 1_500 })
  await pool.run({ kind: 'echo', value: 1 })
  const hung = failure(pool.run({ kind: 'never' }))
  const healthy = pool.run({ kind: 'wait', ms: 100 })
  expect(await hung).toBeInstanceOf(PoisonousJob)
  expect(await healthy).toBe('waited')
  expect(ends('over_budget')).toBe(2)
})

test('a job that ends its thread is tried once more and then given up', async () => {
  const pool = openPool()
  const failed = await failure(pool.run({ kind: 'exit' }))
  expect(failed).toBeInstanceOf(PoisonousJob)
  expect((failed as PoisonousJob).endedBy).toBe('died')
  expect(ends('died')).toBe(2)
  expect(await pool.run({ kind: 'echo', value: 1 })).toBe(1)
})

test('a job that throws is not retried', async () => {
  const error = await failure(openPool().run({ kind: 'throw' }))
  expect(error).toBeInstanceOf(JobFailed)
  expect(String(error)).toContain('thrown inside')
  expect(events.filter(({ kind }) => kind === 'ended')).toHaveLength(0)
})

test('a job whose buffer was transferred is not retried', async () => {
  const pool = openPool()
  const { buffer } = new Uint8Array(1_000)
  const job = { kind: 'loop', buffer } as TestJob
  expect(await failure(pool.run(job, { transfer: [buffer] }))).toBeInstanceOf(PoisonousJob)
  expect(ends('over_budget')).toBe(1)
})

test('a job that cannot be sent to a thread fails alone', async () => {
  const pool = openPool()
  expect(await failure(pool.run({ kind: 'echo', value: () => 1 }))).toBeInstanceOf(JobFailed)
  expect(await pool.run({ kind: 'echo', value: 1 })).toBe(1)
})

test('an aborted job releases its caller at once, also while it waits for a thread', async () => {
  const pool = openPool({ perRunner: 1 })
  const stop = new AbortController()
  const first = failure(pool.run({ kind: 'wait', ms: 200 }, { signal: stop.signal }))
  const second = failure(pool.run({ kind: 'never' }, { signal: stop.signal }))
  stop.abort('gone')
  expect([await first, await second]).toEqual(['gone', 'gone'])
  expect(pool.state().waiting).toBe(0)
  expect(await failure(pool.run({ kind: 'echo', value: 1 }, { signal: stop.signal }))).toBe('gone')
  expect(await pool.run({ kind: 'echo', value: 1 })).toBe(1)
})

test('large jobs wait for one another, and small ones overtake them', async () => {
  const pool = openPool({ sizeOf: (job) => ('ms' in job ? 40_000 : 10), largeBytes: 1_000 })
  const large = [pool.run({ kind: 'wait', ms: 200 }), pool.run({ kind: 'wait', ms: 1 })]
  await pool.run({ kind: 'echo', value: 1 })
  expect(pool.state()).toEqual({ runners: 1, waiting: 1, underWay: 1 })
  await Promise.all(large)
})

test('owners take turns: a hundred jobs of one do not delay a single job of another', async () => {
  const pool = openPool({ perRunner: 1, ownerOf: (job) => ('ms' in job ? 'busy' : 'modest') })
  const order: string[] = []
  const jobs = Array.from({ length: 20 }, () => pool.run({ kind: 'wait', ms: 5 }).then(() => order.push('busy')))
  await pool.run({ kind: 'echo', value: 1 }).then(() => order.push('modest'))
  expect(order.length).toBeLessThanOrEqual(3)
  await Promise.all(jobs)
})

test('no more threads start than there may be, and idle ones end', async () => {
  const pool = openPool({ count: 2, perRunner: 2, idleMs: 50 })
  const jobs = Array.from({ length: 8 }, () => pool.run({ kind: 'wait', ms: 30 }))
  expect(pool.state()).toEqual({ runners: 2, waiting: 4, underWay: 4 })
  await Promise.all(jobs)
  await until('the idle threads to end', () => pool.state().runners === 0)
  expect(await pool.run({ kind: 'echo', value: 1 })).toBe(1)
})

test('a thread ends when it had no job for the idle time, and not before', async () => {
  const clock = createFakeClock(0)
  const pool = openPool({ clock: clock.steady, idleMs: 1_000 })
  await pool.run({ kind: 'echo', value: 1 })
  await clock.advance(999)
  expect(pool.state().runners).toBe(1)
  await pool.run({ kind: 'echo', value: 1 })
  await clock.advance(1_000) // the look at 1,000 comes 1 ms after the job
  expect(pool.state().runners).toBe(1)
  await clock.advance(1_000)
  expect(pool.state().runners).toBe(0)

  await pool.run({ kind: 'echo', value: 1 })
  await clock.advance(1_000)
  expect(pool.state().runners).toBe(0)
})

test('a stopped pool answers no job', async () => {
  const pool = openPool({ perRunner: 1 })
  const under = failure(pool.run({ kind: 'never' }))
  const waits = failure(pool.run({ kind: 'never' }))
  await pool.stop()
  await pool.stop()
  expect(await under).toBeInstanceOf(PoolStopped)
  expect(await waits).toBeInstanceOf(PoolStopped)
  expect(await failure(pool.run({ kind: 'never' }))).toBeInstanceOf(PoolStopped)
})

test('where no thread starts, jobs fail instead of waiting forever', async () => {
  const clock = { now: systemClock.now, sleep: (_ms: number, signal?: AbortSignal) => systemClock.sleep(1, signal) }
  const pool = openPool({ clock, start: threadRunner(() => new Worker(new URL('./absent.ts', import.meta.url).href)) })
  expect(await failure(pool.run({ kind: 'echo', value: 1 }))).toBeInstanceOf(JobFailed)
})

// threat: poisonous-jobs-of-one-tenant
test('an owner whose jobs crashed several threads gets a separate one, and others keep theirs', async () => {
  const pool = openPool({ ownerOf: ({ kind }) => (kind === 'busy' ? 'healthy' : 'hostile') })
  for (let job = 0; job < 3; job++) expect(await failure(pool.run({ kind: 'exit' }))).toBeInstanceOf(PoisonousJob)
  expect(events.filter(({ kind }) => kind === 'owner_apart')).toHaveLength(1)
  const healthy = pool.run({ kind: 'busy', ms: 500 })
  const hostile = [pool.run({ kind: 'wait', ms: 200 }), pool.run({ kind: 'exit' })].map(failure)
  expect(pool.state()).toEqual({ runners: 2, waiting: 1, underWay: 2 })
  await healthy
  expect(await Promise.all(hostile)).toEqual([null, expect.any(PoisonousJob)])
})
