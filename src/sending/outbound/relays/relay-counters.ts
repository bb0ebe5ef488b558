import { cutText } from '../../../mail/cut-text.ts'
import type { Outcome } from '../../../model/delivery.ts'
import { monthOf } from '../../../model/limits.ts'
import type { RelayCount } from '../../../model/relay.ts'
import type { Clock } from '../../../os/clock.ts'
import type { Store } from '../../../storage/store.ts'

/** Counts attempts through relays by calendar month (UTC) and writes the sums to the store at intervals: a crash loses at
 *  most a minute of counts. */
export interface RelayCounters {
  count(relay: string, outcome: Outcome): void
  /** Writes the counts since the last flush; those the store does not accept are written next time. */
  flush(): Promise<void>
}

/** Store → RelayCounters. */
export function createRelayCounters(deps: { store: Pick<Store, 'relays'>; clock: Clock }): RelayCounters {
  let counts = new Map<string, RelayCount>()

  const add = (counted: RelayCount) => {
    const key = `${counted.month} ${counted.relay}`
    const { sent = 0, failed = 0, lastError = null } = counts.get(key) ?? {}
    const isLater = (counted.lastError?.at ?? 0) > (lastError?.at ?? 0)
    counts.set(key, {
      ...counted,
      sent: sent + counted.sent,
      failed: failed + counted.failed,
      lastError: isLater ? counted.lastError : lastError,
    })
  }
  return {
    count: (relay, outcome) => {
      const at = deps.clock.now()
      const isSent = outcome.kind === 'delivered'
      const lastError = isSent ? null : { at, message: cutText(outcome.message, ERROR_CHARACTERS) }
      add({ relay, month: monthOf(at), sent: Number(isSent), failed: Number(!isSent), lastError })
    },
    flush: async () => {
      if (counts.size === 0) return
      const written = counts
      counts = new Map()
      try {
        await deps.store.relays.count([...written.values()])
      } catch (error) {
        for (const counted of written.values()) add(counted)
        throw error
      }
    },
  }
}

const ERROR_CHARACTERS = 500
