import { expect, test } from 'bun:test'
import { commandTree } from '../../cli/manual/packed.ts'
import { readOperations, readPages } from './bundle.ts'
import { TOPICS } from './contents.ts'

test('every page has only what browsers and terminals can show', async () => {
  expect([...(await readPages(commandTree(), await readOperations())).keys()]).toEqual([...TOPICS])
})
