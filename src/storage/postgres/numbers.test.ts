import { expect, test } from 'bun:test'
import { BLOCK, Numbers, NumbersUsedUp } from './numbers.ts'

/** A database whose answers take some time, and which counts them. */
function databaseWith(answerMs: number) {
  const state = { now: 0, taken: 0 }
  const query = async <Row>(): Promise<Row[]> => {
    state.now += answerMs
    return [{ first: BLOCK * state.taken++ } as Row] // the only question
  }
  return { state, queries: { query }, numbers: new Numbers(() => state.now) }
}

test('numbers come from a new block each second, with one question', async () => {
  const { state, queries, numbers } = databaseWith(0)
  await numbers.refill(queries)
  expect([numbers.next(), numbers.next()]).toEqual([0, 1])
  state.now = 999
  await numbers.refill(queries)
  expect(numbers.next()).toBe(2)
  state.now = 1_000
  await numbers.refill(queries)
  expect(numbers.next()).toBe(BLOCK)
  expect(state.taken).toBe(2)
})

test('a database that answers only after a second gives numbers as any other', async () => {
  const { state, queries, numbers } = databaseWith(1_500)
  for (let count = 0; count < 3; count++) {
    await numbers.refill(queries)
    expect(numbers.next()).toBe(count * BLOCK)
    state.now += 5_000
  }
  expect(state.taken).toBe(3)
})

test('a work of any size has its numbers once it is repeated often enough', async () => {
  const { queries, numbers } = databaseWith(1_500)
  const work = () => new Set(Array.from({ length: 3 * BLOCK }, () => numbers.next()))
  const tryOnce = async () => {
    await numbers.refill(queries)
    try {
      return work().size
    } catch (error) {
      if (!(error instanceof NumbersUsedUp)) throw error
      return 0
    }
  }
  let size = 0
  for (let tries = 0; size === 0 && tries < 5; tries++) size = await tryOnce()
  expect(size).toBe(3 * BLOCK)
})
