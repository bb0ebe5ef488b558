import type { Encryption } from '../encryption.ts'
import type { NodeRecord, Nodes } from '../store.ts'
import type { Open } from './connection.ts'
import type { Distribution } from './distribution.ts'
import { oldestTransactionMs, oldestWriteMs, readFacts } from './facts.ts'
import type { Reads } from './reads.ts'
import { digestsOf } from './start.ts'

const ms = (column: string) => `(extract(epoch from ${column}) * 1000)::float8`
const LIST = `select id, name, hostname, version, key_name as "keyName", settings, ${ms('started_at')} as "startedAt",
    ${ms('seen_at')} as "seenAt", under_way as "underWay", ${ms('ended_at')} as "endedAt",
    case when ended_at is not null then 'ended'
      when seen_at < clock_timestamp() - interval '2 seconds' then 'silent'
      when draining_at is not null then 'draining' else 'active' end as state, handed_over as "isHandedOver"
  from nodes where handles_mail and not is_forgotten order by name, id`
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
    encryption,
  }: {
    nodeId: number
    distribution: Pick<Distribution, 'handOver' | 'whyNotReady' | 'share' | 'elsewhere' | 'placementChanged'>
    open: Open
    encryption: Encryption
  },
): Nodes {
  const running = async (name: string) => {
    const [row] = await reads.query<{ running: number; draining: number }>(RUNNING, [name])
    return row ?? { running: 0, draining: 0 }
  }
  return {
    list: async () => {
      const rows = await reads.query<Omit<NodeRecord, 'settings'> & { settings: string | null }>(LIST)
      const records = rows.map((row): NodeRecord => ({ ...row, settings: row.settings && JSON.parse(row.settings) }))
      return records.filter(({ id, name, endedAt }) => {
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
    feedBehindMs: () => oldestWriteMs(reads),
    share: () => distribution.share(),
    elsewhere: (queue) => distribution.elsewhere(queue),
    database: (now) => readFacts(reads, open, now),
    placementChanged: () => distribution.placementChanged(),
    leave: async () => {
      distribution.handOver()
      await reads.query(LEAVE, [nodeId])
    },
    whyNotReady: () => distribution.whyNotReady(),
    digestsOf: (settings) => digestsOf(settings, encryption),
  }
}
