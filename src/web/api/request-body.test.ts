import { expect, test } from 'bun:test'
import { createFakeClock } from '../../../test/support/fake-clock.ts'
import { createMemory } from '../../os/memory.ts'
import { createIncomingBodies } from './incoming-body.ts'
import { createLargeBodies } from './request-body.ts'

const MIB = 2 ** 20
const LIMIT_BYTES = 37 * MIB
const headers = (sizeBytes: number) => ({ 'content-length': String(sizeBytes) })

function start(limitBytes = Number.POSITIVE_INFINITY) {
  const clock = createFakeClock(0)
  const memory = createMemory({ limitBytes, largestMailBytes: 0, clock, residentBytes: () => 0 })
  const bodies = createLargeBodies({ clock, memory })
  const incoming = createIncomingBodies({ clock, memory, networkOf: () => null })
  const outcomes: string[] = []
  /** Reads a request body and adds the result to `outcomes`. `announcedBytes` is its Content-Length, null for none.
   *  Returns a function that releases its memory. */
  const read = async (name: string, keyId: string, announcedBytes: number | null, bytes = 1) => {
    const init = announcedBytes === null ? {} : { headers: headers(announcedBytes) }
    const request = new Request('http://localhost/', { method: 'POST', body: Buffer.alloc(bytes), ...init })
    const held = bodies.open(request, keyId)
    const body = incoming.open(request, { id: keyId, organizationId: keyId })
    await body.read(LIMIT_BYTES, held.enter).then(
      () => outcomes.push(name),
      ({ reason }) => outcomes.push(`${name}: ${reason}`),
    )
    return () => {
      held.leave(bytes)
      body.release()
    }
  }
  return { clock, bodies, read, outcomes }
}

test('large bodies wait for memory, one key gets half of it, and after 20 s the response is 503', async () => {
  const { clock, read, outcomes } = start()
  const leave = await read('first', 'a', 25 * MIB)
  const second = read('second', 'a', 25 * MIB)
  const third = read('third', 'a', 25 * MIB)
  await read('of another key', 'b', 25 * MIB)
  await read('small', 'a', 256 * 1024)
  await read('too large', 'a', 38 * MIB)
  expect(outcomes).toEqual(['first', 'of another key', 'small', 'too large: payload_too_large'])

  leave()
  await second
  await clock.advance(20_000)
  await third
  expect(outcomes.slice(4)).toEqual(['second', 'third: unavailable'])
})

test('a body without an announced size reserves nothing while it is small, and the maximum once it is large', async () => {
  const { clock, read, outcomes } = start()
  await read('first', 'a', null, MIB)
  await read('small', 'b', null, 200_000)
  const second = read('second', 'b', null, MIB)
  await read('small again', 'a', null, 10)
  expect(outcomes).toEqual(['first', 'small', 'small again'])
  await clock.advance(20_000)
  await second
  expect(outcomes.slice(3)).toEqual(['second: unavailable'])
})

// threat: memory-exhaustion
test('parsed bodies have a separate memory budget, so that slow uploads do not block complete bodies', async () => {
  const { clock, bodies } = start(391_000_000) // leaves 202 MB for reservations, a third of it for receiving bodies
  const open = (keyId: string) => bodies.open(new Request('http://localhost/'), keyId)
  const [slow, quick, late] = [open('a'), open('b'), open('c')]
  for (const each of [slow, quick]) await each.enter(16 * MIB)
  await quick.begin(16 * MIB)
  const small = open('d')
  await small.begin(16 * MIB) // has no effect without `enter`
  const third = late.enter(8 * MIB).catch(({ reason }) => reason)
  await clock.advance(20_000)
  expect(await third).toBe('unavailable')
  quick.leave(0)
  await slow.begin(16 * MIB)
})
