import type { SeenNodes } from './active-nodes.ts'
import { GROUPS } from './history.ts'
import type { InstanceState } from './instance.ts'

/** Notes that a node runs → what it has to learn of the others; no row if it was ended. */
export const BEAT = `update nodes set seen_at = clock_timestamp(), configuration_version = $2::bigint,
    under_way = $4, follows = $5, handed_over = $6
  where id = $1 and ended_at is null
  returning (select version from configuration)::float8 as version,
    extract(epoch from clock_timestamp())::float8 * 1000 as time,
    exists (select 1 from nodes o where o.id <> $1 and o.ended_at is null and o.follows) as "isFollowed",
    (select string_agg(id::text, ' ' order by id) from nodes o where o.ended_at is null
      and o.handles_mail and (o.id = $1 or o.seen_at > clock_timestamp() - $3::float8 * interval '1 millisecond')) as live,
    (select string_agg(id::text, ' ') from nodes o where o.ended_at is null and o.draining_at is not null) as draining,
    (select string_agg(id::text, ' ') from nodes o where o.ended_at is null and o.handed_over) as "handedOver",
    ${GROUPS} as groups, (select state from instance) as state,
    exists (select 1 from nodes o where o.id <> $1 and o.ended_at is null
      and o.seen_at <= clock_timestamp() - $3::float8 * interval '1 millisecond') as "hasSilent"`
/** Ends silent nodes, each at once with its lanes. */
export const END_SILENT = `with silent as (
    update nodes set ended_at = clock_timestamp() where ended_at is null and id <> $1
      and seen_at <= clock_timestamp() - $2::float8 * interval '1 millisecond' returning id),
  ended as (
    update lanes set ended_at = clock_timestamp() where ended_at is null and node_id in (select id from silent))
  select count(*)::int as count from silent`
/** How many nodes have older settings in memory. */
export const BEHIND = `select count(*)::int as count from nodes
  where id <> $1 and ended_at is null and configuration_version < $2`

/** What BEAT returns. */
export interface Beat {
  version: number
  /** ms UTC. */
  time: number
  /** Another node follows events. */
  isFollowed: boolean
  /** IDs, separated by spaces; null = none handles mail. */
  live: string | null
  /** The same of nodes that claim nothing more, and of those of them with nothing in progress. */
  draining: string | null
  handedOver: string | null
  /** As History.learn. */
  groups: string | null
  state: InstanceState
  hasSilent: boolean
}

export function nodesIn({ live, draining, handedOver }: Beat): Omit<SeenNodes, 'hasEndedSome'> {
  return { live: idsIn(live), draining: new Set(idsIn(draining)), handedOver: new Set(idsIn(handedOver)) }
}

const idsIn = (list: string | null): number[] => list?.split(' ').map(Number) ?? []
