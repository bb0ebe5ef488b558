import { expect, test } from 'bun:test'
import { createShares } from './share.ts'

const shares = () => createShares({ total: 200, perEndpoint: 10 })

test('a new endpoint starts with two, a quick one has the full number, a lone slow one too', () => {
  const s = shares()
  expect(s.limitOf('a')).toBe(2)
  s.learn('a', 'quick')
  expect(s.limitOf('a')).toBe(10)
  s.learn('a', 'slow')
  expect(s.limitOf('a')).toBe(10)
})

test('slow endpoints share half of the slots, and get more again when others recover', () => {
  const s = shares()
  const ids = Array.from({ length: 50 }, (_, at) => `slow${at}`)
  for (const id of ids) s.learn(id, 'slow')
  expect(ids.map(s.limitOf)).toEqual(ids.map(() => 2))
  for (const id of ids.slice(20)) s.learn(id, 'quick')
  expect(s.limitOf('slow0')).toBe(5)
  for (const id of ids.slice(1, 20)) s.forget(id)
  expect(s.limitOf('slow0')).toBe(10)
})

test('every endpoint gets at least one', () => {
  const s = createShares({ total: 1, perEndpoint: 1 })
  s.learn('a', 'slow')
  s.learn('b', 'slow')
  expect(['a', 'b', 'c'].map(s.limitOf)).toEqual([1, 1, 1])
})

test('the same result reported twice counts once', () => {
  const s = shares()
  for (let i = 0; i < 100; i++) s.learn('a', 'slow')
  expect(s.limitOf('a')).toBe(10)
  s.forget('a')
  s.forget('a')
  s.learn('b', 'slow')
  expect(s.limitOf('b')).toBe(10)
})

test('beyond ten thousand endpoints the least recently seen one is new again', () => {
  const s = shares()
  for (let i = 0; i < 10_000; i++) s.learn(`w${i}`, 'quick')
  s.learn('w0', 'quick')
  s.learn('one more', 'quick')
  expect([s.limitOf('w0'), s.limitOf('w1'), s.limitOf('w2')]).toEqual([10, 2, 10])
})
