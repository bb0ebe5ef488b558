import { expect, test } from 'bun:test'
import { OrganizationTurns } from './organization-turns.ts'

function start() {
  const time = { now: 0 }
  const turns = new OrganizationTurns(() => time.now)
  const begun: string[] = []
  const ends = new Map<string, () => void>()
  /** Begins a request that ends with `end`. */
  const request = async (name: string, bodyBytes = 0) => {
    const turn = turns.enter(name[0]!, bodyBytes)
    const endTurn = turn === null ? () => {} : await turn
    begun.push(name)
    ends.set(name, endTurn)
  }
  const end = async (name: string) => {
    ends.get(name)!()
    await Bun.sleep(0)
  }
  return { time, turns, begun, request, end }
}

test('a single organization performs all its requests at once', () => {
  const { request, begun } = start()
  for (let n = 0; n < 50; n++) void request(`a${n}`)
  expect(begun).toHaveLength(50)
})

// threat: burst-of-requests
test('beside others three requests of an organization are performed at a time, in order', async () => {
  const { request, begun, end } = start()
  for (const name of ['b1', 'a1', 'a2', 'a3', 'a4', 'a5', 'b2']) void request(name)
  await Bun.sleep(0)
  expect(begun).toEqual(['b1', 'a1', 'a2', 'a3', 'b2'])
  await end('a3')
  expect(begun.slice(5)).toEqual(['a4'])
  await end('a1')
  expect(begun.slice(6)).toEqual(['a5'])
  for (const name of ['a2', 'a4', 'a5']) await end(name)
  void request('a6')
  await Bun.sleep(0)
  expect(begun.slice(7)).toEqual(['a6'])
})

test('small requests do not wait for large ones, which are performed one at a time', async () => {
  const { request, begun, end } = start()
  void request('b1')
  for (const name of ['a1', 'a2']) void request(name, 2 ** 16)
  for (const name of ['a3', 'a4']) void request(name, 2 ** 16 - 1)
  await Bun.sleep(0)
  expect(begun).toEqual(['b1', 'a1', 'a3', 'a4'])
  await end('a3')
  expect(begun).toHaveLength(4)
  await end('a1')
  expect(begun.slice(4)).toEqual(['a2'])
})

test('a request that ends its turn twice lets one other begin', async () => {
  const { request, begun, end } = start()
  for (const name of ['b1', 'a1', 'a2', 'a3', 'a4', 'a5']) void request(name)
  await Bun.sleep(0)
  await end('a1')
  await end('a1')
  expect(begun).toEqual(['b1', 'a1', 'a2', 'a3', 'a4'])
})

test('ten seconds after the last other organization, nothing waits any more', async () => {
  const { time, request, begun } = start()
  void request('b1')
  void request('a1')
  time.now = 9_999
  for (let n = 2; n < 9; n++) void request(`a${n}`)
  await Bun.sleep(0)
  expect(begun).toHaveLength(4)
  time.now = 10_000
  void request('a9')
  expect(begun.slice(4)).toEqual(['a9'])
})

test('at most two hundred requests of an organization wait; further ones are performed at once', async () => {
  const { request, begun } = start()
  void request('b1')
  for (let n = 0; n < 3 + 200; n++) void request(`a${n}`)
  await Bun.sleep(0)
  expect(begun).toHaveLength(4)
  void request('a-last')
  await Bun.sleep(0)
  expect(begun.slice(4)).toEqual(['a-last'])
})
