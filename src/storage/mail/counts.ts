import { COUNT_COLUMNS, type OutcomesRow, type StatsRow } from '../mail-counts.ts'
import { type Columns, rows, sql, type Work } from '../sql.ts'
import { each, forEach, insertInto, writeAll, writing } from './each.ts'
import type { Counted } from './inside.ts'

/** A row to add, and whose it is. */
interface Of<Row> {
  row: Row
  writer: number
}

const ADD_STATS = insertInto<Of<StatsRow>>(
  'stats as present',
  {
    day: ['int', ({ row }) => row.day],
    hour: ['int', ({ row }) => row.hour],
    organization_id: ['text', ({ row }) => row.organizationId],
    tag: ['text', ({ row }) => row.tag],
    mode: ['text', ({ row }) => row.mode],
    domain_id: ['text', ({ row }) => row.domainId],
    writer: ['int', ({ writer }) => writer],
    ...countColumns(),
  },
  `on conflict (organization_id, day, hour, tag, mode, domain_id, writer) do update set ${COUNT_COLUMNS.map(
    (column) => `${column} = present.${column} + excluded.${column}`,
  ).join(', ')}`,
)
/** Columns of quality_counts. */
export const OUTCOME_COLUMNS = ['delivered', 'bounced', 'hard_bounced', 'late_bounced', 'complained']
const ADD_OUTCOMES = insertInto<Of<OutcomesRow>>(
  'quality_counts as present',
  {
    width_ms: ['int', ({ row }) => row.widthMs],
    domain_id: ['text', ({ row }) => row.domainId],
    start: ['bigint', ({ row }) => row.start],
    writer: ['int', ({ writer }) => writer],
    delivered: ['bigint', ({ row }) => row.delivered],
    bounced: ['bigint', ({ row }) => row.bounced],
    hard_bounced: ['bigint', ({ row }) => row.hardBounced],
    late_bounced: ['bigint', ({ row }) => row.lateBounced],
    complained: ['bigint', ({ row }) => row.complained],
  },
  `on conflict (width_ms, domain_id, start, writer) do update set ${OUTCOME_COLUMNS.map(
    (column) => `${column} = present.${column} + excluded.${column}`,
  ).join(', ')}`,
)

export interface Sum extends Counted {
  by: number
}
const ADD_USAGE = insertInto<Of<Sum>>(
  'usage as present',
  {
    organization_id: ['text', ({ row }) => row.organizationId],
    name: ['text', ({ row }) => row.counter],
    period: ['text', ({ row }) => row.period],
    writer: ['int', ({ writer }) => writer],
    used: ['bigint', ({ row }) => row.by],
  },
  'on conflict (organization_id, name, period, writer) do update set used = present.used + excluded.used',
)

// In their order, as everybody who locks several.
const LOCK = sql<{ id: string }>(
  'select id from organizations where id = any($1::text[]) order by id for no key update',
)
const USED = each<Counted & { place: number }, { place: number; used: number }>(
  {
    place: ['int', ({ place }) => place],
    organization_id: ['text', ({ organizationId }) => organizationId],
    name: ['text', ({ counter }) => counter],
    period: ['text', ({ period }) => period],
  },
  `select r.place as place, coalesce((select sum(u.used) from usage u where u.organization_id = r.organization_id
    and u.name = r.name and u.period = r.period), 0)::float8 as used from rows r`,
)

/** Counters → their stored values. Locks the organizations, because several writers add to counters at the same time. */
export function* readUsed(counted: readonly Counted[]): Work<number[]> {
  yield* rows(LOCK, [...new Set(counted.map(({ organizationId }) => organizationId))])
  const found = yield* forEach(
    USED,
    counted.map((of, place) => ({ ...of, place })),
  )
  const used = new Map(found.map((row) => [row.place, row.used]))
  return counted.map((_, place) => used.get(place) ?? 0)
}

/** Adds what a transaction counted to the stored counts. */
export function* addCounts(
  writer: number,
  { stats, outcomes, sums }: { stats: StatsRow[]; outcomes: OutcomesRow[]; sums: Sum[] },
): Work<void> {
  if (stats.length + outcomes.length + sums.length === 0) return
  yield* writeAll(
    writing(ADD_STATS, of(wholeDays(stats), writer)),
    writing(ADD_OUTCOMES, of(summed(outcomes), writer)),
    writing(ADD_USAGE, of(sums, writer)),
  )
}

const of = <Row>(rows: readonly Row[], writer: number): Of<Row>[] => rows.map((row) => ({ row, writer }))

/** Spans that end in the same wider one, as one row: no statement may write a row twice. */
function summed(rows: readonly OutcomesRow[]): readonly OutcomesRow[] {
  if (rows.length <= 1) return rows
  const sums = new Map<string, OutcomesRow>()
  for (const row of rows) {
    const key = `${row.widthMs} ${row.domainId} ${row.start}`
    const sum = sums.get(key)
    if (sum === undefined) sums.set(key, { ...row })
    else
      for (const name of ['delivered', 'bounced', 'hardBounced', 'lateBounced', 'complained'] as const)
        sum[name] += row[name]
  }
  return [...sums.values()]
}

/** Hours of a day come with one row each for the whole day. */
function wholeDays(rows: readonly StatsRow[]): readonly StatsRow[] {
  if (rows.length <= 2) return rows
  const sums = new Map<string, StatsRow>()
  for (const row of rows) {
    const key = `${row.day} ${row.hour} ${row.organizationId} ${row.domainId} ${row.mode} ${row.tag}`
    const sum = sums.get(key)
    sums.set(
      key,
      sum === undefined ? row : { ...row, counts: row.counts.map((count, at) => count + (sum.counts[at] ?? 0)) },
    )
  }
  return [...sums.values()]
}

function countColumns(): Columns<Of<StatsRow>> {
  return Object.fromEntries(
    COUNT_COLUMNS.map((column, at) => [column, ['bigint', ({ row }: Of<StatsRow>) => row.counts[at] ?? 0] as const]),
  )
}
