/** Who gets how many of the request slots, so that slow endpoints delay nobody else. */
export interface Shares {
  /** How many requests this webhook may have under way at once; at least 1. */
  limitOf(webhookId: string): number
  /** What the webhook's latest request showed. */
  learn(webhookId: string, seen: 'quick' | 'slow'): void
  /** Paused or removed: nothing known of it counts any longer. */
  forget(webhookId: string): void
}

/** Slots in all and per webhook → Shares.
 *  A webhook whose latest answer was quick may use `perWebhook`. All slow ones together share half of the slots, at
 *  most `perWebhook` each. One that has not been seen yet begins with two: after a restart fifty endpoints that hang
 *  take a hundred of two hundred slots, and the others go on. Past `total / 2` slow ones the half is overdrawn, one
 *  slot each. Remembers 10,000 webhooks; the one not heard of for longest is then a stranger again. */
export function createShares(options: { total: number; perWebhook: number }): Shares {
  const { total, perWebhook } = options
  const known = new Map<string, 'quick' | 'slow'>()
  let slow = 0

  const forget = (webhookId: string) => {
    if (known.get(webhookId) === 'slow') slow--
    known.delete(webhookId)
  }

  return {
    limitOf: (webhookId) => {
      const seen = known.get(webhookId)
      if (seen === 'quick') return perWebhook
      const wanted = seen === 'slow' ? Math.floor(total / 2 / slow) : STRANGER
      return Math.min(perWebhook, Math.max(1, wanted))
    },
    learn: (webhookId, seen) => {
      forget(webhookId)
      known.set(webhookId, seen)
      if (seen === 'slow') slow++
      if (known.size > REMEMBERED) forget(known.keys().next().value!)
    },
    forget,
  }
}

const STRANGER = 2
const REMEMBERED = 10_000
