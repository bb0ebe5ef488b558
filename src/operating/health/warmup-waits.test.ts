import { expect, test } from 'bun:test'
import type { WarmupDay } from '../../model/warmup.ts'
import { warmupWaits } from './warmup-waits.ts'

const MIDNIGHT = Date.parse('2026-11-24')
const DAY = MIDNIGHT / 86_400_000
const WARMUP = { startedOn: '2026-11-24', plan: 'standard' } as const
const day = (address: string, sent: number, deferred = 0): WarmupDay => ({
  address,
  group: 'google',
  day: DAY,
  sent,
  delivered: sent - deferred,
  deferred,
  blocked: 0,
  complaints: 0,
})
const waits = (
  addresses: { address: string; pool?: string; isWarm?: true }[],
  days: WarmupDay[] = [],
  hour = 12,
): Promise<string[]> => {
  const warmups = { days: async () => days, take: async () => [], add: async () => {} }
  const pooled = addresses.map(({ address, pool = 'default', isWarm }) => ({
    address,
    pool,
    warmup: isWarm ? null : WARMUP,
  }))
  return warmupWaits({ warmups }, pooled, MIDNIGHT + hour * 3_600_000)
}
const one = { address: '192.0.2.1' }
const two = { address: '192.0.2.2' }

test('a group waits when what its addresses may send by now is used up, or a bad day holds them', async () => {
  expect(await waits([one], [day(one.address, 10)])).toEqual([])
  // Of 50 messages, 27 are there at 11:50.
  expect(await waits([one], [day(one.address, 27)])).toEqual(['google'])
  expect(await waits([one], [day(one.address, 10, 6)])).toEqual(['google'])
  expect(await waits([one, two], [day(one.address, 28)])).toEqual([])
  expect(await waits([one, two], [day(one.address, 28), day(two.address, 28)])).toEqual(['google'])
})

test('no group waits where another address of the pool takes over, which IPv6 beside IPv4 does not', async () => {
  const used = [day(one.address, 50)]
  expect(await waits([one, { ...two, isWarm: true }], used)).toEqual([])
  expect(await waits([one, { ...two, isWarm: true, pool: 'bulk' }], used)).toEqual(['google'])
  expect(
    await waits(
      [
        { ...one, pool: 'dedicated' },
        { ...two, isWarm: true, pool: 'dedicated' },
      ],
      used,
    ),
  ).toEqual(['google'])
  expect(await waits([one, { address: '2001:db8::1', isWarm: true }], used)).toEqual(['google'])
})

test('before its first day an address holds everything, and after its last nothing', async () => {
  expect(await waits([one], [], -1)).toHaveLength(5)
  expect(await waits([one], [], 31 * 24)).toEqual([])
})
