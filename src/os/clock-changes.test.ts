import { expect, test } from 'bun:test'
import { createFakeClock } from '../../test/support/fake-clock.ts'
import { wallTimeOf, watchClockChanges } from './clock-changes.ts'

const HOUR = 3_600_000

test('a clock that is never set shows no change, however long it runs', async () => {
  const clock = createFakeClock(0)
  const changes = watchClockChanges(clock)
  await clock.advance(1000 * HOUR)
  expect([changes.look(), changes.goodSince()]).toEqual([0, 0])
})

test('each change is reported once, and small corrections once they add up', () => {
  const clock = createFakeClock(0)
  const changes = watchClockChanges(clock)
  clock.jump(2 * HOUR)
  expect([changes.look(), changes.look()]).toEqual([2 * HOUR, 0])
  clock.jump(-2 * HOUR)
  expect(changes.look()).toBe(-2 * HOUR)
  for (let second = 0; second < 100; second++) {
    clock.jump(second % 2 === 0 ? 1_000 : -1_000)
    expect(changes.look()).toBe(0)
  }
  for (let second = 0; second < 12; second++) clock.jump(1_000)
  expect(changes.look()).toBe(12_000)
})

test('the clock is good since the last change', async () => {
  const clock = createFakeClock(0)
  const changes = watchClockChanges(clock)
  await clock.advance(HOUR)
  clock.jump(-HOUR / 2)
  changes.look()
  expect(changes.goodSince()).toBe(HOUR / 2)
  await clock.advance(HOUR)
  expect([changes.look(), changes.goodSince()]).toEqual([0, HOUR / 2])
})

test('a steady time is shown by the wall clock as it is set now', async () => {
  const clock = createFakeClock(5 * HOUR)
  const soon = clock.steady.now() + 1_000
  clock.jump(-HOUR)
  expect(wallTimeOf(clock, soon)).toBe(4 * HOUR + 1_000)
})

test('the monotonic clock of the system advances by the millisecond', async () => {
  const { systemClock } = await import('./clock.ts')
  const before = systemClock.steady.now()
  expect(Number.isInteger(before)).toBe(true)
  expect(systemClock.steady.now()).toBeGreaterThanOrEqual(before)
  // It started as the wall clock, which may have been corrected since. The second look bounds a pause between the two.
  const wall = systemClock.now()
  const after = systemClock.steady.now()
  expect(wall).toBeWithin(before - 5_000, after + 5_000)
})
