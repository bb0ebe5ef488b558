import { expect, test } from 'bun:test'
import { createFakeClock } from '../../../test/support/fake-clock.ts'
import { silentLog } from '../../os/log.ts'
import { createMaintenance } from './loop.ts'

test('each task runs at its own interval, and a failed one stops no other', async () => {
  const clock = createFakeClock(0)
  const ran: string[] = []
  const loop = createMaintenance({
    clock,
    log: silentLog,
    leads: () => true,
    tasks: [
      {
        name: 'broken',
        of: 'installation',
        everyMs: 1_000,
        run: async (now) => {
          ran.push(`broken ${now}`)
          throw new Error('no')
        },
      },
      {
        name: 'sweep',
        of: 'node',
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
    leads: () => true,
    tasks: [{ name: 'sweep', of: 'node', everyMs: 1_000, run: async () => --left > 0 }],
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
    leads: () => true,
    tasks: [{ name: 'rare', of: 'node', everyMs: 5_000, firstMs: 1_000, run }],
  })
  loop.start()
  await clock.advance(12_000)
  await loop.stop()
  expect(ran).toEqual([1_000, 6_000, 11_000])
})

test('a node that does not lead runs its own tasks; those of the installation stay due until it leads', async () => {
  const clock = createFakeClock(0)
  const ran: string[] = []
  let leads = false
  const task = (name: string, of: 'node' | 'installation', everyMs: number) => ({
    ...{ name, of, everyMs },
    run: async (now: number) => {
      ran.push(`${name} ${now}`)
      return false
    },
  })
  const tasks = [
    task('flush', 'node', 1_000),
    task('prune', 'installation', 2_000),
    task('rare', 'installation', 60_000),
  ]
  const loop = createMaintenance({ clock, log: silentLog, leads: () => leads, tasks })
  loop.start()
  await clock.advance(3_500)
  leads = true
  await clock.advance(3_000)
  leads = false
  await clock.advance(2_500)
  await loop.stop()
  expect(ran.filter((each) => each.startsWith('flush'))).toHaveLength(9)
  expect(ran.filter((each) => !each.startsWith('flush'))).toEqual(['prune 4000', 'prune 6000'])
})
