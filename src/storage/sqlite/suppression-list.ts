import type { Suppression } from '../../model/suppression.ts'
import { endOf, idsOf, MOST_SORTED, toPage } from '../page.ts'
import { SUPPRESSION_COLUMNS } from '../records/suppressions.ts'
import type { Page, Suppressions } from '../store.ts'
import type { Connection } from './driver.ts'
import { type Condition, when } from './page.ts'
import { joined, monotonicMs, sliced, type Walk, walked } from './slices.ts'

const HOST = "substr(email, instr(email, '@') + 1)"
const ADDRESS_BEGINS = `select id from suppressions indexed by suppressions_by_address
  where organization_id = ? and email >= ? and email < ? limit ${MOST_SORTED + 1}`
const HOST_BEGINS = `select id from suppressions indexed by suppressions_by_host
  where organization_id = ? and ${HOST} >= ? and ${HOST} < ? limit ${MOST_SORTED + 1}`

type Asked = Parameters<Suppressions['list']>

/** Suppressions that match every given part of the filter, newest first. */
export function suppressionList(
  db: Connection,
  nowMs: () => number = monotonicMs,
): (...asked: Asked) => Page<Suppression> {
  const begins = [ADDRESS_BEGINS, HOST_BEGINS].map((sql) => db.prepare<unknown[], string>(sql).pluck())
  const newestOf = (ids: readonly string[], { sql, values }: Condition, limit: number) => {
    const matching = db.prepare<unknown[], Suppression>(
      `select ${SUPPRESSION_COLUMNS} from suppressions where id = ? and ${sql}`,
    )
    const rows: Suppression[] = []
    for (const id of ids) if (rows.length < limit) rows.push(...matching.all(id, ...values))
    return rows
  }
  return (filter, page) => {
    const conditions = [
      { sql: 'organization_id = ?', values: [filter.organizationId] },
      ...when(filter.email, 'email = ?'),
      ...when(filter.reason, 'reason = ?'),
      ...when(filter.domainId, "domain_id in ('', ?)"),
      ...when(filter.stream, 'stream = ?'),
      ...when(filter.mode, 'mode = ?'),
      ...when(filter.createdAfter, 'created_at >= ?'),
      ...when(filter.createdBefore, 'created_at < ?'),
    ]
    const { beginning = null, organizationId } = filter
    const { low, high } = idsOf('sup', filter, page)
    if (beginning !== null) {
      const ids = new Set(begins.flatMap((each) => each.all(organizationId, beginning, endOf(beginning))))
      if (ids.size <= MOST_SORTED) {
        const inBounds = [...ids].filter((id) => id >= low && id < high).sort()
        return toPage(newestOf(inBounds.reverse(), joined(conditions), page.limit + 1), page, (row) => row)
      }
      conditions.push({ sql: `instr('@' || email, '@' || ?) > 0`, values: [beginning] })
    }
    const step = sliced<Suppression, string>(db, walkOf(filter), SUPPRESSION_COLUMNS, joined(conditions), low)
    return walked(step, high, page, { toRecord: (row) => row, idFrom: (id) => id, nowMs })
  }
}

/** By itself SQLite would read all suppressions of the organization, because their index has the order of the page. */
function walkOf({ organizationId, email, reason, stream }: Asked[0]): Walk {
  const by = (index: string, sql: string, ...values: unknown[]): Walk => ({
    walked: `suppressions indexed by suppressions_${index}`,
    join: '',
    key: 'id',
    sql: `organization_id = ?${sql}`,
    values: [organizationId, ...values],
  })
  if (email !== null) return by('by_address', ' and email = ?', email)
  if (stream != null) return by('by_stream', " and stream <> '' and stream = ?", stream)
  return reason === null ? by('of_organization', '') : by('by_reason', ' and reason = ?', reason)
}
