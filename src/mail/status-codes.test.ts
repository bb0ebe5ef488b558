import { expect, test } from 'bun:test'
import { ENHANCED_STATUS_CODES, meaningOf, REPLY_CODES } from './status-codes.ts'

test.each([
  [550, '5.1.1', 'no such mailbox'],
  [450, '4.2.2', 'the mailbox is full'],
  [550, '5.7.515', 'rejected for security or policy reasons'],
  [550, '5.9.9', 'mailbox unavailable, or message rejected'],
  [550, '5.0.0', 'mailbox unavailable, or message rejected'],
  [556, null, 'the recipient’s domain does not accept mail'],
  [599, null, 'rejected permanently'],
  [499, null, 'rejected temporarily'],
  [250, '2.0.0', 'accepted'],
])('%d %s means: %s', (code, enhanced, meaning) => {
  expect(meaningOf({ code, enhanced, text: '' })).toBe(meaning)
})

test('contains every code of RFC 5321, its extensions and the enhanced status code registry', () => {
  const numbers = (first: number, last: number) => Array.from({ length: last - first + 1 }, (_, n) => first + n)
  const enhanced = [[8], [4], [6], [7], [6], [10], [30]].flatMap(([last = 0], subject) =>
    numbers(0, last).map((detail) => `${subject + 1}.${detail}`),
  )
  const known = new Set(ENHANCED_STATUS_CODES.keys())
  expect(enhanced.filter((code) => !known.has(code))).toEqual([])
  const replies = [211, 214, 220, 221, 235, 250, 251, 252, 334, 354, 421, 422, 432, 450, 451, 452, 454, 455]
  const refusals = [500, 501, 502, 503, 504, 521, 523, 530, 534, 535, 538, 550, 551, 552, 553, 554, 555, 556]
  expect([...REPLY_CODES.keys()].toSorted()).toEqual([...replies, ...refusals])
})

test('every table entry has a valid code and a text', () => {
  for (const [code, meaning] of REPLY_CODES)
    expect([code >= 200 && code < 600, meaning.length > 3]).toEqual([true, true])
  for (const [code, meaning] of ENHANCED_STATUS_CODES)
    expect([/^\d\.\d{1,2}$/.test(code), meaning.length > 3]).toEqual([true, true])
})
