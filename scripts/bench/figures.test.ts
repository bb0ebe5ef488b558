import { expect, test } from 'bun:test'
import { sideBySide } from './figures.ts'

test('prints figures with columns in one table, medians with their spread', () => {
  const columns = ['A', 'B', 'C']
  const rows = [
    { what: 'sent', columns, values: { A: [30, 10, 20], C: [1_234_567] } },
    { what: 'alone', values: { this: [1] } },
    { what: 'share', columns, values: { C: [0.98765, 0.9] } },
  ]
  expect(sideBySide(rows)).toEqual([
    '',
    '| What | A | C |',
    '|---|---|---|',
    '| sent | 20 (10–30) | 1,230,000 |',
    '| share | – | 0.988 (0.9–0.988) |',
  ])
})

test('prints no table without such figures', () => {
  expect(sideBySide([{ what: 'alone', values: { this: [1] } }])).toEqual([])
})
