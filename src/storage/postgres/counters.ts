import { COUNT_COLUMNS, type OutcomesRow, type StatsRow } from '../mail-counts.ts'
import { valueArray } from './arrays.ts'
import type { Writing } from './combined.ts'

const SUMS = COUNT_COLUMNS.map((column) => `sum(${column})`).join(', ')
// Hours of a day come with one row each for the whole day.
const ADD_STATS = `insert into stats as present
    (day, hour, organization_id, tag, mode, domain_id, lane_id, ${COUNT_COLUMNS.join(', ')})
  select day, hour, organization_id, tag, mode, domain_id, $7::int, ${SUMS}
  from unnest($1::int[], $2::int[], $3::text[], $4::text[], $5::text[], $6::text[],
      ${COUNT_COLUMNS.map((_, at) => `$${at + 8}::bigint[]`).join(', ')})
    as added (day, hour, organization_id, tag, mode, domain_id, ${COUNT_COLUMNS.join(', ')})
  group by 1, 2, 3, 4, 5, 6
  on conflict (organization_id, day, hour, tag, mode, domain_id, lane_id) do update
    set ${COUNT_COLUMNS.map((column) => `${column} = present.${column} + excluded.${column}`).join(', ')}`

/** Columns of quality_counts. */
export const OUTCOMES = ['delivered', 'bounced', 'hard_bounced', 'late_bounced', 'complained']
const ADD_OUTCOMES = `insert into quality_counts as present
    (width_ms, domain_id, start, lane_id, ${OUTCOMES.join(', ')})
  select width_ms, domain_id, start, $4::int, ${OUTCOMES.map((column) => `sum(${column})`).join(', ')}
  from unnest($1::int[], $2::text[], $3::bigint[], ${OUTCOMES.map((_, at) => `$${at + 5}::bigint[]`).join(', ')})
    as added (width_ms, domain_id, start, ${OUTCOMES.join(', ')})
  group by 1, 2, 3
  on conflict (width_ms, domain_id, start, lane_id) do update
    set ${OUTCOMES.map((column) => `${column} = present.${column} + excluded.${column}`).join(', ')}`

/** Adds counts to the stored ones. */
export async function addStats({ run, laneId }: Writing, rows: readonly StatsRow[]): Promise<void> {
  if (rows.length === 0) return
  await run(ADD_STATS, [
    valueArray(rows.map(({ day }) => day)),
    valueArray(rows.map(({ hour }) => hour)),
    valueArray(rows.map(({ organizationId }) => organizationId)),
    valueArray(rows.map(({ tag }) => tag)),
    valueArray(rows.map(({ mode }) => mode)),
    valueArray(rows.map(({ domainId }) => domainId)),
    laneId,
    ...COUNT_COLUMNS.map((_, at) => valueArray(rows.map(({ counts }) => counts[at] ?? 0))),
  ])
}

/** Adds outcomes to the stored ones. */
export async function addOutcomes({ run, laneId }: Writing, rows: readonly OutcomesRow[]): Promise<void> {
  if (rows.length === 0) return
  await run(ADD_OUTCOMES, [
    valueArray(rows.map(({ widthMs }) => widthMs)),
    valueArray(rows.map(({ domainId }) => domainId)),
    valueArray(rows.map(({ start }) => start)),
    laneId,
    valueArray(rows.map(({ delivered }) => delivered)),
    valueArray(rows.map(({ bounced }) => bounced)),
    valueArray(rows.map(({ hardBounced }) => hardBounced)),
    valueArray(rows.map(({ lateBounced }) => lateBounced)),
    valueArray(rows.map(({ complained }) => complained)),
  ])
}
