import { expect, test } from 'bun:test'
import { createFakeClock } from '../../test/support/fake-clock.ts'
import { createLoop, stuckEngine } from './loop.ts'

test('reports how long the current turn has been running, and nothing between two turns', async () => {
  const turn = Promise.withResolvers<null>()
  const begun = Promise.withResolvers<void>()
  const loop = createLoop({
    clock: createFakeClock(0),
    idleMs: 1_000,
    tick: () => {
      begun.resolve()
      return turn.promise
    },
    onError: () => {},
  })
  expect(loop.turningMs()).toBe(0)
  loop.start()
  await begun.promise
  const asked = loop.turningMs()
  expect(asked).toBeGreaterThanOrEqual(0)
  while (loop.turningMs() <= asked) await new Promise((resolve) => setImmediate(resolve))
  turn.resolve(null)
  await new Promise((resolve) => setImmediate(resolve))
  expect(loop.turningMs()).toBe(0)
  await loop.stop()
})

test('an engine counts as stuck after a minute in one turn, and is named', () => {
  const engines = { delivery: { turningMs: () => 0 }, webhook: { turningMs: () => 59_000 } }
  expect(stuckEngine(engines)).toBeNull()
  expect(stuckEngine({ ...engines, inbound: { turningMs: () => 61_000 } })).toBe(
    'the inbound engine does not finish its turn',
  )
})
