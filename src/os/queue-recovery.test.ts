import { expect, test } from 'bun:test'
import { createFakeClock } from '../../test/support/fake-clock.ts'
import { watchClockChanges } from './clock-changes.ts'
import { createQueueRecovery } from './queue-recovery.ts'

const MINUTE = 60_000

function open() {
  const clock = createFakeClock(0)
  const calls: string[] = []
  const state = { slices: 1, fails: false }
  const recovery = createQueueRecovery({
    queue: {
      endLeases: async (worker, underWay) => {
        if (state.fails) throw new Error('busy')
        calls.push(`leases of ${worker} but ${[...underWay].join()}`)
        return 0
      },
      endFutureWaits: async () => {
        calls.push('waits')
        return --state.slices > 0
      },
    },
    clock,
    clockChanges: watchClockChanges(clock),
    workerId: 'w1',
    underWay: () => ['a', 'b'],
    onClockSet: (byMs) => calls.push(`set by ${byMs}`),
  })
  return { clock, state, calls, recovery }
}

test('waits from the future end at the start, slice by slice, and then no more', async () => {
  const { state, calls, recovery } = open()
  state.slices = 3
  expect([await recovery.turn(), await recovery.turn(), await recovery.turn(), await recovery.turn()]).toEqual([
    true,
    true,
    false,
    false,
  ])
  expect(calls).toEqual(['waits', 'waits', 'waits'])
})

test('they end again after the clock was set back, and not after it was set forward', async () => {
  const { clock, calls, recovery } = open()
  await recovery.turn()
  clock.jump(MINUTE)
  await recovery.turn()
  clock.jump(-MINUTE)
  await recovery.turn()
  expect(calls).toEqual(['waits', `set by ${MINUTE}`, `set by ${-MINUTE}`, 'waits'])
})

test('lost claims are looked for once a minute, and again at the next turn when the store failed', async () => {
  const { clock, state, calls, recovery } = open()
  await recovery.turn()
  await clock.advance(MINUTE - 1)
  await recovery.turn()
  expect(calls).toEqual(['waits'])
  await clock.advance(1)
  state.fails = true
  await expect(recovery.turn()).rejects.toThrow('busy')
  state.fails = false
  await recovery.turn()
  await recovery.turn()
  expect(calls).toEqual(['waits', 'leases of w1 but a,b'])
})

test('the turn after a failed one looks for lost claims', async () => {
  const { calls, recovery } = open()
  await recovery.turn()
  recovery.turnFailed()
  await recovery.turn()
  await recovery.turn()
  expect(calls).toEqual(['waits', 'leases of w1 but a,b'])
})

test('if the clock is set back while waits are being ended, one more pass follows this one', async () => {
  const { clock, state, calls, recovery } = open()
  state.slices = 2
  await recovery.turn()
  clock.jump(-MINUTE)
  expect(await recovery.turn()).toBe(true)
  state.slices = 2
  expect([await recovery.turn(), await recovery.turn(), await recovery.turn()]).toEqual([true, false, false])
  expect(calls).toEqual(['waits', `set by ${-MINUTE}`, 'waits', 'waits', 'waits'])
})
