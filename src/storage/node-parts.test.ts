import { expect, test } from 'bun:test'
import { NodeParts } from './node-parts.ts'
import type { NodeShare } from './store.ts'

/** Nodes that a test makes join and leave. */
function open(count: number) {
  const state = { now: 0, shares: [] as NodeShare[] }
  const set = (nodes: number) => {
    state.shares = Array.from({ length: nodes }, (_, place) => ({ nodes, place }))
  }
  set(count)
  const partsAt = (place: number) =>
    new NodeParts(
      { share: () => state.shares[place] ?? { nodes: 0, place: 0 }, elsewhere: (queue) => queue || null },
      { now: () => state.now },
    )
  return { state, set, partsAt }
}

const KEYS = Array.from({ length: 50 }, (_, n) => `d${n}.example`)

test('the parts of all nodes add up to the limit, and each node has its turn at limits smaller than their number', () => {
  const { state, partsAt } = open(3)
  const nodes = [0, 1, 2].map(partsAt)
  state.now = 2_000
  for (const limit of [1, 2, 3, 5, 20]) {
    for (const key of KEYS) expect(nodes.reduce((sum, node) => sum + node.of(limit, key), 0)).toBe(limit)
  }
  for (const node of nodes) expect(KEYS.filter((key) => node.of(1, key) === 1).length).toBeGreaterThan(5)
  expect(nodes.reduce((sum, node) => sum + node.ofRate(60), 0)).toBe(60)
})

test('the only node has every limit at once', () => {
  const alone = open(1).partsAt(0)
  expect([alone.of(20, 'a'), alone.ofRate(60), alone.freed()]).toEqual([20, 60, []])
})

test('a part shrinks at once and grows after two seconds, so that the sum holds while a node joins or leaves', () => {
  const { state, set, partsAt } = open(1)
  const one = partsAt(0)
  set(2)
  const two = partsAt(1)
  const both = () => one.of(20, 'a') + two.of(20, 'a')
  expect([one.of(20, 'a'), two.of(20, 'a')]).toEqual([10, 0])
  expect(one.ofRate(60)).toBe(30)
  state.now = 1_999
  expect(both()).toBe(10)
  state.now = 2_000
  expect([one.of(20, 'a'), two.of(20, 'a')]).toEqual([10, 10])
  set(1)
  expect(one.of(20, 'a')).toBe(10)
  expect(one.ofRate(60)).toBe(30)
  state.now = 4_000
  expect([one.of(20, 'a'), one.ofRate(60)]).toEqual([20, 60])
})

test('a part that waits to grow does so for two seconds, whatever changes meanwhile', () => {
  const { state, set, partsAt } = open(2)
  const joined = partsAt(1)
  state.now = 1_000
  set(2) // as when one of them begins to drain
  expect(joined.of(20, 'a')).toBe(0)
  state.now = 3_000
  expect(joined.of(20, 'a')).toBe(10)
  set(4)
  expect(joined.of(20, 'a')).toBe(5)
  state.now = 10_000
  set(2)
  expect(joined.of(20, 'a')).toBe(5)
  state.now = 11_000
  set(2)
  expect([joined.of(20, 'a'), joined.ofRate(60)]).toEqual([5, 15])
  state.now = 12_000
  expect([joined.of(20, 'a'), joined.ofRate(60)]).toEqual([10, 30])
})

test('what waits for a part, or for another node, is freed when the parts change, and when they have grown', () => {
  const { state, set, partsAt } = open(2)
  const node = partsAt(0)
  expect(node.blocker('destination a')).toEqual({ name: 'destination a', until: null })
  expect([node.elsewhere(''), node.elsewhere('b')]).toEqual([null, { name: 'b', until: null }])
  expect(node.freed()).toEqual([])
  state.now = 2_000
  expect(node.freed()).toEqual(['destination a', 'b'])
  expect(node.freed()).toEqual([])
  set(1)
  node.blocker('destination c')
  expect(node.freed()).toEqual(['destination c'])
  node.blocker('destination c')
  state.now = 4_000
  expect(node.freed()).toEqual(['destination c'])
})
