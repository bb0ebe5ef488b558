import { expect, test } from 'bun:test'
import { parseScheduledAt } from './scheduled-at.ts'

const NOW = Date.parse('2026-11-21T12:30:15.500Z') // a Saturday

const times: [text: string, at: string][] = [
  ['in 1 min', '2026-11-21T12:31:15.500Z'],
  ['In 90  Seconds', '2026-11-21T12:31:45.500Z'],
  ['in an hour', '2026-11-21T13:30:15.500Z'],
  ['in 2 days', '2026-11-23T12:30:15.500Z'],
  ['in a week', '2026-11-28T12:30:15.500Z'],
  ['tomorrow', '2026-11-22T12:30:15.500Z'],
  ['tomorrow at 9am', '2026-11-22T09:00:00.000Z'],
  ['tomorrow at 12 am utc', '2026-11-22T00:00:00.000Z'],
  ['today at 17:45', '2026-11-21T17:45:00.000Z'],
  ['monday at 9am', '2026-11-23T09:00:00.000Z'],
  ['next Friday at 3:15 pm', '2026-11-27T15:15:00.000Z'],
  ['on saturday at 12pm', '2026-11-28T12:00:00.000Z'],
  ['2026-12-01T10:00:00Z', '2026-12-01T10:00:00.000Z'],
  ['2026-12-01T10:00:00.123+02:00', '2026-12-01T08:00:00.123Z'],
  ['2026-12-01 10:00:00.123456+00:00', '2026-12-01T10:00:00.123Z'],
  ['2026-12-01', '2026-12-01T00:00:00.000Z'],
]
test.each(times)('%s is %s', (text, at) => {
  expect(new Date(parseScheduledAt(text, NOW) ?? 0).toISOString()).toBe(at)
})

const none = ['', 'soon', 'in minutes', 'in -1 min', 'today', 'today at 9am', 'tomorrow at 13pm', 'tomorrow at 24:00']
none.push('friday at 3pm ET', 'tomorrow at 9am EST', '2026-12-01T10:00:00', '2026-13-01', '10:00', 'in 1 month')
none.push(`in 1${' '.repeat(100)}min`)
test.each(none)('%s is not a time', (text) => {
  expect(parseScheduledAt(text, NOW)).toBeNull()
})
