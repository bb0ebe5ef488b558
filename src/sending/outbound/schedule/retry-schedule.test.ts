import { expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { makeConfig } from '../../../config/load.ts'
import type { Random } from '../../../os/random.ts'
import { nextAttempt } from './retry-schedule.ts'

// The schedule of the default config, so that the golden table shows that of a new server.
const { retryScheduleSeconds: RETRY_SCHEDULE_SECONDS, maxAgeSeconds: MAX_AGE_SECONDS } = makeConfig({
  hostname: 'mail.example.com',
}).delivery

const fraction = (value: number): Random => ({ bytes: (size) => new Uint8Array(size), fraction: () => value })
const noJitter = fraction(0.5)
const base = {
  attempt: 1,
  firstAttemptAt: 0,
  now: 0,
  scheduleSeconds: RETRY_SCHEDULE_SECONDS,
  maxAgeSeconds: MAX_AGE_SECONDS,
  expiresAt: null,
  random: noJitter,
}

test('the printed schedule matches the golden file', () => {
  const golden = readFileSync(new URL('../../../../test/golden/retry-schedule.txt', import.meta.url), 'utf8')
  expect(printedSchedule()).toBe(golden)
})

test('a wait varies by at most ten percent', () => {
  expect(nextAttempt({ ...base, random: fraction(0) })).toBe(54_000)
  expect(nextAttempt({ ...base, random: fraction(1) })).toBe(66_000)
})

test('the wait counts from the end of the attempt, the age from the first', () => {
  expect(nextAttempt({ ...base, firstAttemptAt: 1_000_000, now: 1_600_000 })).toBe(1_660_000)
  expect(nextAttempt({ ...base, firstAttemptAt: 0, now: MAX_AGE_SECONDS * 1000 - 60_000 })).toBe(MAX_AGE_SECONDS * 1000)
  expect(nextAttempt({ ...base, firstAttemptAt: 0, now: MAX_AGE_SECONDS * 1000 - 59_999 })).toBeNull()
})

test('the attempts themselves show a least age, whatever the clock says', () => {
  const after = (attempt: number) => nextAttempt({ ...base, attempt, firstAttemptAt: null })
  const waits = (attempt: number) =>
    Array.from({ length: attempt }, (_, n) => RETRY_SCHEDULE_SECONDS[n] ?? RETRY_SCHEDULE_SECONDS.at(-1)!)
  const sum = (attempt: number) => waits(attempt).reduce((total, seconds) => total + seconds, 0)
  let last = 1
  while (sum(last + 1) * 0.9 <= MAX_AGE_SECONDS) last++
  expect(last).toBeGreaterThan(RETRY_SCHEDULE_SECONDS.length)
  expect([after(last) === null, after(last + 1)]).toEqual([false, null])
})

test('no attempt starts after the message has expired', () => {
  expect(nextAttempt({ ...base, expiresAt: 60_000 })).toBe(60_000)
  expect(nextAttempt({ ...base, expiresAt: 59_999 })).toBe('expired')
})

test('the last step of the schedule repeats; an empty schedule retries nothing', () => {
  expect(nextAttempt({ ...base, attempt: 50, scheduleSeconds: [1, 2] })).toBe(2000)
  expect(nextAttempt({ ...base, scheduleSeconds: [] })).toBeNull()
})

function printedSchedule(): string {
  const rows = ['attempt  wait before it  since the first']
  let now = 0
  for (let attempt = 1; ; attempt++) {
    const next = nextAttempt({ ...base, attempt, now })
    if (next === 'expired') throw new Error('expired without a time limit')
    rows.push(`${String(attempt + 1).padStart(7)}  ${next === null ? '     given up' : row(next - now, next)}`)
    if (next === null) return `${rows.join('\n')}\n`
    now = next
  }
}

const row = (waitMs: number, totalMs: number) => `${span(waitMs).padStart(14)}  ${span(totalMs).padStart(15)}`

function span(ms: number): string {
  const minutes = ms / 60_000
  return `${Math.floor(minutes / 60)} h ${String(minutes % 60).padStart(2, '0')} min`
}
