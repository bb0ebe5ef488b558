import type { Nodes } from '../store.ts'

/** A data directory has one server, and nobody can take over from it. */
export const SQLITE_NODES: Nodes = {
  list: async () => [],
  drain: async () => 'unknown',
  forget: async () => 'unknown',
  database: async () => null,
  oldestTransactionMs: async () => null,
  feedBehindMs: () => null,
  leave: async () => {},
  placementChanged: async () => {},
  whyNotReady: () => null,
}
