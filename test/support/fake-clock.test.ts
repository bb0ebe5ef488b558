import { expect, test } from 'bun:test'
import { createFakeClock } from './fake-clock.ts'

test('sleeps end in the order they are due, each at its own time', async () => {
  const clock = createFakeClock(1000)
  const woken: string[] = []
  const sleeper = async (name: string, ms: number) => {
    await clock.sleep(ms)
    woken.push(`${name} ${clock.now()}`)
  }
  const sleeps = [sleeper('late', 30), sleeper('first', 10), sleeper('second', 10), sleeper('never', 41)]
  await clock.advance(40)
  expect(woken).toEqual(['first 1010', 'second 1010', 'late 1030'])
  expect(clock.now()).toBe(1040)
  expect(clock.sleeps()).toEqual([1041])
  await clock.advance(1)
  await Promise.all(sleeps)
  expect(clock.sleeps()).toEqual([])
})

test('a caller that sleeps again within one advance is woken again within it', async () => {
  const clock = createFakeClock(0)
  const times: number[] = []
  const ticking = (async () => {
    for (let i = 0; i < 5; i++) {
      await clock.sleep(7)
      times.push(clock.now())
    }
  })()
  await clock.advance(30)
  expect(times).toEqual([7, 14, 21, 28])
  await clock.advance(5)
  await ticking
  expect(times.at(-1)).toBe(35)
})

test('after a leap, a caller is woken once, late', async () => {
  const clock = createFakeClock(0)
  const times: number[] = []
  const tick = async (ms: number) => {
    for (;;) {
      await clock.sleep(ms)
      times.push(clock.now())
    }
  }
  void tick(7)
  void tick(10)
  void tick(31)
  await clock.leap(30)
  expect(times).toEqual([30, 30])
  expect(clock.sleeps()).toEqual([31, 37, 40])
})

test('an aborted sleep ends at once and leaves nothing behind', async () => {
  const clock = createFakeClock(0)
  const abort = new AbortController()
  const sleeper = clock.sleep(1000, abort.signal)
  expect(clock.sleeps()).toEqual([1000])
  abort.abort()
  await sleeper
  expect(clock.sleeps()).toEqual([])
  await clock.sleep(1000, abort.signal)
  expect(clock.now()).toBe(0)
})

test('a sleep of zero needs no advance', async () => {
  const clock = createFakeClock(0)
  await clock.sleep(0)
  await clock.sleep(-5)
  expect(clock.sleeps()).toEqual([])
})

test('a test can wait until a caller sleeps', async () => {
  const clock = createFakeClock(0)
  const both = clock.untilSleeping(2)
  void clock.sleep(10)
  void clock.sleep(20)
  await both
  await clock.untilSleeping()
  expect(clock.sleeps()).toEqual([10, 20])
  await clock.advance(20)
})

test('time does not go back', () => {
  expect(createFakeClock(0).advance(-1)).rejects.toThrow(RangeError)
  expect(createFakeClock(0).advance(Number.NaN)).rejects.toThrow(RangeError)
})

test('no time passes while a thread works', async () => {
  const happened: string[] = []
  const clock = createFakeClock(0, () => !happened.includes('answered'))
  const woken = clock.sleep(10).then(() => happened.push('woken'))
  setTimeout(() => happened.push('answered'), 20)
  await clock.advance(10)
  await woken
  expect(happened).toEqual(['answered', 'woken'])
})
