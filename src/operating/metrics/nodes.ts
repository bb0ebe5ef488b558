import type { NodeObserver, NodeRecord, Store } from '../../storage/store.ts'
import type { Registry } from './registry.ts'

/** Seconds. */
const LANE_BOUNDS = [0.001, 0.002, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 5]
/** Changes; a group has at most 256. */
const GROUP_BOUNDS = [1, 2, 4, 8, 16, 32, 64, 128, 256]
/** Concurrent scrapes share one look. */
const FRESH_MS = 5_000
/** Label of values that belong to the whole installation: every node shows the same. */
export const CLUSTER = 'cluster'

/** Counts what this node writes to PostgreSQL, and the nodes that it ended. No samples with SQLite. */
export function countGroups(registry: Registry): NodeObserver {
  const seconds = registry.histogram(
    'postrider_lane_seconds',
    'Duration of a group of changes in PostgreSQL with its commit, by lane (mail, records, settings).',
    LANE_BOUNDS,
    ['lane'],
  )
  const sizes = registry.histogram('postrider_group_size', 'Changes in one group.', GROUP_BOUNDS, ['lane'])
  const takeovers = registry.counter('postrider_takeovers_total', 'Silent nodes that this node ended.')
  return {
    wroteGroup: (lane, ms, changes) => {
      seconds(ms / 1000, [lane])
      sizes(changes, [lane])
    },
    tookOver: (nodes) => takeovers([], nodes),
  }
}

/** Gauges of all nodes and of PostgreSQL, from the last look; returns what looks again. No samples with SQLite, and after a
 *  look that failed. */
export function gaugeNodes(
  registry: Registry,
  { nodes }: Pick<Store, 'nodes'>,
  now: () => number,
): { refresh(): Promise<void> } {
  let lookedAt = Number.NEGATIVE_INFINITY
  let looked = Promise.resolve()
  let list: readonly NodeRecord[] = []
  let oldestMs: number | null = null
  let behindMs: number | null = null
  const samples = (of: (node: NodeRecord) => number) => () =>
    list.map((node) => ({ values: [CLUSTER, node.name], value: of(node) }))
  registry.gauges(
    'postrider_node_up',
    'Whether a node has contact with the database (1), or is silent or has ended (0).',
    ['scope', 'node'],
    samples(({ state }) => (state === 'active' || state === 'draining' ? 1 : 0)),
  )
  registry.gauges(
    'postrider_pg_oldest_transaction_seconds',
    'Age of the oldest open transaction in PostgreSQL.',
    ['scope'],
    () => (list.length === 0 ? [] : [{ values: [CLUSTER], value: (oldestMs ?? 0) / 1000 }]),
  )
  registry.gauges(
    'postrider_feed_behind_seconds',
    'How far the events that clients can read are behind: the age of the oldest transaction that writes.',
    ['scope'],
    () => (list.length === 0 || behindMs === null ? [] : [{ values: [CLUSTER], value: behindMs / 1000 }]),
  )
  const look = async () => {
    ;[list, oldestMs, behindMs] = await Promise.all([nodes.list(), nodes.oldestTransactionMs(), nodes.feedBehindMs()])
  }
  return {
    refresh: async () => {
      if (now() - lookedAt >= FRESH_MS) {
        lookedAt = now()
        looked = look().catch(() => {
          list = []
        })
      }
      await looked
    },
  }
}
