import { expect, test } from 'bun:test'
import { createTurns } from './turns.ts'

const turn = () => new Promise(setImmediate)

test('runs up to the byte limit in a turn, the others in request order', async () => {
  const turns = createTurns(100)
  const went: string[] = []
  for (const name of ['a', 'b', 'c', 'd', 'e']) turns.take(60, () => went.push(name))
  expect(went).toEqual(['a', 'b']) // the last one may take more than is left
  await turn()
  expect(went).toEqual(['a', 'b', 'c', 'd'])
  turns.take(60, () => went.push('f'))
  expect(went.length).toBe(4)
  await turn()
  await turn()
  expect(went).toEqual(['a', 'b', 'c', 'd', 'e', 'f'])
})

test('a turn after an idle one has its full capacity', async () => {
  const turns = createTurns(100)
  const went: number[] = []
  turns.take(100, () => went.push(1))
  await turn()
  await turn()
  turns.take(100, () => went.push(2))
  expect(went).toEqual([1, 2])
})
