import { expect, test } from 'bun:test'
import { createFakeClock } from '../../test/support/fake-clock.ts'
import { within } from './within.ts'

test('a promise has its value in time, and null after it', async () => {
  const clock = createFakeClock(0)
  const { promise, resolve } = Promise.withResolvers<string>()
  const [soon, late] = [within(clock, 100, promise), within(clock, 50, promise)]
  await clock.advance(50)
  expect(await late).toBeNull()
  resolve('value')
  expect(await soon).toBe('value')
  expect(clock.sleeps()).toEqual([])
})

test('a rejection is passed on and leaves no timer', async () => {
  const clock = createFakeClock(0)
  await expect(within(clock, 100, Promise.reject(new Error('no')))).rejects.toThrow('no')
  expect(clock.sleeps()).toEqual([])
})
