import { Refusal } from '../../model/refusal.ts'
import { isComplete } from '../../sending/submission/remote-attachments.ts'
import type { GivenRequest } from '../../sending/submission/request.ts'
import type { Call } from './operation.ts'
import { SMALL_BYTES } from './receive-body.ts'
import { createWaiting, type WaitingLimits } from './waiting.ts'

/** Runs `work` on the requests of a call. If attachments have to be downloaded, the call counts as waiting meanwhile: its
 *  turn ends, and it rejects with `unavailable` if too many wait. Settles as `work` does. */
export type WhileDownloading = <T>(
  call: Call,
  requests: readonly (GivenRequest | Refusal)[],
  work: () => Promise<T>,
) => Promise<T>

/** Creates WhileDownloading from its limits. A download takes up to 10 s, while the body stays in memory. */
export function createDownloading(limits: WaitingLimits = LIMITS): WhileDownloading {
  const waiting = createWaiting(limits)
  const whileWaiting = async <T>(call: Call, work: () => Promise<T>): Promise<T> => {
    const { key, organizationId, bodyBytes = 0 } = call
    // A larger body has reserved its memory.
    const sizeBytes = bodyBytes > SMALL_BYTES ? 0 : bodyBytes
    const end = waiting.begin({ keyId: key.id, organizationId }, sizeBytes)
    if (end === null) {
      throw new Refusal('unavailable', 'Too many requests wait for downloads. Try again in a few seconds.', {
        retryAfterSeconds: 5,
      })
    }
    call.endTurn?.()
    try {
      return await work()
    } finally {
      end()
    }
  }
  return (call, requests, work) =>
    requests.every((request) => request instanceof Refusal || isComplete(request)) ? work() : whileWaiting(call, work)
}

/** A request occupies five times its body (measured with 240 kB, Bun 1.4.5). The numbers are those of the queue of
 *  downloads (sending/submission/remote-files.ts): with one file each, so many of an organization can wait. */
const LIMITS: WaitingLimits = {
  perKey: 400,
  perOrganization: 400,
  inAll: 2_000,
  organizationBytes: 8 * 2 ** 20,
  allBytes: 32 * 2 ** 20,
}
