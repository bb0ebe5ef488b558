import type { Delivery } from '../../../model/delivery.ts'
import { setNewest } from '../../../os/set-newest.ts'
import type { Tried } from '../record.ts'
import type { Verdict } from '../schedule/verdict.ts'

/** What follows an attempt that can be repeated at once in another way: the destination blocks its address while another
 *  address of the pool does not rest there, or a relay takes over; or the password of a relay has changed. The blocked
 *  address rests, so each address is tried at most once until its rest ends, and then the reply decides as it does without
 *  other addresses. */
export interface FailOver {
  /** The attempt as it is recorded, and its verdict: deferred, even if the reply was final. `note` says in the transcript
   *  what follows; `now` is ms UTC. */
  retry(delivery: Delivery, tried: Tried, note: string, now: number): { tried: Tried; verdict: Verdict } | null
  /** Such attempts of the delivery: they do not count in the retry schedule. */
  countOf(delivery: Pick<Delivery, 'id'>): number
  /** The delivery has ended. */
  forget(delivery: Pick<Delivery, 'id'>): void
}

/** Deliveries whose attempts are remembered. One that is forgotten, as after a restart, waits somewhat longer. */
const REMEMBERED = 20_000

export function createFailOver(): FailOver {
  const counts = new Map<string, number>()
  return {
    retry: ({ id }, tried, words, now) => {
      const { outcome, attempt } = tried
      if (outcome.kind === 'delivered' || outcome.kind === 'unknown') return null
      setNewest(counts, id, (counts.get(id) ?? 0) + 1, REMEMBERED)
      const { code, message, cause } = outcome
      const reported = { kind: 'deferred', code, message, aboutRecipient: false, cause } as const
      const note = `${attempt.durationMs} -- ${words}`
      const transcript = attempt.transcript === '' ? note : `${attempt.transcript}\n${note}`
      return {
        tried: { ...tried, attempt: { ...attempt, outcome: 'deferred', transcript } },
        verdict: {
          status: 'deferred',
          nextAttemptAt: now,
          reported,
          bounceNow: false,
          suppresses: false,
          isExpired: false,
        },
      }
    },
    countOf: ({ id }) => (counts.size === 0 ? 0 : (counts.get(id) ?? 0)),
    forget: ({ id }) => void counts.delete(id),
  }
}
