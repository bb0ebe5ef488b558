import type { ApiKey } from '../../model/api-key.ts'
import type { Clock } from '../../os/clock.ts'
import { createWaiting } from './waiting.ts'

/** Delays 429 responses to a key that does not respect them. A client that repeats its request with each response could
 *  otherwise take a tenth of the main thread for refusals alone. */
export interface RefusalDelay {
  /** Resolves when the response may be sent: at once for the first 100 refusals of a window, then after half a second.
   *  Also at once if the request is too large, or too many others wait. Never rejects. */
  wait(caller: { key: Pick<ApiKey, 'id' | 'organizationId'>; refused: number; sizeBytes: number }): Promise<void>
}

/** Creates RefusalDelay from a clock that runs evenly. */
export function createRefusalDelay(clock: Clock): RefusalDelay {
  const waiting = createWaiting(LIMITS)
  return {
    wait: async ({ key, refused, sizeBytes }) => {
      if (refused <= FREE_REFUSALS) return
      const end = waiting.begin({ keyId: key.id, organizationId: key.organizationId }, sizeBytes)
      if (end === null) return
      await clock.sleep(DELAY_MS)
      end()
    },
  }
}

const FREE_REFUSALS = 100
const DELAY_MS = 500

/** Bodies stay in memory until the response is sent. */
const LIMITS = {
  perKey: 200,
  perOrganization: 400,
  inAll: 2_000,
  organizationBytes: 8 * 2 ** 20,
  allBytes: 16 * 2 ** 20,
}
