import { expect, test } from 'bun:test'
import { isWhole } from './frame.ts'

/** A header with these counts, and what follows it. */
function message(questions: number, answers: number, ...parts: Uint8Array[]): Buffer {
  const header = Buffer.alloc(12)
  header.writeUInt16BE(questions, 4)
  header.writeUInt16BE(answers, 6)
  return Buffer.concat([header, ...parts])
}
/** `a.` with type and class, and the root with type, class, TTL and one byte of data. */
const QUESTION = Buffer.from([1, 97, 0, 0, 1, 0, 1])
const RECORD = Buffer.from([0, 0, 16, 0, 1, 0, 0, 0, 0, 0, 1, 7])

test('a message is whole with as many questions and records as its header says', () => {
  expect(isWhole(message(0, 0))).toBe(true)
  expect(isWhole(message(1, 0, QUESTION))).toBe(true)
  expect(isWhole(message(2, 2, QUESTION, QUESTION, RECORD, RECORD))).toBe(true)
})

test('a message without its last question or record, or with a part of it, is not', () => {
  expect(isWhole(message(2, 0, QUESTION))).toBe(false)
  expect(isWhole(message(1, 2, QUESTION, RECORD))).toBe(false)
  const whole = message(1, 1, QUESTION, RECORD)
  for (let bytes = 0; bytes < whole.length; bytes++)
    expect([bytes, isWhole(whole.subarray(0, bytes))]).toEqual([bytes, false])
})
