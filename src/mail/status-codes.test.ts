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

test('every entry of the tables has the form of its code and says something', () => {
  for (const [code, meaning] of REPLY_CODES)
    expect([code >= 200 && code < 600, meaning.length > 3]).toEqual([true, true])
  for (const [code, meaning] of ENHANCED_STATUS_CODES)
    expect([/^\d\.\d{1,2}$/.test(code), meaning.length > 3]).toEqual([true, true])
})
