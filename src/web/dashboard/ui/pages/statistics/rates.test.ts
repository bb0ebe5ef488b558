import { expect, test } from 'bun:test'
import { shareOf, toneOfRate } from './rates.ts'

test('one spam report is no verdict, and from two on the share decides', () => {
  const toneOf = (complained: number, delivered: number) =>
    toneOfRate({ complained, delivered, bounced: 0, complaint_rate: complained / delivered }, 'complaint_rate')
  expect([toneOf(1, 250), toneOf(2, 250), toneOf(2, 1500), toneOf(2, 5000), toneOf(0, 250)]).toEqual([
    'quiet',
    'bad',
    'warn',
    'good',
    'good',
  ])
})

test('fewer than 20 have no share', () => {
  expect([shareOf(0, 0), shareOf(19, 19), shareOf(5, 20)]).toEqual([null, null, 0.25])
})
