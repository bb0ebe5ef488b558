import { expect } from 'bun:test'
import type { Canary } from '../../src/model/canary.ts'
import type { Holds } from './contract.ts'

const START = 1_795_262_400_000
const canaryOf = (change: Partial<Canary>): Canary => ({
  id: 'cnr_1',
  mailbox: 'gmail',
  dueAt: START,
  sentAt: START,
  result: 'pending',
  arrivedAt: null,
  detail: null,
  ...change,
})

export function canaryPromises(holds: Holds): void {
  holds('a mailbox gets one canary for each interval, also from two nodes at once', async ({ canaries }) => {
    const both = ['cnr_1', 'cnr_2'].map((id) => canaries.add(canaryOf({ id, sentAt: START + 5 })))
    expect((await Promise.all(both)).toSorted()).toEqual([false, true])
    expect(await canaries.add(canaryOf({ id: 'cnr_3', mailbox: 'self' }))).toBeTrue()
    expect(await canaries.add(canaryOf({ id: 'cnr_4', dueAt: START + 60_000, sentAt: START + 60_000 }))).toBeTrue()
    expect((await canaries.latest('gmail', 9)).map(({ dueAt }) => dueAt)).toEqual([START + 60_000, START])
    expect(await canaries.latest('gmail', 1)).toEqual([
      canaryOf({ id: 'cnr_4', dueAt: START + 60_000, sentAt: START + 60_000 }),
    ])
    expect(await canaries.get('cnr_3')).toEqual(canaryOf({ id: 'cnr_3', mailbox: 'self' }))
    expect(await canaries.get('cnr_9')).toBeNull()
  })

  holds('a canary arrives once, also when it was missing before, and never becomes missing again', async (store) => {
    const { canaries } = store
    await canaries.add(canaryOf({}))
    expect(await canaries.record('cnr_1', { result: 'pending', arrivedAt: null, detail: 'login failed' })).toBeTrue()
    expect(await canaries.get('cnr_1')).toEqual(canaryOf({ detail: 'login failed' }))
    const missing = { result: 'missing', arrivedAt: null, detail: null } as const
    expect(await canaries.record('cnr_1', missing)).toBeTrue()
    expect(await canaries.record('cnr_1', { ...missing, result: 'unchecked' })).toBeFalse()
    expect(await canaries.record('cnr_1', { result: 'late', arrivedAt: START + 9, detail: null })).toBeTrue()
    expect(await canaries.record('cnr_1', { result: 'spam', arrivedAt: START + 10, detail: null })).toBeFalse()
    expect(await canaries.record('cnr_1', missing)).toBeFalse()
    expect(await canaries.get('cnr_1')).toEqual(canaryOf({ result: 'late', arrivedAt: START + 9 }))
    expect(await canaries.record('cnr_9', missing)).toBeFalse()
  })

  holds('those that have ended are read without those on their way', async ({ canaries }) => {
    const results = ['inbox', 'pending', 'missing', 'spam', 'pending'] as const
    for (const [at, result] of results.entries()) {
      await canaries.add(canaryOf({ id: `cnr_${at}`, dueAt: START + at, result }))
      await canaries.add(canaryOf({ id: `cnr_self_${at}`, mailbox: 'self', dueAt: START + at, result: 'late' }))
    }
    expect((await canaries.latestEnded('gmail', 2)).map(({ id }) => id)).toEqual(['cnr_3', 'cnr_2'])
    expect((await canaries.latestEnded('gmail', 9)).map(({ id }) => id)).toEqual(['cnr_3', 'cnr_2', 'cnr_0'])
    expect(await canaries.latestEnded('other', 9)).toEqual([])
  })

  holds('old canaries are deleted, the oldest first', async ({ canaries }) => {
    for (const at of [1, 2, 3]) await canaries.add(canaryOf({ id: `cnr_${at}`, dueAt: START + at, sentAt: START + at }))
    expect(await canaries.prune(START + 3, 1)).toBe(1)
    expect(await canaries.prune(START + 3, 9)).toBe(1)
    expect((await canaries.latest('gmail', 9)).map(({ id }) => id)).toEqual(['cnr_3'])
  })
}
