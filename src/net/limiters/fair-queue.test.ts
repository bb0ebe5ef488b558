import { expect, test } from 'bun:test'
import { createFairQueue, type FairQueueLimits } from './fair-queue.ts'

const LIMITS: FairQueueLimits = { total: 10, perClient: 3, perGroup: 3, waitingPerClient: 1000, longestWaitMs: 1000 }

/** A queue whose jobs end when the test says so. */
function open(change: Partial<FairQueueLimits> = {}) {
  let now = 0
  const queue = createFairQueue({ ...LIMITS, ...change }, () => now)
  const running: { name: string; end: () => void }[] = []
  const started: string[] = []
  const run = (client: string | null, group: string, name = `${client} ${group}`) =>
    queue.run(client, group, () => {
      started.push(name)
      const { promise, resolve } = Promise.withResolvers<string>()
      running.push({ name, end: () => resolve(name) })
      return promise
    })
  /** Ends the first running job with this name, and runs what follows from it. */
  const end = async (name: string) => {
    const [job] = running.splice(
      running.findIndex((each) => each.name === name),
      1,
    )
    job?.end()
    for (let turn = 0; turn < 5; turn++) await Promise.resolve()
  }
  return { run, end, started, running, pass: (ms: number) => (now += ms) }
}

test('one client gets only its part, and so does one group', () => {
  const { run, started } = open()
  for (let n = 0; n < 20; n++) void run('greedy', `domain-${n}`, 'greedy')
  for (let n = 0; n < 20; n++) void run(`client-${n}`, 'silent', 'silent')
  void run('other', 'healthy', 'healthy')
  expect(started.filter((name) => name === 'greedy').length).toBe(3)
  expect(started.filter((name) => name === 'silent').length).toBe(3)
  expect(started).toContain('healthy')
})

test('our own work is limited by the total only', () => {
  const { run, started } = open()
  for (let n = 0; n < 20; n++) void run(null, 'one')
  expect(started.length).toBe(10)
})

test('clients take turns when everything is taken', async () => {
  const { run, end, started } = open({ total: 2, perClient: 2 })
  for (let n = 0; n < 50; n++) void run('first', `d${n}`, 'first')
  void run('second', 'x', 'second')
  void run('third', 'y', 'third')
  await end('first')
  await end('first')
  await end('first')
  expect(started.slice(2, 5)).toContain('second')
  expect(started.slice(2, 5)).toContain('third')
})

test('a client that waits for a full group continues with its other groups', async () => {
  const { run, end, started } = open()
  for (let n = 0; n < 3; n++) void run(`holder-${n}`, 'silent', 'held')
  void run('client', 'silent', 'parked')
  void run('client', 'healthy', 'healthy')
  expect(started).toEqual(['held', 'held', 'held', 'healthy'])
  await end('held')
  expect(started.at(-1)).toBe('parked')
})

test('capacity that a group frees goes to a client that may use it', async () => {
  const { run, end, started } = open()
  for (let n = 0; n < 3; n++) void run(`holder-${n}`, 'silent', 'held')
  void run('busy', 'silent', 'of the busy client')
  for (let n = 0; n < 3; n++) void run('busy', `own-${n}`, 'own')
  void run('idle', 'silent', 'of the idle client')
  await end('held')
  expect(started).toContain('of the idle client')
  expect(started).not.toContain('of the busy client')
  await end('own')
  expect(started).not.toContain('of the busy client') // three of the group run again
  await end('held')
  expect(started).toContain('of the busy client')
})

test('a job that waited too long is not run, nor one too many of a client', async () => {
  const { run, end, started, pass } = open({ total: 1, waitingPerClient: 2 })
  void run('a', 'x', 'first')
  const late = run('a', 'x', 'late')
  void run('a', 'y', 'later')
  expect(await run('a', 'z', 'too many')).toBe(null)
  pass(1001)
  await end('first')
  expect(await late).toBe(null)
  expect(started).toEqual(['first'])
})

test('jobs of many clients that waited too long for one group are all given up', async () => {
  const { run, end, pass } = open()
  for (let n = 0; n < 3; n++) void run(`holder-${n}`, 'silent', 'held')
  const late = Array.from({ length: 30 }, (_, n) => run(`client-${n}`, 'silent', 'late'))
  pass(1001)
  await end('held')
  expect(await Promise.all(late)).toEqual(late.map(() => null))
})

test('every job ends, in any order, and no state remains', async () => {
  let seed = 7
  const random = (below: number) => {
    seed = (seed * 1_103_515_245 + 12_345) % 2 ** 31
    return seed % below
  }
  const { run, end, running } = open({ total: 4, perClient: 2, perGroup: 2 })
  const all = Array.from({ length: 500 }, (_, n) => run(`c${random(9)}`, `g${random(7)}`, `${n}`))
  let left = all.length
  for (const each of all) void each.then(() => left--)
  while (left > 0) {
    expect(running.length).toBeGreaterThan(0)
    await end(running[random(running.length)]!.name)
  }
  expect((await Promise.all(all)).every((name) => name !== null)).toBe(true)
})

test('a hundred thousand waiting jobs cost no more each than a thousand', async () => {
  const perJob = async (count: number) => {
    const queue = createFairQueue({ ...LIMITS, waitingPerClient: 1e6, longestWaitMs: 1e9 }, () => 0)
    const began = process.cpuUsage().user
    await Promise.all(Array.from({ length: count }, (_, n) => queue.run(`c${n % 7}`, 'same', async () => n)))
    return (process.cpuUsage().user - began) / count
  }
  await perJob(10_000)
  const small = Math.min(await perJob(10_000), await perJob(10_000))
  expect(await perJob(100_000)).toBeLessThan(small * 10)
})
