import { expect, test } from 'bun:test'
import { createFreedBlockers } from './freed-blockers.ts'

function open() {
  const reports: (readonly string[])[] = []
  const state = { fails: false }
  const freed = createFreedBlockers({
    freed: async (names) => {
      reports.push(names)
      if (state.fails) throw new Error('busy')
    },
  })
  return { freed, reports, state }
}

test('each blocker is reported once, and without any the store is not called', async () => {
  const { freed, reports } = open()
  freed.add(['a', 'b'])
  freed.add(['a'])
  await freed.report()
  await freed.report()
  expect(reports).toEqual([['a', 'b']])
})

test('blockers whose report failed are in the next one', async () => {
  const { freed, reports, state } = open()
  state.fails = true
  freed.add(['a'])
  await expect(freed.report()).rejects.toThrow('busy')
  state.fails = false
  freed.add(['b'])
  await freed.report()
  expect(reports).toEqual([['a'], ['a', 'b']])
})
