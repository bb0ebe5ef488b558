import { expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { nextWebhookAttempt, WEBHOOK_ATTEMPTS } from './schedule.ts'

const SCHEDULE = [5, 300, 1800, 7200]
const randomOf = (fraction: number) => ({ bytes: (size: number) => new Uint8Array(size), fraction: () => fraction })

function wait(attempt: number, fraction = 0.5, retryAfterSeconds: number | null = null): string {
  const now = 1_795_244_400_000
  const random = randomOf(fraction)
  const at = nextWebhookAttempt({ attempt, now, scheduleSeconds: SCHEDULE, retryAfterSeconds, random })
  return at === null ? 'none' : String((at - now) / 1000)
}

test('the waits are those of the golden table', () => {
  const golden = readFileSync(`${import.meta.dir}/../../../test/golden/webhook-schedule.txt`, 'utf8')
  const rows = golden.split('\n').filter((line) => /^ *\d/.test(line))
  expect(rows.length).toBe(WEBHOOK_ATTEMPTS + 1)
  for (const row of rows) {
    const [attempt, ...expected] = row.trim().split(/ +/)
    const n = Number(attempt)
    expect([n, wait(n, 0), wait(n), wait(n, 1), wait(n, 0.5, 60), wait(n, 0.5, 604_800)]).toEqual([n, ...expected])
  }
})

test('a Retry-After never shortens a wait, and an invalid one is ignored', () => {
  expect(wait(2, 0.5, 0)).toBe('300')
  expect(wait(2, 0.5, -10)).toBe('300')
  expect(wait(2, 1, 301)).toBe('360')
})

test('a thousand failures of one second are spread over the interval', () => {
  const seconds = new Set(Array.from({ length: 1000 }, (_, at) => Math.floor(Number(wait(2, at / 1000)))))
  expect(seconds.size).toBe(120)
})
