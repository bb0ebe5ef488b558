import { expect, test } from 'bun:test'
import { createFairPool } from './fair-pool.ts'

const owner = (name: string, part = 1) => [{ name, part }]

test('one owner gets half of the pool, the next one half of the rest, and a newcomer is admitted', () => {
  const pool = createFairPool(100)
  const takeAll = (name: string) => {
    let taken = 0
    while (pool.take(owner(name), 1)) taken++
    return taken
  }
  expect([takeAll('a'), takeAll('b'), takeAll('c')]).toEqual([50, 25, 12])
  expect(pool.take(owner('new'), 5)).toBe(true)
})

test('an owner with a smaller part leaves room for others that share an owner with it', () => {
  const pool = createFairPool(90)
  const of = (key: string) => [...owner(key, 0.5), ...owner('organization')]
  while (pool.take(of('key 1'), 1)) {}
  let taken = 0
  while (pool.take(of('key 2'), 1)) taken++
  expect(taken).toBe(15) // 30 of 90 for the first key, then 45 for both
})

test('what is given back is free, and an owner that holds nothing is not kept', () => {
  const pool = createFairPool(100)
  expect(pool.take(owner('a'), 50)).toBe(true)
  expect(pool.take(owner('a'), 1)).toBe(false)
  pool.give(owner('a'), 50)
  expect(pool.take(owner('b'), 50)).toBe(true)
})

test('a refused amount changes nothing, also if only the whole pool may not grow', () => {
  const pool = createFairPool(100, (amount) => amount <= 10)
  expect(pool.take(owner('a'), 11)).toBe(false)
  expect(pool.take(owner('a'), 10)).toBe(true)
  expect(pool.take(owner('b'), 1)).toBe(false)
})
