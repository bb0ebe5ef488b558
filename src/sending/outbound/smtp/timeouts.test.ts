import { expect, test } from 'bun:test'
import { TIMEOUTS, timeoutsWithin } from './timeouts.ts'

test('timeouts are those of the standard, and none is longer than the configured one', () => {
  expect(TIMEOUTS).toMatchSnapshot()
  const within = timeoutsWithin(60_000)
  for (const [step, ms] of Object.entries(TIMEOUTS))
    expect([step, within[step as keyof typeof TIMEOUTS]]).toEqual([step, Math.min(ms, 60_000)])
  expect(timeoutsWithin(Number.POSITIVE_INFINITY)).toEqual(TIMEOUTS)
})
