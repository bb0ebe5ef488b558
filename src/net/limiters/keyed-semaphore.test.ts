import { expect, test } from 'bun:test'
import { createKeyedSemaphore } from './keyed-semaphore.ts'

test('waiters of a key are served in request order, and other keys do not wait for them', async () => {
  const semaphore = createKeyedSemaphore()
  const entered: string[] = []
  const enter = async (name: string, key: string) => {
    await semaphore.enter(key, 2)
    entered.push(name)
  }
  const all = ['a', 'b', 'c', 'd'].map((name) => enter(name, 'slow'))
  await enter('e', 'fast')
  expect(entered).toEqual(['a', 'b', 'e'])
  semaphore.leave('slow')
  await all[2]
  expect(entered).toEqual(['a', 'b', 'e', 'c'])
  semaphore.leave('slow')
  await Promise.all(all)
  expect(entered.at(-1)).toBe('d')
})

test('a lower limit admits nobody before enough have left, and a higher one admits waiters', async () => {
  const semaphore = createKeyedSemaphore()
  for (let i = 0; i < 3; i++) expect(semaphore.enter('k', 3)).toBeUndefined()
  let entered = 0
  const enter = (limit: number) => semaphore.enter('k', limit)?.then(() => entered++)
  const first = enter(1)
  semaphore.leave('k')
  semaphore.leave('k')
  await Promise.resolve()
  expect(entered).toBe(0)
  semaphore.leave('k')
  await first
  expect(entered).toBe(1)
  const [second, third] = [enter(1), enter(1)]
  expect(semaphore.enter('k', 4)).toBeUndefined()
  await Promise.all([second, third])
})

test('a slot released without waiters is free again', () => {
  const semaphore = createKeyedSemaphore()
  for (let i = 0; i < 3; i++) {
    expect(semaphore.enter('k', 1)).toBeUndefined()
    semaphore.leave('k')
  }
})
