import { expect, test } from 'bun:test'
import { largeReporterOf, messagesLeft, standingOf } from './reporter.ts'

test('a large receiver is recognised by the address for its reports, and its customers are not', () => {
  expect(largeReporterOf('google.com')).toBe('google.com')
  expect(largeReporterOf('us-1.mimecastreport.com')).toBe('mimecastreport.com')
  expect(largeReporterOf('dmarc.yahoo.com')).toBe('dmarc.yahoo.com')
  for (const other of [
    'yahoo.com',
    'gmx.net',
    'mail.ru',
    'outlook.com',
    'evilgoogle.com',
    'google.com.evil.test',
    '',
  ]) {
    expect([other, largeReporterOf(other)]).toEqual([other, null])
  }
})

test('a reporter is known after seven days, and a large one at once', () => {
  expect([standingOf('a.test', 6), standingOf('a.test', 7), standingOf('google.com', 0)]).toEqual([
    'unknown',
    'known',
    'large',
  ])
})

// threat: report-flood
test('the messages of a reporter count up to a number each day', () => {
  const today = [
    { reporter: 'a.test', reports: 2, messages: 9_900 },
    { reporter: 'google.com', reports: 49, messages: 1 },
  ]
  expect(messagesLeft('a.test', 'known', today)).toBe(100)
  expect(messagesLeft('b.test', 'unknown', today)).toBe(10_000)
  expect(messagesLeft('google.com', 'large', today)).toBe(9_999_999)
  expect(messagesLeft('a.test', 'known', [{ reporter: 'a.test', reports: 2, messages: 1e9 }])).toBe(0)
})
