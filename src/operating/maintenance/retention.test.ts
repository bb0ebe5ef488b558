import { expect, test } from 'bun:test'
import { createFakeClock } from '../../../test/support/fake-clock.ts'
import { INSTALLATION } from '../../model/organization.ts'
import { silentLog } from '../../os/log.ts'
import type { Store } from '../../storage/store.ts'
import { createMaintenance } from './loop.ts'
import { createRetention } from './retention.ts'

const START = Date.UTC(2026, 10, 21)
const DAY = 86_400_000
const MINUTE = 60_000

/** A store in which each organization has `steps` of work in a pass; a record takes `recordMs`, a commit `commitMs`. */
function open({ steps = 1, recordMs = 0, commitMs = 0 } = {}) {
  const clock = createFakeClock(START)
  let now = START
  const organizations = [
    { id: 'org_a', name: 'A', plan: 'week', createdAt: START },
    { id: 'org_b', name: 'B', plan: 'ever', createdAt: START },
    { id: 'org_c', name: 'C', plan: 'gone', createdAt: START },
    { id: 'org_d', name: 'D', plan: 'month', createdAt: START },
  ]
  const calls: string[] = []
  const records: number[] = []
  const left = new Map<string, number>()
  const state = { isBusy: false, fails: false }
  const work = (timeIsUp: () => boolean) => {
    for (let count = 0; ; count++) {
      if (timeIsUp() && count > 0) {
        now += commitMs
        return records.push(count)
      }
      now += recordMs
      if (recordMs === 0) return
    }
  }
  const retention: Store['retention'] = {
    remove: async ({ organizationId, before, unsubscribableSince, timeIsUp }) => {
      if (state.fails) throw new Error('no')
      work(timeIsUp)
      const todo = (left.get(organizationId) ?? steps) - 1
      left.set(organizationId, todo === 0 ? steps : todo)
      calls.push(`${organizationId} ${(clock.now() - before) / DAY} ${(clock.now() - unsubscribableSince) / DAY}`)
      return todo > 0
    },
    pruneUnsubscribables: async (before) => {
      calls.push(`prune ${(clock.now() - before) / DAY}`)
      return 0
    },
  }
  const maintain: Store['maintain'] = async (what) => {
    calls.push(`maintain ${what}`)
    return false
  }
  const days: Record<string, number> = { week: 7, month: 30, ever: -1 }
  const task = createRetention({
    store: {
      maintain,
      retention,
      organizations: { list: async () => organizations } as unknown as Store['organizations'],
    },
    plans: (name) => (name in days ? { retentionDays: days[name]! } : undefined),
    isBusy: () => state.isBusy,
    clock: recordMs === 0 ? clock : { now: () => now },
  })
  // The first pass comes a minute after the start; here it follows the interval of all.
  const loop = createMaintenance({
    leads: () => true,
    clock,
    log: silentLog,
    tasks: [{ ...task, firstMs: task.everyMs }],
  })
  return { clock, organizations, calls, records, state, task, loop }
}

test('a pass removes what plans no longer keep, and then returns the disk space', async () => {
  const { clock, calls, loop } = open({ steps: 2 })
  loop.start()
  await clock.advance(10 * MINUTE)
  await loop.stop()
  const ofUsers = `${INSTALLATION} 7 60`
  const steps = ['org_a 7 60', 'org_a 7 60', 'org_d 30 60', 'org_d 30 60', ofUsers, ofUsers]
  expect(calls).toEqual([...steps, 'prune 60', 'maintain removed'])
})

test('an organization without a retention limit, or whose plan is not configured, loses nothing', async () => {
  const { clock, calls, loop } = open()
  loop.start()
  await clock.advance(30 * MINUTE)
  await loop.stop()
  expect(calls.filter((each) => /org_[bc]/.test(each))).toEqual([])
  expect(calls.filter((each) => each === 'maintain removed')).toHaveLength(3)
})

test('a changed plan applies from the next pass', async () => {
  const { clock, organizations, calls, loop } = open()
  loop.start()
  await clock.advance(10 * MINUTE)
  organizations[0]!.plan = 'month'
  organizations[1]!.plan = 'week'
  calls.length = 0
  await clock.advance(10 * MINUTE)
  await loop.stop()
  expect(calls.slice(0, 3)).toEqual(['org_a 30 60', 'org_b 7 60', 'org_d 30 60'])
})

test('pauses after each step while the server is busy, and leaves the files alone', async () => {
  const { clock, calls, state, loop } = open({ steps: 3 })
  state.isBusy = true
  loop.start()
  await clock.advance(10 * MINUTE)
  expect(calls).toHaveLength(1)
  await clock.advance(99)
  expect(calls).toHaveLength(2)
  await clock.advance(1000)
  await loop.stop()
  expect(calls.slice(9)).toEqual(['prune 60'])
})

test('a failed pass continues where it stopped', async () => {
  const { clock, calls, state, loop } = open({ steps: 2 })
  state.isBusy = true
  loop.start()
  await clock.advance(10 * MINUTE)
  state.fails = true
  await clock.advance(MINUTE)
  state.fails = false
  await clock.advance(10 * MINUTE)
  await loop.stop()
  const steps = ['org_a', 'org_a', 'org_d', 'org_d', INSTALLATION, INSTALLATION]
  expect(calls.map((each) => each.split(' ')[0])).toEqual([...steps, 'prune'])
})

test('a step has three milliseconds, and less after one with a long commit', async () => {
  const quick = open({ steps: 3, recordMs: 1 })
  for (let step = 0; step < 3; step++) await quick.task.run(START)
  expect(quick.records).toEqual([3, 3, 3])
  const slow = open({ steps: 6, recordMs: 1, commitMs: 6 })
  for (let step = 0; step < 5; step++) await slow.task.run(START)
  expect(slow.records).toEqual([3, 2, 1, 1, 1])
})

test('the first pass comes a minute after the start, so a server that restarts often also removes records', () => {
  expect(open({ steps: 1 }).task).toMatchObject({ firstMs: MINUTE, everyMs: 10 * MINUTE })
})
