import { expect, test } from 'bun:test'
import { createMirror } from './mirror.ts'

const ROWS = [
  { id: 'b', owner: 'x' },
  { id: 'a', owner: 'x' },
  { id: 'c', owner: null },
]
const queries = { query: async () => [] }

test('an index has the records that were loaded before it was created, oldest ID first', async () => {
  const mirror = createMirror(async () => ROWS)
  await mirror.load(queries)
  const ofOwner = mirror.index(({ owner }) => owner)
  expect(ofOwner('x').map(({ id }) => id)).toEqual(['a', 'b'])
  expect(ofOwner('y')).toEqual([])
})
