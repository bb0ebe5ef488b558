import type { Workers } from '../store.ts'
import type { Reads } from './reads.ts'

// A node has one worker at a time.
const ENDED = `select distinct w.worker from workers w join nodes n on n.id = w.node_id
  where w.worker <> $1 and (n.ended_at is not null or n.id = $2)`

/** Workers of nodes that were ended, and earlier ones of this node. */
export function postgresWorkers(reads: Reads, nodeId: number): Workers {
  return {
    ended: async (self) => (await reads.query<{ worker: string }>(ENDED, [self, nodeId])).map(({ worker }) => worker),
  }
}
