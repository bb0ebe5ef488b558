import type { NodeShare, Nodes, Workers } from '../store.ts'
import type { Connection } from './driver.ts'

const ALONE: NodeShare = { nodes: 1, place: 0 }

/** A data directory has one server, and nobody can take over from it. */
export const SQLITE_NODES: Nodes = {
  list: async () => [],
  drain: async () => 'unknown',
  forget: async () => 'unknown',
  database: async () => null,
  oldestTransactionMs: async () => null,
  feedBehindMs: async () => null,
  share: () => ALONE,
  elsewhere: () => null,
  leave: async () => {},
  placementChanged: () => {},
  whyNotReady: () => null,
  digestsOf: () => ({}),
}

// Also of claims that are over and were not removed yet.
const HOLDERS = 'select worker from claims'

/** Workers of a data directory. Its lock (lock.ts) lets only one process serve at a time, so every other holder has ended. */
export function sqliteWorkers(db: Connection): Workers {
  const holders = db.prepare<unknown[], string>(HOLDERS).pluck()
  return { ended: async (self) => [...new Set(holders.all())].filter((worker) => worker !== self) }
}
