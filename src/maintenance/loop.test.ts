import { expect, test } from 'bun:test'
import { createFakeClock } from '../../test/support/fake-clock.ts'
import { silentLog } from '../os/log.ts'
import { createMaintenance } from './loop.ts'

test('each task runs at its own interval, and a failed one stops no other', async () => {
  const clock = createFakeClock(0)
  const ran: string[] = []
  const loop = createMaintenance({
    clock,
    log: silentLog,
    tasks: [
      {
        name: 'broken',
        everyMs: 1_000,
        run: async (now) => {
          ran.push(`broken ${now}`)
          throw new Error('no')
        },
      },
      {
        name: 'sweep',
        everyMs: 2_500,
        run: async (now) => {
          ran.push(`sweep ${now}`)
          return false
        },
      },
    ],
  })
  loop.start()
  await clock.advance(5_000)
  await loop.stop()
  expect(ran).toEqual([
    'broken 1000',
    'broken 2000',
    'sweep 2500',
    'broken 3000',
    'broken 4000',
    'broken 5000',
    'sweep 5000',
  ])
})

test('a task with more work runs again at once', async () => {
  const clock = createFakeClock(0)
  let left = 3
  const loop = createMaintenance({
    clock,
    log: silentLog,
    tasks: [{ name: 'sweep', everyMs: 1_000, run: async () => --left > 0 }],
  })
  loop.start()
  await clock.advance(1_000)
  await loop.stop()
  expect(left).toBe(0)
})

test('a task may run for the first time earlier than its interval', async () => {
  const clock = createFakeClock(0)
  const ran: number[] = []
  const run = async (now: number) => {
    ran.push(now)
    return false
  }
  const loop = createMaintenance({
    clock,
    log: silentLog,
    tasks: [{ name: 'rare', everyMs: 5_000, firstMs: 1_000, run }],
  })
  loop.start()
  await clock.advance(12_000)
  await loop.stop()
  expect(ran).toEqual([1_000, 6_000, 11_000])
})
