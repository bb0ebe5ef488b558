import type { Rates, RateWindow } from '../store.ts'
import { valueArray } from './arrays.ts'
import type { Reads } from './reads.ts'

const EXCHANGE = `with given as materialized (
    select * from unnest($2::text[], $3::bigint[], $4::int[]) as given (id, ends_at, used)),
  stored as (
    insert into rates as present (id, node_id, ends_at, used)
    select id, $1::int, ends_at, used from given order by id
    on conflict (id, node_id) do update set ends_at = excluded.ends_at, used = excluded.used)
  select id, others.ends_at::float8 as "endsAt", others.used from given join rates others using (id)
  where others.node_id <> $1::int`
const TAKE = `with rules as materialized (
    select * from unnest($1::text[], $2::float8[], $3::float8[]) as rules (name, every_ms, burst)),
  known as materialized (
    select known.name, known.due_at from rules join due_rates known using (name) order by 1 for update of known),
  wait as materialized (
    select greatest(0, max(coalesce(due_at, 0) - every_ms * (burst - 1) - $4::float8)) as ms
    from rules left join known using (name)),
  counted as (
    insert into due_rates as present (name, due_at)
    select name, $4::float8 + every_ms from rules, wait where ms <= 0 order by name
    on conflict (name) do update
      set due_at = greatest(excluded.due_at, present.due_at + excluded.due_at - $4::float8))
  select ms from wait`

export function postgresRates(reads: Reads, nodeId: number): Rates {
  return {
    exchange: (windows) =>
      reads.query<RateWindow>(EXCHANGE, [
        nodeId,
        valueArray(windows.map(({ id }) => id)),
        valueArray(windows.map(({ endsAt }) => endsAt)),
        valueArray(windows.map(({ used }) => used)),
      ]),
    take: async (rules, now) => {
      const [row] = await reads.query<{ ms: number }>(TAKE, [
        valueArray(rules.map(({ name }) => name)),
        valueArray(rules.map(({ everyMs }) => everyMs)),
        valueArray(rules.map(({ burst }) => burst)),
        now,
      ])
      return row?.ms ?? 0
    },
  }
}
