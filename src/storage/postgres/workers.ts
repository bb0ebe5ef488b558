import type { Workers } from '../store.ts'
import type { Reads } from './reads.ts'

const OF_ENDED_NODES = `select distinct w.worker from workers w join nodes n on n.id = w.node_id
  where n.ended_at is not null`
// A node has one worker at a time.
const ENDED = `select distinct w.worker from workers w join nodes n on n.id = w.node_id
  where w.worker <> $1 and (n.ended_at is not null or n.id = $2)`

/** Workers of nodes that were ended, and earlier ones of this node. */
export function postgresWorkers(reads: Reads, nodeId: number): Workers & { endedNodes(): Promise<string[]> } {
  const read = async (text: string, values: readonly unknown[]) =>
    (await reads.query<{ worker: string }>(text, values)).map(({ worker }) => worker)
  return {
    ended: (self) => read(ENDED, [self, nodeId]),
    endedNodes: () => read(OF_ENDED_NODES, []),
  }
}
