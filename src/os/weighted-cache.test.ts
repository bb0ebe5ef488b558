import { expect, test } from 'bun:test'
import { createWeightedCache } from './weighted-cache.ts'

const keysIn = (cache: { get(key: string): string | undefined }, keys: string) =>
  [...keys].filter((key) => cache.get(key) !== undefined).join('')
const cacheOf = (maxWeight: number) => createWeightedCache<string>(maxWeight, (text) => text.length)

test('a cache keeps values up to its weight, and drops those used least recently', () => {
  const cache = cacheOf(10)
  for (const key of 'abcde') cache.set(key, `${key}${key}`)
  expect(keysIn(cache, 'abcde')).toBe('abcde')
  expect(cache.get('a')).toBe('aa')
  cache.set('f', 'fff')
  expect(keysIn(cache, 'abcdef')).toBe('adef')
})

test('a replaced value no longer weighs', () => {
  const cache = cacheOf(10)
  cache.set('a', 'x'.repeat(9))
  cache.set('a', 'yy')
  cache.set('b', 'x'.repeat(8))
  expect([cache.get('a'), keysIn(cache, 'ab')]).toEqual(['yy', 'ab'])
  cache.set('c', 'x')
  expect(keysIn(cache, 'abc')).toBe('bc')
})

test('a value above the weight is not kept, and displaces all others', () => {
  const cache = cacheOf(10)
  cache.set('a', 'x')
  cache.set('b', 'x'.repeat(11))
  expect(keysIn(cache, 'ab')).toBe('')
  cache.set('c', 'x'.repeat(10))
  expect(keysIn(cache, 'c')).toBe('c')
})
