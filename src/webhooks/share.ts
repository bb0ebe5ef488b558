/** Who gets how many of the request slots, so that slow endpoints delay nobody else. */
export interface Shares {
  /** How many requests this endpoint may have under way at once; at least 1. */
  limitOf(endpointId: string): number
  /** Its latest request was answered quickly. */
  isQuick(endpointId: string): boolean
  /** What the endpoint's latest request showed. */
  learn(endpointId: string, seen: 'quick' | 'slow'): void
  /** Paused or removed: nothing known of it counts any longer. */
  forget(endpointId: string): void
}

/** ConcurrencyLimiter in all and per endpoint → Shares.
 *  An endpoint whose latest answer was quick may use `perEndpoint`. All slow ones together share half of the slots, at
 *  most `perEndpoint` each. One that has not been seen yet begins with two: after a restart fifty endpoints that hang
 *  take a hundred of two hundred slots, and the others go on. Past `total / 2` slow ones the half is overdrawn, one
 *  slot each. Remembers 10,000 endpoints; the one not heard of for longest is then a stranger again. */
export function createShares(options: { total: number; perEndpoint: number }): Shares {
  const { total, perEndpoint } = options
  const known = new Map<string, 'quick' | 'slow'>()
  let slow = 0

  const forget = (endpointId: string) => {
    if (known.get(endpointId) === 'slow') slow--
    known.delete(endpointId)
  }

  return {
    limitOf: (endpointId) => {
      const seen = known.get(endpointId)
      if (seen === 'quick') return perEndpoint
      const wanted = seen === 'slow' ? Math.floor(total / 2 / slow) : STRANGER
      return Math.min(perEndpoint, Math.max(1, wanted))
    },
    isQuick: (endpointId) => known.get(endpointId) === 'quick',
    learn: (endpointId, seen) => {
      forget(endpointId)
      known.set(endpointId, seen)
      if (seen === 'slow') slow++
      if (known.size > REMEMBERED) forget(known.keys().next().value!)
    },
    forget,
  }
}

const STRANGER = 2
const REMEMBERED = 10_000
