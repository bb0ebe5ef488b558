import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import type { ScriptedAnswer } from '../support/receiver.ts'
import { customerAccepts } from '../support/verify.ts'
import { expectNothingLost, openStage, PUBLISHED, type Stage } from './journey.ts'

/** The n-th post of a round fails, n = 1, 2, 3 … until a round passes without a failure. */

let stage: Stage
beforeAll(async () => {
  stage = await openStage({ timeoutSeconds: 5 })
})
afterAll(() => stage.close())

const FAULTS: Record<string, ScriptedAnswer> = {
  'is refused': 500,
  'is redirected': { status: 302, headers: { location: 'https://127.0.0.1:1/' } },
  'asks for a later retry': { status: 429, headers: { 'retry-after': '1' } },
  'is never answered': 'hang',
}

describe('whichever post', () => {
  for (const [what, answer] of Object.entries(FAULTS)) {
    test(`${what}, it is posted once more, and no other is`, async () => {
      const { receiver, webhook, clock } = stage.server
      for (let n = 1; n <= PUBLISHED.length + 1; n++) {
        const before = receiver.requests.length
        receiver.script(...Array<ScriptedAnswer>(n - 1).fill(200), answer, 200)
        const played = await stage.play()
        receiver.script(200)
        receiver.release(503)
        expectNothingLost(played)
        expect(played.published).toEqual(PUBLISHED)
        const requests = receiver.requests.slice(before)
        expect(requests).toHaveLength(n <= PUBLISHED.length ? PUBLISHED.length + 1 : PUBLISHED.length)
        const failed = requests[n - 1]
        const again = requests.findLast(({ headers }) => headers['webhook-id'] === failed?.headers['webhook-id'])
        if (failed === undefined || again === undefined) continue
        expect(again.body).toBe(failed.body)
        expect(again.headers['x-service-delivery-attempt']).toBe('2')
        expect(customerAccepts(again, webhook.secret, clock.now())).toBe(true)
      }
    })
  }
})
