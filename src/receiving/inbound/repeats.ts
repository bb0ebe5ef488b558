import { FIXED_LIMITS } from '../../model/limits.ts'
import { setNewest } from '../../os/set-newest.ts'

/** Counts forwards per route, domain and Message-ID. This is the only way to detect a loop through a mailing list that removes
 *  our loop header and all Received fields. One mail to many addresses of a route is not a loop. */
export interface Repeats {
  /** Counts one; false when the hour's limit is exceeded. */
  take(partId: string, messageId: string, now: number): boolean
}

const HOUR_MS = 3_600_000
/** Entries kept; the oldest are removed first. */
const MAX = 10_000

export function createRepeats(): Repeats {
  const seen = new Map<string, { since: number; count: number }>()
  return {
    take: (partId, messageId, now) => {
      if (messageId === '') return true
      const key = `${partId} ${messageId.slice(0, 500)}`
      const known = seen.get(key)
      const isRecent = known !== undefined && now - known.since < HOUR_MS && now >= known.since
      const entry = isRecent ? known : { since: now, count: 0 }
      entry.count++
      setNewest(seen, key, entry, MAX)
      return entry.count <= FIXED_LIMITS.forwardsOfMessageId
    },
  }
}
