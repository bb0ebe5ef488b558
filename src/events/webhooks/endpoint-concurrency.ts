/** Number of request slots per endpoint, so that slow endpoints do not delay others. */
export interface EndpointConcurrency {
  /** Allowed concurrent requests of this endpoint; at least 1. */
  limitOf(endpointId: string): number
  /** True if its latest request was answered quickly. */
  isQuick(endpointId: string): boolean
  /** Records the result of the endpoint's latest request. */
  record(endpointId: string, seen: 'quick' | 'slow'): void
  /** Deletes what is known about an endpoint, after it was paused or removed. */
  reset(endpointId: string): void
}

/** Creates EndpointConcurrency from the limits in total and of an endpoint. One whose latest response was quick may use
 *  `perEndpoint`. All slow ones together share half of the slots, at most `perEndpoint` each. An unknown endpoint
 *  starts with two: after a restart, fifty unresponsive endpoints take a hundred of two hundred slots, and the
 *  others continue. With more than `total / 2` slow ones each still gets one slot, so that half is exceeded. Keeps
 *  10,000 endpoints; the least recently used one becomes unknown again. */
export function createEndpointConcurrency(options: {
  total: number
  perEndpoint: (endpointId: string) => number
}): EndpointConcurrency {
  const { total, perEndpoint } = options
  const known = new Map<string, 'quick' | 'slow'>()
  let slow = 0

  const reset = (endpointId: string) => {
    if (known.get(endpointId) === 'slow') slow--
    known.delete(endpointId)
  }

  return {
    limitOf: (endpointId) => {
      const seen = known.get(endpointId)
      const most = Math.max(1, perEndpoint(endpointId))
      if (seen === 'quick') return most
      const wanted = seen === 'slow' ? Math.floor(total / 2 / slow) : UNKNOWN_LIMIT
      return Math.min(most, Math.max(1, wanted))
    },
    isQuick: (endpointId) => known.get(endpointId) === 'quick',
    record: (endpointId, seen) => {
      reset(endpointId)
      known.set(endpointId, seen)
      if (seen === 'slow') slow++
      if (known.size > MAX_ENDPOINTS) reset(known.keys().next().value!)
    },
    reset,
  }
}

const UNKNOWN_LIMIT = 2
const MAX_ENDPOINTS = 10_000
