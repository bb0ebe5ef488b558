import { OUTCOME_COLUMNS } from '../mail/counts.ts'
import { COUNT_COLUMNS } from '../mail-counts.ts'
import type { Queries } from './transactions.ts'

/** Rows of a table that one step folds. */
const FOLD_MAX = 500
const PRUNE_MAX = 1_000
/** A process that stood still may ask for so long whether its last group was committed. */
const KEPT_MS = 60 * 60_000
/** A node that nobody replaced stays on the list for so long. */
const LISTED_MS = 30 * 24 * 60 * 60_000

/** A table of counters → what adds rows of ended lanes, which nobody writes any more, to those of writer 0. In one
 *  statement, so that the sums of all lanes are the same before and after. */
function foldOf(table: string, keys: readonly string[], counts: readonly string[]): string {
  const key = keys.join(', ')
  return `with gone as (
      delete from ${table} where ctid = any(array(
        select of_ended.ctid from lanes l join ${table} of_ended on of_ended.writer = l.id
        where l.ended_at is not null and of_ended.writer <> 0 limit $1))
      returning ${key}, ${counts.join(', ')}),
    folded as (
      insert into ${table} as present (${key}, writer, ${counts.join(', ')})
      select ${key}, 0, ${counts.map((count) => `sum(${count})`).join(', ')} from gone group by ${key} order by ${key}
      on conflict (${key}, writer) do update
        set ${counts.map((count) => `${count} = present.${count} + excluded.${count}`).join(', ')})
    select count(*)::int as count from gone`
}

const FOLDS = [
  foldOf('usage', ['organization_id', 'name', 'period'], ['used']),
  foldOf('stats', ['organization_id', 'day', 'hour', 'tag', 'mode', 'domain_id'], COUNT_COLUMNS),
  foldOf('quality_counts', ['width_ms', 'domain_id', 'start'], OUTCOME_COLUMNS),
]
// Every live node has them in memory, and a new one reads all settings.
const PRUNE_CHANGES = `with gone as (
    delete from configuration_changes where ctid = any(array(
      select ctid from configuration_changes
      where version <= (select min(configuration_version) from nodes where ended_at is null)
      order by version limit $1))
    returning 1)
  select count(*)::int as count from gone`
const isLong = (forMs: string) => `ended_at < clock_timestamp() - ${forMs}::float8 * interval '1 millisecond'`
const without = (table: string) => `not exists (select from ${table} c where c.writer = l.id and c.writer <> 0)`
const PRUNE_LANES = `delete from lanes l where ${isLong('$1')}
  and ${['usage', 'stats', 'quality_counts', 'claims'].map(without).join(' and ')}`
const PRUNE_NODES = `with gone as (
    select id from nodes n where ${isLong('$1')} and (not handles_mail or is_forgotten or ${isLong('$2')})
      and not exists (select from lanes l where l.node_id = n.id)),
  leases as (delete from leases where node_id in (select id from gone))
  delete from nodes where id in (select id from gone)`

const PRUNE_RATES = `delete from rates r
  where exists (select from nodes where id = r.node_id and ended_at is not null)`
// Nodes write these times by their own clocks.
const PRUNE_DUE_RATES = 'delete from due_rates where due_at < $1::float8 - 3600000'

const PRUNE_CHALLENGES = 'delete from challenges where ends_at < clock_timestamp()'

/** Adds up the counters of nodes that have ended, and removes what they left → true if there is more. Twice at the same
 *  time is harmless. `now`: ms UTC, by the clock of this node. */
export async function tidyUp(queries: Queries, now: number): Promise<boolean> {
  let isMore = false
  for (const [text, most] of [...FOLDS.map((fold) => [fold, FOLD_MAX] as const), [PRUNE_CHANGES, PRUNE_MAX] as const]) {
    const [row] = await queries.query<{ count: number }>(text, [most])
    isMore ||= row?.count === most
  }
  await queries.query(PRUNE_RATES)
  await queries.query(PRUNE_DUE_RATES, [now])
  await queries.query(PRUNE_CHALLENGES)
  await queries.query(PRUNE_LANES, [KEPT_MS])
  await queries.query(PRUNE_NODES, [KEPT_MS, LISTED_MS])
  return isMore
}
