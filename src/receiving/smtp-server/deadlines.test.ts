import { expect, test } from 'bun:test'
import { createFakeClock } from '../../../test/support/fake-clock.ts'
import { createDeadlines } from './deadlines.ts'

test('expires each entry once, when due, with one timer for all', async () => {
  const clock = createFakeClock(0)
  const deadlines = createDeadlines(clock)
  const reported: string[] = []
  const due = (name: string, dueAt: number) => ({
    dueAt,
    expire: () => void reported.push(`${name} at ${clock.now()}`),
  })
  const a = due('a', 5_000)
  const b = due('b', 3_000)
  const never = due('never', Number.POSITIVE_INFINITY)
  const removed = due('removed', 4_000)
  for (const each of [a, b, never, removed]) deadlines.add(each)
  expect(clock.sleeps().length).toBe(1)
  deadlines.remove(removed)
  b.dueAt = 6_000 // a later one requires no timer
  await clock.advance(5_500)
  expect(reported).toEqual(['a at 5000'])
  never.dueAt = 5_700
  deadlines.nearer(never)
  await clock.advance(10_000)
  expect(reported).toEqual(['a at 5000', 'never at 5700', 'b at 6000'])
  expect(clock.sleeps()).toEqual([])
  deadlines.add(due('late', 60_000))
  deadlines.stop()
  await clock.advance(60_000)
  expect(reported.length).toBe(3)
})
