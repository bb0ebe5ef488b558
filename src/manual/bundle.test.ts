import { expect, test } from 'bun:test'
import { readPages } from './bundle.ts'
import { TOPICS } from './contents.ts'

test('every page has only what browsers and terminals can show', async () => {
  expect([...(await readPages()).keys()]).toEqual([...TOPICS])
})
