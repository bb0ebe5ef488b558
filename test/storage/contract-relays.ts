import { expect } from 'bun:test'
import type { Holds } from './contract.ts'
import { START } from './records.ts'

const MONTH = '2026-11'
const count = (relay: string, change = {}) => ({ relay, month: MONTH, sent: 0, failed: 0, lastError: null, ...change })

export function relayPromises(holds: Holds): void {
  holds('the route of an attempt that begins through a relay is stored, the latest one per delivery', async (store) => {
    const { relays } = store
    expect(await relays.begun('dlv_1')).toBeNull()
    await relays.begin('dlv_1', { attempt: 2, relay: 'one', now: START })
    await relays.begin('dlv_1', { attempt: 4, relay: 'two', now: START + 5 })
    await relays.begin('dlv_2', { attempt: 1, relay: 'one', now: START + 1 })
    expect(await relays.begun('dlv_1')).toEqual({ attempt: 4, relay: 'two' })
    expect(await relays.pruneBegun(START + 1, 10)).toBe(0)
    expect(await relays.pruneBegun(START + 10, 1)).toBe(1)
    expect(await relays.begun('dlv_2')).toBeNull()
    expect(await relays.pruneBegun(START + 10, 10)).toBe(1)
    expect(await relays.begun('dlv_1')).toBeNull()
  })

  holds('attempts through relays add up by month, with the last error', async ({ relays }) => {
    const error = { at: START, message: '535 5.7.8 no' }
    await relays.count([count('one', { sent: 2, failed: 1, lastError: error }), count('two', { sent: 1 })])
    await relays.count([count('one', { sent: 3 }), count('one', { month: '2026-12', failed: 1 })])
    expect(await relays.counts(MONTH)).toEqual([
      count('one', { sent: 5, failed: 1, lastError: error }),
      count('two', { sent: 1 }),
    ])
    const later = { at: START + 1, message: '421 busy' }
    await relays.count([count('one', { failed: 1, lastError: later })])
    expect((await relays.counts(MONTH))[0]).toMatchObject({ sent: 5, failed: 2, lastError: later })
    expect(await relays.counts('2026-10')).toEqual([])
  })
}
