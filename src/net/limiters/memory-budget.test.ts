import { expect, test } from 'bun:test'
import { createFakeClock } from '../../../test/support/fake-clock.ts'
import { createMemoryBudget } from './memory-budget.ts'

/** A budget of 100 bytes. `enter` records the names of holders in order of entry. */
function budgetOf100() {
  const clock = createFakeClock(0)
  const budget = createMemoryBudget({ totalBytes: 100, clock })
  const never = new AbortController().signal
  const inside: string[] = []
  const leaves = new Map<string, () => void>()
  const refused: string[] = []
  return {
    clock,
    inside,
    refused,
    async enter(name: string, endpoint: string, sizeBytes: number, signal = never) {
      void budget.reserve(endpoint, sizeBytes, 1000, signal).then((leave) => {
        if (leave === null) return refused.push(name)
        leaves.set(name, leave)
        inside.push(name)
      })
      await clock.advance(0)
    },
    async leave(name: string) {
      leaves.get(name)!()
      inside.splice(inside.indexOf(name), 1)
      await clock.advance(0)
    },
  }
}

test('bodies enter while they fit, at most half of the budget for one endpoint', async () => {
  const { enter, leave, inside } = budgetOf100()
  await enter('a1', 'a', 30)
  await enter('a2', 'a', 20)
  await enter('a3', 'a', 1)
  await enter('b1', 'b', 50)
  expect(inside).toEqual(['a1', 'a2', 'b1'])
  await leave('a2')
  expect(inside).toEqual(['a1', 'b1', 'a3'])
})

test('a request that waits for the whole budget is not overtaken; one that waits for its own endpoint is', async () => {
  const { enter, leave, inside } = budgetOf100()
  await enter('a1', 'a', 50)
  await enter('a2', 'a', 10)
  await enter('b1', 'b', 40)
  await enter('c1', 'c', 20)
  await enter('d1', 'd', 5)
  expect(inside).toEqual(['a1', 'b1'])
  await leave('b1')
  expect(inside).toEqual(['a1', 'c1', 'd1'])
  await leave('a1')
  expect(inside).toEqual(['c1', 'd1', 'a2'])
})

test('requests of one endpoint are not overtaken by later ones of the same endpoint', async () => {
  const { enter, leave, inside } = budgetOf100()
  await enter('a1', 'a', 20)
  await enter('a2', 'a', 20)
  await enter('a3', 'a', 50)
  await enter('a4', 'a', 5)
  await enter('b1', 'b', 5)
  await leave('a1')
  expect(inside).toEqual(['a2', 'b1'])
  await leave('a2')
  expect(inside).toEqual(['b1', 'a3'])
  await leave('a3')
  expect(inside).toEqual(['b1', 'a4'])
})

test('a body larger than the budget enters alone', async () => {
  const { enter, leave, inside } = budgetOf100()
  await enter('a1', 'a', 1)
  await enter('b1', 'b', 500)
  await enter('c1', 'c', 1)
  expect(inside).toEqual(['a1'])
  await leave('a1')
  expect(inside).toEqual(['b1'])
  await leave('b1')
  expect(inside).toEqual(['c1'])
})

test('a wait ends with its timeout or its signal, and lets the next one in', async () => {
  const { enter, clock, inside, refused } = budgetOf100()
  const stopping = new AbortController()
  await enter('a1', 'a', 60)
  await enter('b1', 'b', 60)
  await clock.advance(500)
  await enter('c1', 'c', 10)
  await enter('d1', 'd', 90, stopping.signal)
  await enter('e1', 'e', 10)
  expect(inside).toEqual(['a1'])
  await clock.advance(499)
  expect(refused).toEqual([])
  await clock.advance(1)
  expect([inside, refused]).toEqual([['a1', 'c1'], ['b1']])
  stopping.abort()
  await clock.advance(0)
  expect([inside, refused]).toEqual([
    ['a1', 'c1', 'e1'],
    ['b1', 'd1'],
  ])
  await enter('f1', 'f', 99, stopping.signal)
  expect(refused).toEqual(['b1', 'd1', 'f1'])
  expect(clock.sleeps()).toEqual([])
})

test('only so many wait, of one owner and in all; the others are refused at once', async () => {
  const clock = createFakeClock(0)
  const never = new AbortController().signal
  const budget = createMemoryBudget({ totalBytes: 100, clock, mostWaitingOfOwner: 10 })
  await budget.reserve('holder', 100, 1_000, never)
  const refused: string[] = []
  const ask = (owner: string) =>
    void budget.reserve(owner, 10, 1_000, never).then((release) => release === null && refused.push(owner))
  for (let at = 0; at < 11; at++) ask('greedy')
  await clock.advance(0)
  expect(refused).toEqual(['greedy'])
  for (let at = 0; at < 991; at++) ask(`other ${at}`)
  await clock.advance(0)
  expect(refused).toEqual(['greedy', 'other 990'])
})
