import type { TlsCount, TlsSession } from '../../model/tls-session.ts'
import type { Clock } from '../../os/clock.ts'
import type { Store } from '../../storage/store.ts'

/** Counts TLS sessions by domain and UTC day and writes the sums to the store at intervals: a crash loses at most a
 *  minute of counts. */
export interface TlsCounters {
  count(domain: string, session: TlsSession): void
  /** Writes the counts since the last flush; those the store does not accept are written next time. */
  flush(): Promise<void>
}

/** Creates TlsCounters from the store. Successes are counted by policy only; failures also by host and address, with at
 *  most 20,000 kinds between two flushes. */
export function createTlsCounters(deps: { store: Pick<Store, 'tlsSessions'>; clock: Clock }): TlsCounters {
  let counts = new Map<string, TlsCount>()

  const add = (counted: TlsCount) => {
    const key = JSON.stringify({ ...counted, sessions: 0 })
    const known = counts.get(key)
    if (known !== undefined) known.sessions += counted.sessions
    else if (counts.size < MAX_KINDS) counts.set(key, counted)
  }

  return {
    count: (domain, session) => {
      const day = Math.floor(deps.clock.now() / DAY_MS) * DAY_MS
      const { policy, failure } = session
      const kept = failure === null ? { policy, failure, host: null, address: null, source: null } : session
      add({ domain, day, ...kept, sessions: 1 })
    },
    flush: async () => {
      if (counts.size === 0) return
      const written = counts
      counts = new Map()
      try {
        await deps.store.tlsSessions.add([...written.values()])
      } catch (error) {
        for (const counted of written.values()) add(counted)
        throw error
      }
    },
  }
}

const DAY_MS = 86_400_000
const MAX_KINDS = 20_000
