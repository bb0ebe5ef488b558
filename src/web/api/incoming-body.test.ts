import { expect, test } from 'bun:test'
import { createFakeClock } from '../../../test/support/fake-clock.ts'
import { createMemory } from '../../os/memory.ts'
import { createIncomingBodies } from './incoming-body.ts'

const KIB = 1024
const MIB = 2 ** 20
/** Bodies get 16 MiB of it. */
const MEMORY_BYTES = 256 * MIB

function start({ limitBytes = MEMORY_BYTES } = {}) {
  const clock = createFakeClock(0)
  const memory = createMemory({ limitBytes, largestMailBytes: 0, clock, residentBytes: () => 0 })
  const incoming = createIncomingBodies({
    clock,
    memory,
    networkOf: ({ headers }) => headers.get('x-network'),
  })
  const outcomes: string[] = []
  /** A body of which `write` sends so many bytes; `size` is its Content-Length. */
  const send = (
    name: string,
    { size = (256 * KIB) as number | null, key = 'k', organization = 'o', network = 'n' } = {},
  ) => {
    const sent = new TransformStream<Uint8Array, Uint8Array>(undefined, { highWaterMark: 100 }, { highWaterMark: 100 })
    const writer = sent.writable.getWriter()
    const headers = { 'x-network': network, ...(size !== null && { 'content-length': `${size}` }) }
    const request = new Request('http://localhost/', { method: 'POST', body: sent.readable, headers })
    const body = incoming.open(request, { id: key, organizationId: organization })
    void body.read(2 * MIB).then(
      (bytes) => outcomes.push(`${name}: ${bytes.byteLength}`),
      ({ reason }) => {
        outcomes.push(`${name}: ${reason}`)
        body.release()
      },
    )
    return {
      write: (bytes: number) => void writer.write(new Uint8Array(bytes)).catch(() => {}),
      end: () => void writer.close().catch(() => {}),
      release: body.release,
    }
  }
  return { clock, memory, incoming, send, outcomes }
}

// threat: slow-bodies
test('a body that brings less than 16 KiB in 30 seconds gets 408; one that brings them, or ends, does not', async () => {
  const { clock, send, outcomes } = start()
  const silent = send('silent')
  const small = send('small', { size: 2_000 })
  const slow = send('slow')
  const steady = send('steady')
  silent.write(100_000)
  small.write(1_999)
  for (let second = 0; second < 90; second++) {
    slow.write(540)
    steady.write(560)
    await clock.advance(1_000)
  }
  steady.end()
  await clock.advance(0)
  expect(outcomes.toSorted()).toEqual([
    'silent: request_timeout',
    'slow: request_timeout',
    'small: request_timeout',
    `steady: ${90 * 560}`,
  ])
})

test('no body takes longer than five minutes', async () => {
  const { clock, send, outcomes } = start()
  const body = send('body')
  for (let second = 0; second < 301; second++) {
    body.write(700)
    await clock.advance(1_000)
  }
  expect(outcomes).toEqual(['body: request_timeout'])
})

test('while a large body waits for memory, nothing is expected of it', async () => {
  const { clock, incoming } = start()
  const request = new Request('http://localhost/', { method: 'POST', body: Buffer.alloc(MIB) })
  const free = Promise.withResolvers<void>()
  const read = incoming.open(request, { id: 'k', organizationId: 'o' }).read(2 * MIB, () => free.promise)
  await clock.advance(90_000)
  free.resolve()
  expect((await read).byteLength).toBe(MIB)
})

// threat: slow-bodies
test('the bytes that have arrived count, for a key, its organization and the network of the client', async () => {
  const { clock, send, outcomes } = start()
  /** Sends 200 KiB each, until one is refused → the number before. */
  const flood = async (of: { key?: string; organization?: string; network?: string }) => {
    outcomes.length = 0
    for (let count = 0; ; count++) {
      send(`${count}`, of).write(200 * KIB)
      await clock.advance(0)
      if (outcomes.length > 0) return count
    }
  }
  expect(await flood({})).toBe(26) // a third of 16 MiB
  expect(await flood({ key: 'k2' })).toBe(13) // the organization has half of it
  expect(await flood({ key: 'k3', organization: 'o2' })).toBe(0) // the same network
  expect(await flood({ key: 'k4', organization: 'o3', network: 'n2' })).toBe(13) // a third of the rest
  expect(outcomes).toEqual(['13: unavailable'])
  outcomes.length = 0
  const victim = send('victim', { key: 'v', organization: 'v', network: 'v' })
  victim.write(100 * KIB)
  victim.end()
  await clock.advance(0)
  expect(outcomes).toEqual([`victim: ${100 * KIB}`])
})

test('open bodies have a limited number, even if they are empty; an end makes room', async () => {
  const { clock, send, outcomes } = start()
  const bodies = Array.from({ length: 1_000 }, (_, at) => send(`${at}`, { size: 10 }))
  await clock.advance(0)
  expect(bodies.length - outcomes.length).toBe(341) // a third of 16 MiB in pieces of 16 KiB
  for (const body of bodies) body.release()
  outcomes.length = 0
  const next = send('next', { size: 10 })
  next.write(10)
  next.end()
  await clock.advance(0)
  expect(outcomes).toEqual(['next: 10'])
})

test('without an address of the client, requests without a key share one part, and others only that of their key', async () => {
  const { incoming, send, clock, outcomes } = start()
  const strangers = Array.from({ length: 1_000 }, () => {
    const body = new ReadableStream({ start() {} })
    return incoming.readOnce(new Request('http://localhost/', { method: 'POST', body }), 4_096, null)
  })
  const refused = strangers.map((each) => each.catch(({ reason }) => reason))
  expect(await Promise.race(refused)).toBe('unavailable')
  const body = send('with a key', { size: 10, network: '' })
  body.write(10)
  body.end()
  await clock.advance(30_000)
  expect(outcomes).toEqual(['with a key: 10'])
})

// threat: memory-exhaustion
test('the bodies reserve memory, and give it back', async () => {
  const { clock, memory, send } = start({ limitBytes: 1_000_000_000 })
  const bodies = Array.from({ length: 200 }, (_, at) =>
    send(`${at}`, { key: `k${at}`, organization: `o${at}`, network: `n${at}` }),
  )
  for (const body of bodies) body.write(200 * KIB)
  await clock.advance(0)
  expect(memory.reservedBytes()).toBeGreaterThan(2 * 32 * MIB)
  for (const body of bodies) body.release()
  send('last', { size: 1 })
  await clock.advance(0)
  expect(memory.reservedBytes()).toBeLessThanOrEqual(2 * 8 * MIB)
})

test('a body that grows beyond the limit is not read any further', async () => {
  let isCancelled = false
  const body = new ReadableStream({
    pull: (controller) => controller.enqueue(new Uint8Array(MIB)),
    cancel: () => {
      isCancelled = true
    },
  })
  const request = new Request('http://localhost/', { method: 'POST', body })
  const { incoming } = start({ limitBytes: Number.POSITIVE_INFINITY })
  const read = incoming.open(request, { id: 'k', organizationId: 'o' }).read(2 * MIB)
  expect(await read.catch(({ reason }) => reason)).toBe('payload_too_large')
  expect(isCancelled).toBe(true)
})
