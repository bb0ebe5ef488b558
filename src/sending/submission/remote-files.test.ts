import { describe, expect, test } from 'bun:test'
import { createFakeClock } from '../../../test/support/fake-clock.ts'
import type { Download, Downloaded } from '../../net/https/download.ts'
import { ampleMemory, createMemory } from '../../os/memory.ts'
import { createRemoteFiles, MAX_URLS, type RemoteFile, TIME_MS } from './remote-files.ts'

const MIB = 2 ** 20

interface Running {
  url: string
  limits: Parameters<Download>[1]
  end(result: Downloaded): void
}

/** RemoteFiles over downloads that the test ends. */
function setup({ memory = ampleMemory } = {}) {
  const clock = createFakeClock(0)
  const running: Running[] = []
  const download: Download = (url, limits) => {
    const { promise, resolve } = Promise.withResolvers<Downloaded>()
    running.push({ url, limits, end: resolve })
    return promise
  }
  const files = createRemoteFiles({ download, memory, clock: clock.steady, maxBytes: 25 * MIB })
  const open = (organizationId: string, ...urls: string[]) => files.open(organizationId, new Set(urls))
  return { clock, running, open }
}

const url = (name: string | number, host = 'a.example') => `https://${host}/${name}`
const file = (sizeBytes: number): Downloaded => ({ kind: 'file', bytes: new Uint8Array(sizeBytes), contentType: null })
const soon = () => new Promise(setImmediate)
const kindOf = async (found: Promise<RemoteFile>) => (await found).kind
const isOpen = (promise: Promise<unknown>) => Promise.race([promise.then(() => false), soon().then(() => true)])

describe('the downloads of one request', () => {
  test('load each URL once, however often it is asked for', async () => {
    const { running, open } = setup()
    const request = open('org_1', url(1), url(2))
    const found = [request.get(url(1)), request.get(url(2)), request.get(url(1))]
    await soon()
    expect(running.map((each) => each.url)).toEqual([url(1), url(2)])
    for (const each of running) each.end(file(5))
    expect((await Promise.all(found)).map(({ kind }) => kind)).toEqual(['file', 'file', 'file'])
    expect(await request.get(url(1))).toBe(await found[0]!)
    request.close()
  })

  test('end together after ten seconds, those that wait for others too', async () => {
    const { clock, running, open } = setup()
    const urls = Array.from({ length: 20 }, (_, n) => url(n))
    const request = open('org_1', ...urls)
    const found = urls.map((each) => request.get(each))
    await soon()
    expect(running.length).toBe(8)
    await clock.advance(4_000)
    running[0]!.end(file(5))
    await soon()
    expect(running.at(-1)!.limits.timeoutMs).toBe(TIME_MS - 4_000)
    await clock.advance(6_000)
    const kinds = await Promise.all(found.map(kindOf))
    expect(kinds).toEqual(['file', ...Array(8).fill('failed'), ...Array(11).fill('busy')])
    request.close()
    for (const each of running.splice(0)) each.end(file(5))
    await soon()
    expect(running.length).toBe(0) // the rest is not loaded for nobody
  })

  test('are of at most a hundred different URLs', async () => {
    const { open } = setup()
    const urls = Array.from({ length: MAX_URLS + 1 }, (_, n) => url(n))
    const request = open('org_1', ...urls)
    expect(await request.get(urls.at(-1)!)).toEqual({ kind: 'too_many' })
    request.close()
  })

  test('may fill one message, each use of a file counted', () => {
    const request = setup().open('org_1', url(1))
    expect([request.use(20 * MIB), request.use(5 * MIB), request.use(1), request.use(0)]).toEqual([
      true,
      true,
      false,
      true,
    ])
  })
})

// threat: memory-exhaustion
describe('downloads at once', () => {
  test('are eight of one organization, 32 from one host and 64 in total', async () => {
    const { running, open } = setup()
    for (let org = 0; org < 10; org++) {
      for (let n = 0; n < 20; n++) {
        const own = url(`${org}-${n}`, org < 5 ? 'shared.example' : `own-${org}.example`)
        void open(`org_${org}`, own).get(own)
      }
    }
    await soon()
    const ofOrganization = Map.groupBy(running, (each) => /\/(\d)-/.exec(each.url)![1])
    expect([...ofOrganization.values()].every((each) => each.length <= 8)).toBe(true)
    expect(running.filter((each) => each.url.includes('shared')).length).toBe(32)
    expect(running.length).toBe(64)
    for (let at = 0; at < running.length; at++) {
      running[at]!.end(file(5))
      await soon()
    }
    expect(running.length).toBe(200)
  })

  test('of a full queue are refused as busy', async () => {
    const { running, open } = setup()
    const requests = Array.from({ length: 410 }, (_, n) => open('org_1', url(n)).get(url(n)))
    await soon()
    expect(running.length).toBe(8)
    expect(await kindOf(requests[409]!)).toBe('busy')
    expect(await isOpen(requests[407]!)).toBe(true)
  })

  test('reserve memory for large files, the only one by its size, several as one message', async () => {
    const { running, open } = setup()
    const alone = [1, 2, 3].map((n) => open('org_1', url(n)))
    const many = [open('org_2', url(4), url(5)), open('org_2', url(6), url(7))]
    for (const [at, request] of alone.entries()) void request.get(url(at + 1))
    for (const [at, request] of many.entries()) void request.get(url(4 + 2 * at))
    await soon()
    const [a, b, c, d, e] = running.map(({ limits }) => limits.enter(12 * MIB))
    expect([await a, await b]).toEqual([true, true])
    expect(await isOpen(c!)).toBe(true) // half of the budget for one organization
    expect(await d).toBe(true)
    expect(await isOpen(e!)).toBe(true)
    alone[0]!.close()
    many[0]!.close()
    expect([await c, await e]).toEqual([true, true])
  })

  test('reserve once a request has more than 256 KiB in small files', async () => {
    const memory = createMemory({
      limitBytes: 10 ** 9,
      largestMailBytes: 0,
      clock: createFakeClock(0).steady,
      residentBytes: () => 0,
    })
    const { running, open } = setup({ memory })
    const request = open('org_1', url(1), url(2))
    const found = [request.get(url(1)), request.get(url(2))]
    await soon()
    running[0]!.end(file(200_000))
    expect(await kindOf(found[0]!)).toBe('file')
    expect(memory.reservedBytes()).toBe(0)
    running[1]!.end(file(200_000))
    expect(await kindOf(found[1]!)).toBe('file')
    expect(memory.reservedBytes()).toBe(2 * 25 * MIB)
    expect(await request.begin(400_000)).toBe(true)
    expect(memory.reservedBytes()).toBe(2 * 25 * MIB + 5 * 400_000)
    expect(await request.begin(300_000)).toBe(true)
    expect(memory.reservedBytes()).toBe(2 * 25 * MIB + 5 * 300_000)
    request.close()
    expect(memory.reservedBytes()).toBe(0)
  })

  test('wait for memory to work on once, not again for each slice of a batch', async () => {
    const clock = createFakeClock(0)
    const memory = createMemory({
      limitBytes: 1e9,
      largestMailBytes: 0,
      clock: clock.steady,
      residentBytes: () => 1e9,
      collect: () => {},
    })
    const files = createRemoteFiles({ download: async () => file(1), memory, clock: clock.steady, maxBytes: 25 * MIB })
    const request = files.open('org_1', new Set([url(1)]))
    const first = request.begin(400_000)
    await soon()
    expect(await isOpen(first)).toBe(true)
    await clock.advance(TIME_MS + 100)
    expect(await first).toBe(false)
    expect(await request.begin(400_000)).toBe(false)
    request.close()
  })

  test('give back memory that is granted after their end', async () => {
    const { clock, running, open } = setup()
    const holder = open('org_1', url(1))
    void holder.get(url(1))
    await soon()
    expect(await running[0]!.limits.enter(32 * MIB)).toBe(true)
    const late = open('org_1', url(2))
    const found = late.get(url(2))
    await soon()
    const entered = running[1]!.limits.enter(20 * MIB)
    late.close()
    await clock.advance(TIME_MS)
    expect(await entered).toBe(false)
    running[1]!.end({ kind: 'busy' })
    expect(await kindOf(found)).toBe('busy')
    holder.close()
    const next = open('org_1', url(3))
    void next.get(url(3))
    await soon()
    expect(await running[2]!.limits.enter(32 * MIB)).toBe(true)
  })
})
