import type { Outcome } from '../model/delivery.ts'

/** How many deliveries of a destination may be under way, by how it has behaved: one that takes mail gets enough to
 *  keep its connections fed, an unknown one a few, one in trouble a single one. All unknown ones together get half
 *  of the house and all in trouble a quarter, so that dead and slow destinations, however many, leave room. */
export interface Allowance {
  limitFor(destination: string): number
  started(destination: string): void
  ended(destination: string, outcome: Outcome): void
}

type Repute = 'proven' | 'unknown' | 'troubled'

interface Standing {
  repute: Repute
  running: number
}

/** Ahead of each connection: one mail on the wire, the next ones composed and signed meanwhile. */
const AHEAD = 4
const UNKNOWN_LIMIT = 10
/** Destinations remembered; the one quiet for longest is forgotten first and is then simply unknown again. */
const REMEMBERED = 50_000

export function createAllowance(options: { maxInFlight: number; maxPerDestination: number }): Allowance {
  const { maxInFlight, maxPerDestination } = options
  const each: Record<Repute, number> = {
    proven: maxPerDestination * AHEAD,
    unknown: Math.min(UNKNOWN_LIMIT, maxPerDestination * AHEAD),
    troubled: 1,
  }
  const together: Record<Repute, number> = {
    proven: maxInFlight,
    unknown: Math.ceil(maxInFlight / 2),
    troubled: Math.ceil(maxInFlight / 4),
  }
  const running: Record<Repute, number> = { proven: 0, unknown: 0, troubled: 0 }
  const standings = new Map<string, Standing>()

  return {
    limitFor: (destination) => {
      const { repute, running: own } = standings.get(destination) ?? { repute: 'unknown', running: 0 }
      return Math.min(each[repute], own + together[repute] - running[repute])
    },
    started: (destination) => {
      const standing = standings.get(destination) ?? { repute: 'unknown', running: 0 }
      standing.running++
      running[standing.repute]++
      standings.set(destination, standing)
    },
    ended: (destination, outcome) => {
      const standing = standings.get(destination)
      if (standing === undefined) return
      const repute = isTrouble(outcome) ? 'troubled' : 'proven'
      running[standing.repute] -= standing.running
      standing.running--
      standing.repute = repute
      running[repute] += standing.running
      standings.delete(destination)
      standings.set(destination, standing)
      if (standings.size > REMEMBERED) forgetOldestIdle(standings)
    },
  }
}

/** Nothing answered, or the host as a whole does not want us now; a refused recipient says nothing of the host. */
function isTrouble(outcome: Outcome): boolean {
  return (outcome.kind === 'deferred' && !outcome.aboutRecipient) || outcome.kind === 'unknown'
}

function forgetOldestIdle(standings: Map<string, Standing>): void {
  for (const [destination, standing] of standings) {
    if (standing.running > 0) continue
    standings.delete(destination)
    return
  }
}
