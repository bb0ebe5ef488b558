import { expect, test } from 'bun:test'
import { createRecentOthers } from './recent-others.ts'

test('each of two owners that alternate has recent others, until one has been inactive for the interval', () => {
  let now = 0
  const recentOthers = createRecentOthers(() => now, 100)
  expect(recentOthers.than('a')).toBe(false)
  expect(recentOthers.than('a')).toBe(false)
  expect(recentOthers.than('b')).toBe(true)
  now = 50
  expect(recentOthers.than('a')).toBe(true)
  now = 149
  expect(recentOthers.than('a')).toBe(true)
  now = 150
  expect(recentOthers.than('a')).toBe(false)
})
