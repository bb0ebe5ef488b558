import { iso } from '../../../model/event.ts'
import type { NodeRecord } from '../../../storage/store.ts'

/** Node → its public form. */
export function nodeRecord(node: NodeRecord) {
  const { name, hostname, version, state, underWay, startedAt, seenAt, endedAt } = node
  return {
    name,
    hostname,
    version,
    state,
    in_progress: underWay,
    started_at: iso(startedAt),
    seen_at: iso(seenAt),
    ended_at: endedAt === null ? null : iso(endedAt),
  }
}
