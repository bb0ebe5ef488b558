import { expect, test } from 'bun:test'
import { createPoisonMessages } from './poison-messages.ts'

const digest = (byte: number) => new Uint8Array(32).fill(byte)

test('recognizes a mail by its digest for some days', () => {
  const mails = createPoisonMessages({ mails: 10, keptMs: 1_000 })
  expect(mails.mayHave(5)).toBe(false)
  mails.add(digest(1), 5, 0)
  mails.add(digest(1), 5, 10)
  expect([mails.mayHave(5), mails.mayHave(6)]).toEqual([true, false])
  expect([mails.has(digest(1), 1_010), mails.has(digest(2), 1_010)]).toEqual([true, false])
  expect(mails.has(digest(1), 1_011)).toBe(false)
  expect(mails.mayHave(5)).toBe(false)
})

test('drops the oldest digest when there are too many', () => {
  const mails = createPoisonMessages({ mails: 3, keptMs: 1_000 })
  for (const each of [1, 2, 3, 4]) mails.add(digest(each), each, each)
  expect([1, 2, 3, 4].map((each) => mails.has(digest(each), 10))).toEqual([false, true, true, true])
})
