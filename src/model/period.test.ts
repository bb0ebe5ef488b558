import { expect, test } from 'bun:test'
import { type Interval, periodsOf } from './period.ts'

const CASES: [interval: Interval, from: string, before: string, starts: string[]][] = [
  ['hour', '2026-11-21T10:00:00Z', '2026-11-21T12:00:00Z', ['2026-11-21T10:00', '2026-11-21T11:00']],
  ['hour', '2026-11-21T10:59:59.999Z', '2026-11-21T11:00:00.001Z', ['2026-11-21T10:00', '2026-11-21T11:00']],
  ['day', '2026-11-21', '2026-11-22', ['2026-11-21T00:00']],
  ['day', '2024-02-28T23:59:00Z', '2024-03-01T00:01:00Z', ['2024-02-28T00:00', '2024-02-29T00:00', '2024-03-01T00:00']],
  ['month', '2025-12-31', '2026-02-01', ['2025-12-01T00:00', '2026-01-01T00:00']],
  ['month', '0099-12-15', '0100-01-02', ['0099-12-01T00:00', '0100-01-01T00:00']],
  ['day', '2026-11-21', '2026-11-21', []],
  ['month', '2026-11-22', '2026-11-21', []],
]

test.each(CASES)('%ss from %s to before %s', (interval, from, before, starts) => {
  const periods = periodsOf({ from: Date.parse(from), before: Date.parse(before) }, interval, 100)
  expect(periods.map((period) => new Date(period.from).toISOString().slice(0, 16))).toEqual(starts)
  for (const [at, { before }] of periods.slice(0, -1).entries()) expect(before).toBe(periods[at + 1]!.from)
})

test('at most one period more than wanted is made', () => {
  expect(periodsOf({ from: 0, before: 8e15 }, 'hour', 5)).toHaveLength(6)
})
