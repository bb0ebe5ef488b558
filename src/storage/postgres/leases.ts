import type { Leases } from '../store.ts'
import type { Queries } from './transactions.ts'

/** The lease of the node that leads. */
const LEADER = 'leader'
const LEASE_MS = 10_000
/** How often the leader extends its lease, and how often others try to take it. */
const EXTEND_MS = 2_000
const TRY_MS = 500

const IS_FREE = `(leases.node_id = $2 or leases.until <= clock_timestamp()
    or exists (select from nodes where nodes.id = leases.node_id and nodes.ended_at is not null))`
// The first condition spares a lock while another node has it.
const TAKE = `insert into leases (name, node_id, until)
  select $1::text, $2::int, clock_timestamp() + $3::float8 * interval '1 millisecond'
  where not exists (select from leases where name = $1 and not ${IS_FREE})
    and exists (select from nodes where id = $2 and ended_at is null)
  on conflict (name) do update set node_id = excluded.node_id, until = excluded.until where ${IS_FREE}
  returning node_id`
const RELEASE = 'delete from leases where name = $1 and node_id = $2'

/** The leases of a node, one of which makes it the leader. */
export interface NodeLeases extends Leases {
  /** Tries to lead from now on. */
  start(): void
  /** Leads no more. */
  close(): Promise<void>
}

/** `nowMs` is a steady clock. */
export function createLeases(queries: Queries, nodeId: number, nowMs: () => number): NodeLeases {
  let leadsUntil = Number.NEGATIVE_INFINITY
  let timer: ReturnType<typeof setTimeout> | undefined
  let trying: Promise<void> | null = null
  let isClosed = false

  const take: Leases['take'] = async (name, forMs) => (await queries.query(TAKE, [name, nodeId, forMs])).length > 0
  const release: Leases['release'] = async (name) => {
    await queries.query(RELEASE, [name, nodeId])
  }
  const leads = () => nowMs() < leadsUntil
  const lead = async () => {
    const sentAt = nowMs()
    const isTaken = await take(LEADER, LEASE_MS).catch(() => null)
    // Without an answer the lease lasts as long as it was.
    if (isTaken !== null) leadsUntil = isTaken ? sentAt + LEASE_MS : Number.NEGATIVE_INFINITY
  }
  const loop = () => {
    trying = lead().then(() => {
      if (!isClosed) timer = setTimeout(loop, leads() ? EXTEND_MS : TRY_MS)
    })
  }
  return {
    leads,
    take,
    release,
    start: loop,
    close: async () => {
      isClosed = true
      clearTimeout(timer)
      await trying
      const led = leads()
      leadsUntil = Number.NEGATIVE_INFINITY
      if (led) await release(LEADER).catch(() => {}) // it ends by itself
    },
  }
}
