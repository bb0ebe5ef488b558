import { expect, test } from 'bun:test'
import { createTurnLimiter } from './turn-limiter.ts'

const SMALL = 1_000
const turn = () => new Promise<void>((resolve) => setImmediate(resolve))

test('the first request of a turn starts at once, the others together in the next turn', async () => {
  const begun: string[] = []
  const turns = createTurnLimiter()
  const enter = (name: string) => turns.enter(SMALL, () => void begun.push(name))
  for (const name of ['a', 'b', 'c']) enter(name)
  expect(begun).toEqual(['a'])
  await turn()
  expect(begun).toEqual(['a', 'b', 'c'])
  enter('d')
  expect(begun).toEqual(['a', 'b', 'c']) // the turn in which b and c started
  await turn()
  await turn()
  enter('e')
  expect(begun).toEqual(['a', 'b', 'c', 'd', 'e']) // at once again
})

test('the requests of a turn take each step one after the other', async () => {
  const steps: string[] = []
  const turns = createTurnLimiter()
  const work = (name: string) => async () => {
    steps.push(`${name}1`)
    await null
    steps.push(`${name}2`)
  }
  await Promise.all(['a', 'b', 'c'].map((name) => turns.enter(SMALL, work(name))))
  expect(steps).toEqual(['a1', 'a2', 'b1', 'c1', 'b2', 'c2'])
})

test.each([
  ['16 requests', 1_000, 16],
  ['512 KiB of requests', 200_000, 3],
  ['one large request', 10_000_000, 1],
])('a turn starts at most %s, in order', async (_, bytes, most) => {
  const begun: number[] = []
  const turns = createTurnLimiter()
  const all = Array.from({ length: 50 }, (_, at) => turns.enter(bytes, () => begun.push(at)))
  await turn()
  expect(begun.length).toBe(1 + most)
  await turn()
  expect(begun.length).toBe(1 + 2 * most)
  await Promise.all(all)
  expect(begun).toEqual([...Array(50).keys()])
})

test('a request that throws rejects, and the next one runs', async () => {
  const turns = createTurnLimiter()
  turns.enter(SMALL, () => {})
  const failed = Promise.resolve(
    turns.enter(SMALL, () => {
      throw new Error('bad')
    }),
  )
  const next = turns.enter(SMALL, () => 'next')
  expect(failed).rejects.toThrow('bad')
  expect(await next).toBe('next')
})

// threat: memory-exhaustion
test('at most 16 MiB of inputs wait, and small ones always may', async () => {
  const turns = createTurnLimiter()
  const started = Array.from({ length: 17 }, () => turns.enter(2 ** 20, () => 'started')) // one of them at once
  expect([turns.isCrowded(20_000), turns.isCrowded(16 * 1024)]).toEqual([true, false])
  await Promise.all(started)
  expect(turns.isCrowded(2 ** 20)).toBe(false)
})
