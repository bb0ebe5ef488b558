import { SLOTS } from '../slots.ts'
import type { NodeRecord, Nodes } from '../store.ts'
import type { Distribution } from './distribution.ts'
import { oldestTransactionMs, readFacts } from './facts.ts'
import { timeOf } from './places.ts'
import type { Reads } from './reads.ts'
import type { Open } from './start.ts'

const ms = (column: string) => `(extract(epoch from ${column}) * 1000)::float8`
const LIST = `select id, name, hostname, version, key_name as "keyName", ${ms('started_at')} as "startedAt",
    ${ms('seen_at')} as "seenAt", under_way as "underWay", ${ms('ended_at')} as "endedAt",
    case when ended_at is not null then 'ended'
      when seen_at < clock_timestamp() - interval '2 seconds' then 'silent'
      when draining_at is not null then 'draining' else 'active' end as state,
    (select count(*) from slots s where s.node_id = n.id and s.slot < ${SLOTS})::int as slots
  from nodes n where handles_mail and not is_forgotten order by name, id`
const RUNNING = `select count(*)::int as running, count(draining_at)::int as draining from nodes
  where name = $1 and handles_mail and not is_forgotten and ended_at is null`
const DRAIN = `update nodes set draining_at = clock_timestamp()
  where name = $1 and handles_mail and not is_forgotten and ended_at is null and draining_at is null`
const FORGET = `update nodes set is_forgotten = true
  where name = $1 and handles_mail and not is_forgotten and ended_at is not null returning id`
const LEAVE = 'update nodes set draining_at = clock_timestamp() where id = $1 and draining_at is null'

/** The nodes in the table, and this one. */
export function postgresNodes(
  reads: Reads,
  {
    nodeId,
    distribution,
    open,
  }: { nodeId: number; distribution: Pick<Distribution, 'hand' | 'look' | 'passed'>; open: Open },
): Nodes {
  const { hand, passed } = distribution
  const { over, whyNotReady } = hand
  const running = async (name: string) => {
    const [row] = await reads.query<{ running: number; draining: number }>(RUNNING, [name])
    return row ?? { running: 0, draining: 0 }
  }
  return {
    list: async () => {
      const rows = await reads.query<NodeRecord>(LIST)
      return rows.filter(({ id, name, endedAt }) => {
        const isReplaced = rows.some((other) => other.name === name && (other.endedAt === null || other.id > id))
        return endedAt === null || !isReplaced
      })
    },
    drain: async (name) => {
      const before = await running(name)
      if (before.running === 0) return 'unknown'
      if (before.running === before.draining) return 'unchanged'
      await reads.query(DRAIN, [name])
      return 'draining'
    },
    forget: async (name) => {
      if ((await running(name)).running > 0) return 'running'
      return (await reads.query(FORGET, [name])).length > 0 ? 'forgotten' : 'unknown'
    },
    oldestTransactionMs: () => oldestTransactionMs(reads),
    feedBehindMs: (now) => Math.max(0, now - timeOf(passed())),
    database: (now) => readFacts(reads, open, now),
    placementChanged: distribution.look,
    leave: async () => {
      over()
      await reads.query(LEAVE, [nodeId])
    },
    whyNotReady,
  }
}
