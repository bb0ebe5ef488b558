/** Number of request slots per endpoint, so that slow endpoints do not delay others. */
export interface Shares {
  /** Allowed concurrent requests of this endpoint; at least 1. */
  limitOf(endpointId: string): number
  /** True if its latest request was answered quickly. */
  isQuick(endpointId: string): boolean
  /** Records the result of the endpoint's latest request. */
  learn(endpointId: string, seen: 'quick' | 'slow'): void
  /** Deletes what is known about an endpoint, after it was paused or removed. */
  forget(endpointId: string): void
}

/** Total and limit per endpoint → EndpointConcurrency. An endpoint whose latest response was quick may use
 *  `perEndpoint`. All slow ones together share half of the slots, at most `perEndpoint` each. An unknown endpoint
 *  starts with two: after a restart, fifty unresponsive endpoints take a hundred of two hundred slots, and the
 *  others continue. With more than `total / 2` slow ones each still gets one slot, so that half is exceeded. Keeps
 *  10,000 endpoints; the least recently used one becomes unknown again. */
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
