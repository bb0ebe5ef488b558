import { expect, test } from 'bun:test'
import { precise, when } from './format.ts'

test('what only looks like a time stays as it is', () => {
  const text = '2026-99-99T99:99:99Z'
  expect([when(text), precise(text)]).toEqual([text, text])
  expect(when('2020-01-02T03:04:05Z')).toBe('2 Jan 2020')
})
