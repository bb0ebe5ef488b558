import { expect, test } from 'bun:test'
import { tablesOf } from './figures.ts'

test('prints figures with the same columns in one table: medians with their spread, and missed goals', () => {
  const columns = ['A', 'B', 'C']
  const rows = [
    { what: 'sent', columns, values: { A: [30, 10, 20], C: [1_234_567] } },
    { what: 'alone', unit: 'ms', goal: { atMost: 1 }, values: { this: [2] } },
    { what: 'share', columns, values: { C: [0.98765, 0.9] } },
  ]
  expect(tablesOf(rows).replaceAll(/ +/g, ' ').split('\n')).toEqual([
    '| What | A | C |',
    '| --- | --- | --- |',
    '| sent | 20 (10–30) | 1,230,000 |',
    '| share | – | 0.988 (0.9–0.988) |',
    '',
    '| What | this | Goal |',
    '| --- | --- | --- |',
    '| alone, ms | 2 | ≤ 1: missed |',
  ])
})
