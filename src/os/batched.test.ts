import { expect, test } from 'bun:test'
import { batched } from './batched.ts'

/** A batched function that doubles numbers, its batches, and what lets the next one be answered. */
function doubling(most = 100) {
  const batches: (readonly number[])[] = []
  const answers: { resolve: () => void; reject: (error: Error) => void }[] = []
  const double = batched<number, number>(async (questions) => {
    batches.push(questions)
    const { promise, resolve, reject } = Promise.withResolvers<void>()
    answers.push({ resolve, reject })
    await promise
    return questions.map((question) => 2 * question)
  }, most)
  const begun = async (count: number) => {
    while (batches.length < count) await new Promise((resolve) => setImmediate(resolve))
    return answers[count - 1]!
  }
  return { double, batches, begun }
}

test('calls of one turn are answered together, each with its own answer', async () => {
  const { double, batches, begun } = doubling()
  const all = Promise.all([double(1), double(2), double(3)])
  ;(await begun(1)).resolve()
  expect(await all).toEqual([2, 4, 6])
  expect(batches).toEqual([[1, 2, 3]])
})

test('calls that come while others are answered follow them together', async () => {
  const { double, batches, begun } = doubling()
  const first = double(1)
  const answer = await begun(1)
  const others = Promise.all([double(2), double(3)])
  answer.resolve()
  expect(await first).toBe(2)
  ;(await begun(2)).resolve()
  expect(await others).toEqual([4, 6])
  expect(batches).toEqual([[1], [2, 3]])
})

test('no more calls than the limit are answered together', async () => {
  const { double, batches, begun } = doubling(2)
  const all = Promise.all([double(1), double(2), double(3)])
  for (const count of [1, 2]) (await begun(count)).resolve()
  expect(await all).toEqual([2, 4, 6])
  expect(batches).toEqual([[1, 2], [3]])
})

test('an error reaches the calls that were asked together, and not the ones behind them', async () => {
  const { double, begun } = doubling()
  const first = Promise.allSettled([double(1), double(2)])
  const answer = await begun(1)
  const next = double(3)
  answer.reject(new Error('no'))
  expect((await first).map(({ status }) => status)).toEqual(['rejected', 'rejected'])
  ;(await begun(2)).resolve()
  expect(await next).toBe(6)
})
