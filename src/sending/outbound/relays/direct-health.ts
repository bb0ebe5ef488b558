import type { Outcome } from '../../../model/delivery.ts'
import { setNewest } from '../../../os/set-newest.ts'
import { isOurDemand, isTrouble } from '../schedule/reputation.ts'

/** Whether mail can be sent directly, by the results of direct attempts. In memory only: after a restart it is found out
 *  again. Times are of the steady clock, ms. */
export interface DirectHealth {
  /** Why mail to the domain should not be sent directly now: port 25 is blocked, or its attempts have failed for `afterMs`
   *  without a success in between. Null: nothing is known against it, or an attempt is due that tries. `takesTry`: the
   *  attempt is planned; the next one is due TRY_MS later. */
  troubleOf(domain: string, afterMs: number, takesTry: boolean): 'port_25_blocked' | 'direct_failing' | null
  /** Learns from a direct attempt. `reached`: there was a host to connect to. */
  ended(
    of: { domain: string; destination: string },
    attempt: { outcome: Outcome; reached: boolean; startedAt: number },
  ): void
}

/** Interval of direct attempts while mail uses the relay. */
const TRY_MS = 15 * 60_000
/** A single failure proves little. */
const FAILURES = 2
/** Destinations that do not accept connections before port 25 is suspected. A tenant can add such destinations, so a
 *  connection elsewhere must confirm it. */
const SUSPICIOUS = 3
const SUSPECT_AGAIN_MS = 10 * 60_000
/** Maximum of domains; the one that failed longest ago is dropped first. */
const REMEMBERED = 20_000

interface Failing {
  since: number
  endedAt: number
  failures: number
  /** When the next direct attempt is due; null: mail is sent directly. */
  tryAt: number | null
}

/** `isPort25Blocked` connects to mail servers that certainly accept connections; false if it cannot say. */
export function createDirectHealth(now: () => number, isPort25Blocked: () => Promise<boolean>): DirectHealth {
  const failing = new Map<string, Failing>()
  const unreached = new Set<string>()
  let blockedTryAt: number | null = null
  let suspectedAt = Number.NEGATIVE_INFINITY

  const suspect = async () => {
    suspectedAt = now()
    const isBlocked = await isPort25Blocked().catch(() => false)
    // A connection that succeeded meanwhile cleared the suspicion.
    if (isBlocked && unreached.size >= SUSPICIOUS) blockedTryAt = now() + TRY_MS
  }
  const learnReach = (destination: string, outcome: Outcome, reached: boolean) => {
    if (isUnreached(outcome)) {
      if (unreached.size < SUSPICIOUS) unreached.add(destination)
      const isDue = now() - suspectedAt >= SUSPECT_AGAIN_MS
      if (unreached.size >= SUSPICIOUS && blockedTryAt === null && isDue) void suspect()
    } else if (reached) {
      unreached.clear()
      blockedTryAt = null
    }
  }
  return {
    troubleOf: (domain, afterMs, takesTry) => {
      const at = now()
      if (blockedTryAt !== null) {
        if (at < blockedTryAt) return 'port_25_blocked'
        if (takesTry) blockedTryAt = at + TRY_MS
        return null
      }
      const known = failing.get(domain)
      if (known === undefined || known.failures < FAILURES || at - known.since < afterMs) return null
      known.tryAt ??= at + TRY_MS
      if (at < known.tryAt) return 'direct_failing'
      if (takesTry) known.tryAt = at + TRY_MS
      return null
    },
    ended: ({ domain, destination }, { outcome, reached, startedAt }) => {
      learnReach(destination, outcome, reached)
      if (isOurDemand(outcome)) return
      if (!isTrouble(outcome)) {
        if (reached) failing.delete(domain)
        return
      }
      const known = failing.get(domain) ?? { since: startedAt, endedAt: startedAt, failures: 0, tryAt: null }
      // Attempts that were in progress at the same time count as one.
      if (startedAt < known.endedAt) return
      setNewest(failing, domain, { ...known, failures: known.failures + 1, endedAt: now() }, REMEMBERED)
    },
  }
}

/** No host accepted the connection. */
function isUnreached(outcome: Outcome): boolean {
  return outcome.kind === 'deferred' && /^(network|timeout):connect$/.test(outcome.cause.rule)
}
