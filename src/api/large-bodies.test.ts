import { expect, test } from 'bun:test'
import { createFakeClock } from '../../test/support/fake-clock.ts'
import { createLargeBodies } from './large-bodies.ts'

const MIB = 2 ** 20
const post = (sizeBytes: number | null) =>
  new Request('http://localhost/', {
    method: 'POST',
    body: 'x',
    headers: sizeBytes === null ? {} : { 'content-length': String(sizeBytes) },
  })

function start() {
  const clock = createFakeClock(0)
  const bodies = createLargeBodies({ bodyBytes: 37 * MIB, clock })
  const fates: string[] = []
  const enter = async (name: string, keyId: string, sizeBytes: number | null) => {
    const leave = await bodies.enter(post(sizeBytes), keyId).catch(({ reason }) => reason)
    fates.push(typeof leave === 'function' ? name : `${name}: ${leave}`)
    return leave
  }
  return { clock, enter, fates }
}

test('large bodies wait for room, one key has half of it, and after twenty seconds they hear 503', async () => {
  const { clock, enter, fates } = start()
  const leave = await enter('first', 'a', 25 * MIB)
  const second = enter('second', 'a', 25 * MIB)
  const third = enter('third', 'a', 25 * MIB)
  await enter('of another key', 'b', 25 * MIB)
  await enter('small', 'a', 256 * 1024)
  await enter('too large anyway', 'a', 38 * MIB)
  expect(fates).toEqual(['first', 'of another key', 'small', 'too large anyway'])

  leave()
  await second
  await clock.advance(20_000)
  await third
  expect(fates.slice(4)).toEqual(['second', 'third: unavailable'])
})

test('who does not say how much comes is taken for the largest', async () => {
  const { clock, enter, fates } = start()
  await enter('first', 'a', null)
  const second = enter('second', 'b', null)
  await clock.advance(20_000)
  await second
  expect(fates).toEqual(['first', 'second: unavailable'])
})
