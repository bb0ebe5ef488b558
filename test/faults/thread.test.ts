import { afterAll, beforeAll, expect, test } from 'bun:test'
import { until } from '../support/patience.ts'
import { expectNothingLost, openStage, type Stage } from './journey.ts'

/** The delivery thread is killed at the n-th line of its dialogue, n = 1, 2, 3 … until a round passes without a
 *  kill. */

let stage: Stage
beforeAll(async () => {
  stage = await openStage()
})
afterAll(() => stage.close())

/** The second: it was killed in the same turn in which it signed the mail. */
const LOST = new Set(['worker-lost', 'prepare-crash'])

test('a thread killed at any point loses no mail and is replaced', async () => {
  for (let n = 1, isHit = true; isHit; n++) {
    let left = n
    isHit = false
    let where = ''
    stage.onCue = (cue) => {
      if (--left !== 0) return
      isHit = true
      where = cue
      stage.server.threads()[0]!.terminate()
    }
    const played = await stage.play()
    try {
      expectNothingLost(played)
      // Only the mail in transmission may arrive twice: its 250 had not reached the main thread, or was not sent.
      const extra = played.copies.ann.length + played.copies.busy.length - 2
      expect(extra).toBeLessThanOrEqual(isHit ? 1 : 0)
      const isLost = played.attempts.some(({ attempt }) => LOST.has(attempt.cause?.rule ?? ''))
      expect(isLost).toBe(isHit)
      const again = played.attempts.filter(({ attempt }) => /deferred|unknown/.test(attempt.outcome))
      expect(played.published.filter((each) => each.startsWith('deferred'))).toHaveLength(again.length)
      expect(stage.server.threads()).toHaveLength(1)
    } catch (error) {
      throw new Error(`cue ${n}, ${where}: ${(error as Error).message}`, { cause: error })
    }
    expect(n).toBeLessThan(100)
  }
})

const COMPOSING = 'sending/outbound/composing/worker.ts'

test('a kill during a raw view does not affect the next request', async () => {
  stage.onCue = () => {}
  const { deliveries } = await stage.play()
  const path = `/v1/messages/${deliveries[0]!.messageId}/content?part=raw`
  const asking = stage.server.ask('GET', path)
  await until('the thread to start', () => stage.server.threads(COMPOSING).length > 0)
  stage.server.threads(COMPOSING)[0]!.terminate()
  // Retried once by another thread.
  expect((await asking).status).toBe(200)
  await stage.server.clock.advance(60_000)
  expect((await stage.server.ask('GET', path)).status).toBe(200)
})
