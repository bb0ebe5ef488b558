import { expect, test } from 'bun:test'
import { createFakeClock } from '../../test/support/fake-clock.ts'
import { createFollowingClock } from './following-clock.ts'

const HOUR = 3_600_000

test('it starts with the own time, and runs on when the own clock is set', async () => {
  const own = createFakeClock(1_000)
  const clock = createFollowingClock(own)
  expect(clock.now()).toBe(1_000)
  own.jump(HOUR)
  await own.advance(500)
  expect(clock.now()).toBe(1_500)
})

test('it takes the time of the other clock, ahead or behind', () => {
  const own = createFakeClock(HOUR)
  const clock = createFollowingClock(own)
  clock.follow(0, 0)
  expect(clock.now()).toBe(0)
  clock.follow(3 * HOUR, 0)
  expect(clock.now()).toBe(3 * HOUR)
})

test('an exchange corrects it only as far as its duration proves', () => {
  const clock = createFollowingClock(createFakeClock(1_000))
  clock.follow(1_000, 20) // now between 1,000 and 1,020
  expect(clock.now()).toBe(1_000)
  clock.follow(1_010, 20) // now between 1,010 and 1,030
  expect(clock.now()).toBe(1_010)
  clock.follow(1_000, 5) // now between 1,000 and 1,005
  expect(clock.now()).toBe(1_005)
})
