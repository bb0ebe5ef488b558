import { expect, test } from 'bun:test'
import { isAudited } from '../../../../api/operation.ts'
import { allOperations } from '../../../../manual/all-operations.ts'
import { ACTIONS, wordsOf } from './audit-words.ts'

test('every operation that the server records has words and is in the filter', async () => {
  const recorded = (await allOperations()).filter(isAudited).map(({ id }) => id)
  const known = ACTIONS.map(([action]) => action)
  expect(recorded.length).toBeGreaterThan(40)
  expect(recorded.filter((id) => !known.includes(id))).toEqual([])
  expect(ACTIONS.filter(([, words]) => words.includes('_'))).toEqual([])
  expect(wordsOf('api_keys_create')).toBe('created API key')
})
