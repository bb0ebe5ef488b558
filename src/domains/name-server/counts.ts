import { stackOf } from '../../os/thrown.ts'
import { TYPE_ANY, TYPES } from './constants.ts'
import type { QueryCounter } from './serve.ts'

/** Numbers since the last message. */
export interface Counts {
  /** By type, response code and transport, joined by spaces: `TXT NOERROR udp`. Few, whatever clients ask for. */
  queries: Record<string, number>
  /** Over UDP above the rate limit: answered truncated, and dropped. */
  slipped: number
  dropped: number
  /** Answers that failed with an internal error, and the last one of these. */
  failed: number
  lastError: string | null
}

const NAMES = new Map<number, string>([
  ...Object.entries(TYPES).map(([name, type]) => [type, name] as const),
  [TYPE_ANY, 'ANY'],
])

export const noCounts = (): Counts => ({ queries: {}, slipped: 0, dropped: 0, failed: 0, lastError: null })

export function createCounts(): QueryCounter & {
  /** The numbers, which start again at zero; null if all are. */
  take(): Counts | null
} {
  let counts = noCounts()
  let isEmpty = true
  return {
    answered: ({ type, rcode }, transport) => {
      const key = `${NAMES.get(type) ?? 'other'} ${rcode} ${transport}`
      counts.queries[key] = (counts.queries[key] ?? 0) + 1
      isEmpty = false
    },
    limited: (permission) => {
      if (permission === 'slip') counts.slipped++
      else counts.dropped++
      isEmpty = false
    },
    failed: (error) => {
      counts.failed++
      counts.lastError = stackOf(error)
      isEmpty = false
    },
    take: () => {
      if (isEmpty) return null
      const taken = counts
      counts = noCounts()
      isEmpty = true
      return taken
    },
  }
}
