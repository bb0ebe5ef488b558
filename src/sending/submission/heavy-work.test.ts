import { expect, test } from 'bun:test'
import { createHeavyWork } from './heavy-work.ts'

/** Work of 30 ms, on a clock that it advances itself. */
function open() {
  const clock = { time: 1_000 }
  const heavy = createHeavyWork({
    now: () => clock.time,
    sleep: async (ms) => {
      clock.time += ms
    },
  })
  let running = 0
  let most = 0
  const piece = async () => {
    most = Math.max(most, ++running)
    await Promise.resolve()
    clock.time += 30
    running--
  }
  const took = async (work: () => Promise<unknown>) => {
    const beganAt = clock.time
    await work()
    return clock.time - beganAt
  }
  return { clock, heavy, piece, took, most: () => most }
}

// threat: batch-holds-main-thread
test('paces the heavy work of one organization while others send', async () => {
  const { heavy, piece, took, most } = open()
  heavy.sends('org_b')
  heavy.sends('org_a')
  const pieces = () => Promise.all([1, 2, 3].map(() => heavy.run('org_a', piece)))
  expect(await took(pieces)).toBe(3 * 30 + 2 * 30)
  expect(most()).toBe(1)
})

test('runs everything at once for a single organization', async () => {
  const { heavy, piece, most, clock } = open()
  heavy.sends('org_b')
  heavy.sends('org_a')
  clock.time += 10_000
  await Promise.all([1, 2, 3].map(() => heavy.run('org_a', piece)))
  expect(most()).toBe(3)
})

test('a failed piece does not block the next ones', async () => {
  const { heavy, piece } = open()
  heavy.sends('org_b')
  const failing = heavy.run('org_a', () => Promise.reject(new Error('refused')))
  const next = heavy.run('org_a', piece)
  expect(await failing.catch(({ message }) => message)).toBe('refused')
  await next
})
