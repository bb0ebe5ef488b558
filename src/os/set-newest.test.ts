import { expect, test } from 'bun:test'
import { setNewest } from './set-newest.ts'

test('an entry becomes the newest, and the oldest ones beyond the maximum go', () => {
  const entries = new Map<string, number>()
  for (const [at, key] of [...'abcad'].entries()) setNewest(entries, key, at, 3)
  expect([...entries]).toEqual([
    ['c', 2],
    ['a', 3],
    ['d', 4],
  ])
  setNewest(entries, 'e', 5, 1)
  expect([...entries]).toEqual([['e', 5]])
})
