import { expect, test } from 'bun:test'
import { createEndpointConcurrency } from './endpoint-concurrency.ts'

const concurrency = () => createEndpointConcurrency({ total: 200, perEndpoint: () => 10 })

test('a new endpoint starts with two, a quick one has the full number, a lone slow one too', () => {
  const s = concurrency()
  expect(s.limitOf('a')).toBe(2)
  s.record('a', 'quick')
  expect(s.limitOf('a')).toBe(10)
  s.record('a', 'slow')
  expect(s.limitOf('a')).toBe(10)
})

test('slow endpoints share half of the slots, and get more again when others recover', () => {
  const s = concurrency()
  const ids = Array.from({ length: 50 }, (_, at) => `slow${at}`)
  for (const id of ids) s.record(id, 'slow')
  expect(ids.map(s.limitOf)).toEqual(ids.map(() => 2))
  for (const id of ids.slice(20)) s.record(id, 'quick')
  expect(s.limitOf('slow0')).toBe(5)
  for (const id of ids.slice(1, 20)) s.reset(id)
  expect(s.limitOf('slow0')).toBe(10)
})

test('every endpoint gets at least one', () => {
  const s = createEndpointConcurrency({ total: 1, perEndpoint: () => 1 })
  s.record('a', 'slow')
  s.record('b', 'slow')
  expect(['a', 'b', 'c'].map(s.limitOf)).toEqual([1, 1, 1])
})

test('the same result reported twice counts once', () => {
  const s = concurrency()
  for (let i = 0; i < 100; i++) s.record('a', 'slow')
  expect(s.limitOf('a')).toBe(10)
  s.reset('a')
  s.reset('a')
  s.record('b', 'slow')
  expect(s.limitOf('b')).toBe(10)
})

test('beyond ten thousand endpoints the least recently seen one is new again', () => {
  const s = concurrency()
  for (let i = 0; i < 10_000; i++) s.record(`w${i}`, 'quick')
  s.record('w0', 'quick')
  s.record('one more', 'quick')
  expect([s.limitOf('w0'), s.limitOf('w1'), s.limitOf('w2')]).toEqual([10, 2, 10])
})
