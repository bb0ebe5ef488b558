import { expect, test } from 'bun:test'
import { createGate } from './gate.ts'

test('who finds no place waits in the order of coming, and other keys do not wait for them', async () => {
  const gate = createGate(2)
  const entered: string[] = []
  const enter = async (name: string, key: string) => {
    await gate.enter(key)
    entered.push(name)
  }
  const all = ['a', 'b', 'c', 'd'].map((name) => enter(name, 'slow'))
  await enter('e', 'fast')
  expect(entered).toEqual(['a', 'b', 'e'])
  gate.leave('slow')
  await all[2]
  expect(entered).toEqual(['a', 'b', 'e', 'c'])
  gate.leave('slow')
  await Promise.all(all)
  expect(entered.at(-1)).toBe('d')
})

test('a place given back without anybody waiting is free again', () => {
  const gate = createGate(1)
  for (let i = 0; i < 3; i++) {
    expect(gate.enter('k')).toBeUndefined()
    gate.leave('k')
  }
})
