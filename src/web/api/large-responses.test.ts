import { expect, test } from 'bun:test'
import { createFakeClock } from '../../../test/support/fake-clock.ts'
import { createMemory } from '../../os/memory.ts'
import { createLargeResponses } from './large-responses.ts'

const MIB = 2 ** 20

function start() {
  const clock = createFakeClock(0)
  const memory = createMemory({ limitBytes: 1e10, largestMailBytes: 25e6, clock, residentBytes: () => 0 })
  const responses = createLargeResponses({ clock, memory })
  const open = (keyId: string, signal?: AbortSignal) =>
    responses.open(new Request('http://localhost/', { ...(signal && { signal }) }), keyId)
  return { clock, memory, open }
}

const raw = (bytes: number) => new Uint8Array(bytes).fill(65)

test('a large response is sent in slices and holds its memory until the client has taken the last', async () => {
  const { memory, open } = start()
  const large = open('a')
  await large.enter(5 * MIB)
  await large.enter(2 * MIB)
  const slices = large.slicesOf(raw(5 * MIB))!
  large.leave() // the handler has returned
  expect(memory.reservedBytes()).toBe(7 * 7 * MIB)
  const bytes = await new Response(slices).bytes()
  expect([bytes.byteLength, bytes.every((byte) => byte === 65)]).toEqual([5 * MIB, true])
  expect(memory.reservedBytes()).toBe(0)
})

// threat: memory-exhaustion
test('the memory is released when a client disconnects, takes over five minutes, or its handler fails', async () => {
  const { clock, memory, open } = start()
  const gone = open('a')
  await gone.enter(5 * MIB)
  await gone.slicesOf(raw(5 * MIB))!.cancel()
  expect(memory.reservedBytes()).toBe(0)

  const slow = open('a')
  await slow.enter(5 * MIB)
  const reader = slow.slicesOf('x'.repeat(5 * MIB))!.getReader()
  await reader.read()
  await clock.advance(300_000)
  const rest = async () => {
    while (!(await reader.read()).done);
  }
  expect(rest()).rejects.toThrow('the client read too slowly')
  await clock.advance(0)
  expect(memory.reservedBytes()).toBe(0)

  const failed = open('a')
  await failed.enter(5 * MIB)
  failed.leave()
  failed.leave()
  expect(memory.reservedBytes()).toBe(0)
})

test('a key gets half of the memory and waits 20 s for it; small responses never wait and are sent whole', async () => {
  const { clock, open } = start()
  await open('a').enter(30 * MIB)
  const second = open('a').enter(30 * MIB)
  await open('b').enter(30 * MIB)
  const small = open('a')
  await small.enter(MIB)
  expect(small.slicesOf(raw(2 * MIB))).toBe(null)
  const refused = second.catch(({ reason }) => reason)
  await clock.advance(20_000)
  expect(await refused).toBe('unavailable')
})
