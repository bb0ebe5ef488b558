import { expect, test } from 'bun:test'
import { createTurnLimiter } from './turn-limiter.ts'

test('work that arrives in a long turn waits for a later one, in request order', async () => {
  let now = 0
  const begun: string[] = []
  const turns = createTurnLimiter(() => now)
  const enter = (name: string, ms: number) =>
    turns.enter(() => {
      begun.push(name)
      now += ms
      return name
    })
  expect([enter('a', 3), enter('b', 3)]).toEqual(['a', 'b']) // at once
  const waiting = [enter('c', 6), enter('d', 1), enter('e', 1)]
  expect(begun).toEqual(['a', 'b'])
  setImmediate(() => begun.push('turn'))
  expect(await Promise.all(waiting)).toEqual(['c', 'd', 'e'])
  expect(begun.filter((name) => name !== 'turn')).toEqual(['a', 'b', 'c', 'd', 'e'])
  expect(begun.indexOf('turn')).toBeLessThan(begun.indexOf('d'))
})

test('a job that throws rejects, and the next one runs', async () => {
  let now = 0
  const turns = createTurnLimiter(() => now)
  turns.enter(() => {
    now += 10
  })
  const failed = Promise.resolve(
    turns.enter(() => {
      throw new Error('bad')
    }),
  )
  const next = turns.enter(() => 'next')
  expect(failed).rejects.toThrow('bad')
  expect(await next).toBe('next')
})
