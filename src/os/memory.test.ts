import { expect, test } from 'bun:test'
import { createFakeClock } from '../../test/support/fake-clock.ts'
import { createMemory, type Use } from './memory.ts'

const MB = 1_000_000

/** An account under 512 MB for mails of at most 25 MB; the test sets the resident memory. */
function accountOf512() {
  const clock = createFakeClock(0)
  let residentBytes = 140 * MB
  let collected = 0
  const memory = createMemory({
    limitBytes: 512 * MB,
    largestMailBytes: 25 * MB,
    clock,
    residentBytes: () => residentBytes,
    collect: () => collected++,
  })
  const inside: string[] = []
  const refused: string[] = []
  const leaves = new Map<string, () => void>()
  return {
    clock,
    memory,
    inside,
    refused,
    collected: () => collected,
    resident: (mb: number) => {
      residentBytes = mb * MB
    },
    ask: async (name: string, use: Use, mb: number, withinMs = 20_000) => {
      void memory.enter(use, mb * MB, withinMs).then((leave) => {
        if (leave === null) return refused.push(name)
        leaves.set(name, leave)
        inside.push(name)
      })
      await clock.advance(0)
    },
    leave: async (name: string) => {
      leaves.get(name)!()
      inside.splice(inside.indexOf(name), 1)
      await clock.advance(0)
    },
  }
}

// threat: memory-exhaustion
test('large work reserves memory by its cost, in request order', async () => {
  const { ask, leave, inside, memory } = accountOf512()
  await ask('a mail', 'mail', 25)
  await ask('a request', 'request', 40)
  await ask('a later one', 'request', 5)
  expect(inside).toEqual(['a mail'])
  expect(memory.reservedBytes()).toBe(225 * MB)
  await leave('a mail')
  expect(inside).toEqual(['a request', 'a later one'])
  await leave('a request')
  await leave('a later one')
  expect(memory.reservedBytes()).toBe(0)
  expect(memory.refusals()).toBe(0)
})

test('a received body goes before a mail that waits for memory of uploads', async () => {
  const { ask, leave, inside } = accountOf512()
  await ask('upload', 'upload', 24)
  await ask('another', 'upload', 24)
  await ask('a third', 'upload', 24) // over their share
  await ask('a mail', 'mail', 25)
  expect(inside).toEqual(['upload', 'another'])
  await ask('body', 'request', 24)
  expect(inside).toEqual(['upload', 'another', 'body'])
  await leave('body')
  await leave('upload')
  expect(inside).toEqual(['another', 'a third'])
  await leave('another')
  await leave('a third')
  expect(inside).toEqual(['a mail'])
})

test('outgoing data leaves memory for the largest mail', async () => {
  const { ask, inside, refused, clock, memory } = accountOf512()
  await ask('slow', 'delivery', 9)
  await ask('slow too', 'delivery', 9, 19_000)
  await ask('slow answer', 'answer', 12, 19_000)
  expect(inside).toEqual(['slow'])
  await ask('a mail', 'mail', 25)
  expect(inside).toEqual(['slow', 'a mail'])
  await clock.advance(19_000)
  expect(refused).toEqual(['slow too', 'slow answer'])
  expect(memory.refusals()).toBe(2)
})

test('after twenty seconds outgoing data counts as sent, and reserves less however long it takes', async () => {
  const { ask, leave, inside, clock, memory } = accountOf512()
  await ask('slow', 'delivery', 20)
  await ask('the next', 'answer', 10, 60_000)
  await clock.advance(19_000)
  expect([inside, memory.reservedBytes()]).toEqual([['slow'], 180 * MB])
  await clock.advance(1_000)
  expect([inside, memory.reservedBytes()]).toEqual([['slow'], 60 * MB]) // 70 more are over the share
  await leave('slow')
  expect([inside, memory.reservedBytes()]).toEqual([['the next'], 70 * MB])
  await clock.advance(20_000)
  expect(memory.reservedBytes()).toBe(15 * MB)
  await leave('the next')
  expect(memory.reservedBytes()).toBe(0)
  expect(clock.sleeps()).toEqual([])
})

test('smaller deliveries overtake a large one, except in the last minute of its wait', async () => {
  const { ask, leave, inside, clock } = accountOf512()
  await ask('slow', 'delivery', 2, 600_000)
  await ask('large', 'delivery', 25, 600_000)
  await ask('first', 'delivery', 5, 600_000)
  await clock.advance(30_000)
  await ask('second', 'delivery', 5, 600_000)
  expect(inside).toEqual(['slow', 'first'])
  await leave('first')
  await clock.advance(59_000)
  expect(inside).toEqual(['slow'])
  await clock.advance(1_000)
  expect(inside).toEqual(['slow', 'second'])
  await leave('second')
  await leave('slow')
  expect(inside).toEqual(['large'])
  await leave('large')
  expect(clock.sleeps()).toEqual([])
})

test('a delivery larger than its share runs alone; a mail that can never fit is refused at once', async () => {
  const { ask, leave, inside, refused, memory } = accountOf512()
  await ask('a small delivery', 'delivery', 1)
  await ask('a huge one', 'delivery', 100)
  expect(inside).toEqual(['a small delivery'])
  await leave('a small delivery')
  expect(inside).toEqual(['a huge one'])
  await leave('a huge one')
  expect(memory.mayHold('mail', 34 * MB)).toBe(true)
  expect(memory.mayHold('mail', 35 * MB)).toBe(false)
  await ask('a huge mail', 'mail', 35)
  await ask('a huge body', 'upload', 45) // 90 would fit, but not the 225 beside them
  expect(refused).toEqual(['a huge mail', 'a huge body'])
})

test('too much resident memory starts a garbage collection, and large work waits for it', async () => {
  const { ask, resident, inside, refused, collected, clock } = accountOf512()
  resident(310)
  await ask('a mail', 'mail', 25, 5_000)
  await clock.advance(500)
  expect([inside, collected()]).toEqual([[], 1]) // once a second at most
  resident(270)
  await clock.advance(100)
  expect(inside).toEqual(['a mail'])
  resident(500)
  await ask('one more', 'request', 1, 5_000)
  await clock.advance(5_100)
  expect(refused).toEqual(['one more'])
})

// threat: memory-exhaustion
test('no new work starts while nearly all memory is resident', async () => {
  const { memory, resident, clock, collected } = accountOf512()
  expect(memory.isShort()).toBe(false)
  resident(420)
  await clock.advance(100)
  expect(memory.isShort()).toBe(false)
  await new Promise(setImmediate)
  expect(collected()).toBe(1)
  resident(490)
  expect(memory.isShort()).toBe(false) // checked ten times a second
  await clock.advance(100)
  expect([memory.isShort(), memory.mayHold('mail', 1)]).toEqual([true, false])
  resident(400)
  await clock.advance(100)
  expect(memory.isShort()).toBe(false)
})
