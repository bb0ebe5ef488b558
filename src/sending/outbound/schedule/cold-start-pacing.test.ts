import { expect, test } from 'bun:test'
import { ColdStartPacing } from './cold-start-pacing.ts'

test('there is no limit while no server accepts mail; beside accepted mail it is a tenth, and at least a hundred a second', () => {
  const pacing = new ColdStartPacing()
  expect(pacing.left(0).starts).toBe(Number.POSITIVE_INFINITY)
  for (let i = 0; i < 100; i++) pacing.delivered(1_000)
  expect(pacing.left(1_050)).toEqual({ starts: 10, nextAt: 1_100 })
  pacing.started(10, 1_050)
  expect(pacing.left(1_099).starts).toBe(0)
  expect(pacing.left(1_100).starts).toBe(10)
  for (let i = 0; i < 2_900; i++) pacing.delivered(1_200)
  expect(pacing.left(2_000).starts).toBe(30)
  expect(pacing.left(3_000).starts).toBe(Number.POSITIVE_INFINITY)
})
