import { expect, test } from 'bun:test'
import { preferredWaitMs } from './prefer.ts'

const CASES: [string, number | null][] = [
  ['wait=1', 1000],
  ['wait=30', 30_000],
  ['wait=31', 30_000],
  ['wait=999999999', 30_000],
  ['WAIT = 5', 5000],
  ['wait="5"', 5000],
  ['respond-async, wait=10', 10_000],
  ['return=minimal; wait=10', 10_000],
  ['wait=0', null],
  ['wait=-1', null],
  ['wait=1.5', null],
  ['wait=', null],
  ['wait', null],
  ['wait=ten', null],
  ['await=5', null],
  ['', null],
]

test.each(CASES)('Prefer: %s waits %p ms', (prefer, waitMs) => {
  expect(preferredWaitMs(new Headers({ prefer }))).toBe(waitMs)
})

test('a request without Prefer does not wait', () => {
  expect(preferredWaitMs(new Headers())).toBeNull()
})
