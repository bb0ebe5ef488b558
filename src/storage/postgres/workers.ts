import type { Workers } from '../store.ts'
import type { Reads } from './reads.ts'

const ENDED = `select distinct c.worker from claims c join lanes l on l.id = c.writer join nodes n on n.id = l.node_id
  where l.ended_at is not null`
// A node that started again has the notes of its earlier process about what was sent, and records them before it ends the
// leases. Others do that for it if it has not after the takeover time.
const IS_LEFT = "(not n.is_restarted or n.ended_at <= clock_timestamp() - $1::float8 * interval '1 millisecond')"
const OF_ENDED_NODES = `${ENDED} and ${IS_LEFT}`
// A node has one worker at a time. The store has another if the process opened it before.
const ENDED_FOR = `${ENDED} and c.worker <> $3 and (${IS_LEFT} or n.name = (select name from nodes where id = $2))
  union select distinct c.worker from claims c join lanes l on l.id = c.writer where l.node_id = $2 and c.worker <> $3`

/** Workers of nodes that were ended, and earlier ones of this node. */
export function postgresWorkers(
  reads: Reads,
  nodeId: number,
  takeoverMs: number,
): Workers & { endedNodes(): Promise<string[]> } {
  const read = async (text: string, values: readonly unknown[]) =>
    (await reads.query<{ worker: string }>(text, values)).map(({ worker }) => worker)
  return {
    ended: (self) => read(ENDED_FOR, [takeoverMs, nodeId, self]),
    endedNodes: () => read(OF_ENDED_NODES, [takeoverMs]),
  }
}
