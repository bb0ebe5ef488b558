import { expect, test } from 'bun:test'
import { ActiveNodes } from './active-nodes.ts'

const NOBODY: ReadonlySet<number> = new Set()
const active = () => new ActiveNodes({ query: async () => [] }, 1, undefined)
const seen = (live: number[], hasEndedSome = false) => ({ live, draining: NOBODY, handedOver: NOBODY, hasEndedSome })

test('a node that is no longer alive has ended', async () => {
  const nodes = active()
  expect(await nodes.learn(seen([1, 2]))).toBe(false)
  expect(await nodes.learn(seen([1, 2]))).toBe(false)
  expect(await nodes.learn(seen([1]))).toBe(true)
  expect(await nodes.learn(seen([1, 3]))).toBe(false)
})

test('a node that this one ended has ended, although it was silent from the start', async () => {
  const nodes = active()
  expect(await nodes.learn(seen([1]))).toBe(false)
  expect(await nodes.learn(seen([1], true))).toBe(true)
  expect(await nodes.learn(seen([1]))).toBe(false)
})
