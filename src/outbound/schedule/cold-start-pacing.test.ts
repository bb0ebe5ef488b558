import { expect, test } from 'bun:test'
import { createPace } from './cold-start-pacing.ts'

test('there is no limit while no server accepts mail; beside accepted mail it is a tenth, and at least a hundred a second', () => {
  const pace = createPace()
  expect(pace.left(0).starts).toBe(Number.POSITIVE_INFINITY)
  for (let i = 0; i < 100; i++) pace.good(1_000)
  expect(pace.left(1_050)).toEqual({ starts: 10, nextAt: 1_100 })
  pace.started(10, 1_050)
  expect(pace.left(1_099).starts).toBe(0)
  expect(pace.left(1_100).starts).toBe(10)
  for (let i = 0; i < 2_900; i++) pace.good(1_200)
  expect(pace.left(2_000).starts).toBe(30)
  expect(pace.left(3_000).starts).toBe(Number.POSITIVE_INFINITY)
})
