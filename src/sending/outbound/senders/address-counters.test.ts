import { expect, test } from 'bun:test'
import type { AddressCount } from '../../../storage/store.ts'
import { createAddressCounters, hourOf } from './address-counters.ts'

const NOW = 1_795_262_400_000
const use = (attempts: number, delivered: number): AddressCount => ({ address: '192.0.2.2', attempts, delivered })

/** Counters over uses that the test changes, and what was written, or undefined where the store failed. */
function countersOf(uses: AddressCount[]) {
  const written: unknown[] = []
  const state = { isFull: false }
  const addressUses = {
    add: async (hour: number, counts: readonly AddressCount[]) => {
      await Promise.resolve()
      if (state.isFull) throw new Error('disk full')
      written.push([hour, ...counts])
    },
    since: async () => [],
  }
  const counters = createAddressCounters({ store: { addressUses }, clock: { now: () => NOW }, uses: () => uses })
  return { written, state, counters }
}

test('a flush writes what was counted since the one before, and nothing without attempts', async () => {
  const uses = [use(3, 2)]
  const { written, counters } = countersOf(uses)
  await counters.flush()
  await counters.flush()
  uses[0] = use(5, 2)
  await counters.flush()
  expect(written).toEqual([
    [hourOf(NOW), use(3, 2)],
    [hourOf(NOW), use(2, 0)],
  ])
})

test('two flushes at once count nothing twice', async () => {
  const { written, counters } = countersOf([use(3, 2)])
  await Promise.all([counters.flush(), counters.flush()])
  expect(written).toEqual([[hourOf(NOW), use(3, 2)]])
})

test('what the store did not accept is written by the next flush', async () => {
  const { written, state, counters } = countersOf([use(3, 2)])
  state.isFull = true
  await expect(counters.flush()).rejects.toThrow('disk full')
  state.isFull = false
  await counters.flush()
  expect(written).toEqual([[hourOf(NOW), use(3, 2)]])
})
