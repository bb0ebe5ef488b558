import { expect, test } from 'bun:test'
import { createFakeClock } from '../../test/support/fake-clock.ts'
import { createLeaps } from './leaps.ts'

const HOUR = 3_600_000

test('a clock that is never set reports no jump, however long it runs', async () => {
  const clock = createFakeClock(0)
  const leaps = createLeaps(clock)
  await clock.advance(1000 * HOUR)
  expect([leaps.look(), leaps.since(0)]).toEqual([0, 0])
})

test('each jump is reported once, and small corrections once they add up', () => {
  const clock = createFakeClock(0)
  const leaps = createLeaps(clock)
  clock.leap(2 * HOUR)
  expect([leaps.look(), leaps.look()]).toEqual([2 * HOUR, 0])
  clock.leap(-2 * HOUR)
  expect(leaps.look()).toBe(-2 * HOUR)
  const reported: number[] = []
  for (let second = 0; second < 100; second++) {
    clock.leap(second % 2 === 0 ? 1_000 : -1_000)
    reported.push(leaps.look())
  }
  expect(reported.every((byMs) => byMs === 0)).toBe(true)
  for (let second = 0; second < 12; second++) clock.leap(1_000)
  expect(leaps.look()).toBe(12_000)
})

test('an age is the time that has passed, whatever the clock was set to', async () => {
  const clock = createFakeClock(0)
  const leaps = createLeaps(clock)
  const begun = [clock.now()]
  for (const byMs of [2 * HOUR, 87_600 * HOUR, -10 * HOUR]) {
    await clock.advance(HOUR)
    clock.leap(byMs)
    leaps.look()
    await clock.advance(1)
    begun.push(clock.now())
  }
  await clock.advance(HOUR)
  const ages = begun.map((at) => clock.now() - at - leaps.since(at))
  expect(ages).toEqual([4 * HOUR + 3, 3 * HOUR + 2, 2 * HOUR + 1, HOUR])
})

test('the monotonic clock of the system advances by the millisecond', async () => {
  const { systemClock } = await import('./clock.ts')
  const before = systemClock.steady.now()
  expect(Number.isInteger(before)).toBe(true)
  expect(Math.abs(before - systemClock.now())).toBeLessThan(5_000)
  expect(systemClock.steady.now()).toBeGreaterThanOrEqual(before)
})
