import { TRANSACTIONAL } from '../../model/message.ts'
import { suppressionEvent } from '../../model/on-demand-event.ts'
import type { Suppression } from '../../model/suppression.ts'
import type { OnDemandEvents } from '../fan-out-targets.ts'
import { endOf, idsOf, MOST_SORTED, toPage } from '../page.ts'
import { SUPPRESSION_COLUMNS } from '../records/suppressions.ts'
import type { SuppressedAddresses, Suppressions, WhySuppressed } from '../store.ts'
import type { Connection } from './driver.ts'
import { type Condition, when } from './page.ts'
import type { Reading } from './reading.ts'
import { joined, sliced, type Walk, walkSlices } from './slices.ts'
import type { Usage } from './usage.ts'

const ADD = `insert into suppressions (id, organization_id, domain_id, email, reason, message_id, created_at, evidence, mode,
    stream)
  values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
  on conflict (organization_id, email, domain_id, mode, stream, (stream <> '' and reason = 'complaint')) do nothing`
// Without the plus, SQLite would create a temporary table of each list for every query. With `min(reason)` it would
// prepare the statement again for every address; one address has few of these rows.
const REASONS = `select reason, nullif(stream, '') as stream from suppressions
  where organization_id = ? and email = ? and +domain_id in ('', ?) and +mode in ('live', ?)
    and (+stream in ('', ?) or reason = 'complaint' and ? <> '${TRANSACTIONAL}')`
const HOST = "substr(email, instr(email, '@') + 1)"
const ADDRESS_BEGINS = `select id from suppressions indexed by suppressions_by_address
  where organization_id = ? and email >= ? and email < ? limit ${MOST_SORTED + 1}`
const HOST_BEGINS = `select id from suppressions indexed by suppressions_by_host
  where organization_id = ? and ${HOST} >= ? and ${HOST} < ? limit ${MOST_SORTED + 1}`

/** Writes a suppression and its event inside the change that causes it at `at` (ms UTC; by default the time of the
 *  suppression); an existing one stays. */
export type SuppressInside = (suppression: Suppression, at?: number) => boolean

export function suppressInside(db: Connection, usage: Usage, onDemand: OnDemandEvents): SuppressInside {
  const add = db.prepare(ADD)
  return (suppression, at = suppression.createdAt) => {
    const { id, organizationId, domainId, email, reason, messageId, createdAt, evidence, mode, stream } = suppression
    const values = [id, organizationId, domainId ?? '', email, reason, messageId, createdAt, evidence, mode]
    const isNew = add.run(...values, stream ?? '').changes === 1
    if (!isNew) return false
    usage.add(organizationId, 'suppressions', 1)
    onDemand.offer(suppressionEvent('added', suppression, at))
    return true
  }
}

/** What mails and lists read. */
export function sqliteSuppressionReading(db: Connection, reading: Reading): Pick<Suppressions, 'among' | 'list'> {
  const reasonsOf = db.prepare<unknown[], WhySuppressed>(REASONS)
  const begins = [ADDRESS_BEGINS, HOST_BEGINS].map((sql) => db.prepare<unknown[], string>(sql).pluck())
  const newestOf = (ids: readonly string[], { sql, values }: Condition, limit: number) => {
    const matching = db.prepare<unknown[], Suppression>(
      `select ${SUPPRESSION_COLUMNS} from suppressions where id = ? and ${sql}`,
    )
    const rows: Suppression[] = []
    for (const id of ids) if (rows.length < limit) rows.push(...matching.all(id, ...values))
    return rows
  }
  return {
    among: async ({ organizationId, domainId, stream, mode }, emails) => {
      reading.begin()
      const found: SuppressedAddresses = new Map()
      for (const email of emails) {
        const [first] = reasonsOf.all(organizationId, email, domainId, mode, stream, stream).sort(byReason)
        if (first !== undefined) found.set(email, first)
      }
      return found
    },
    list: async (filter, page) => {
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
      const rows = await walkSlices(step, high, page.limit + 1)
      return toPage(rows, page, (row) => row)
    },
  }
}

const byReason = (a: WhySuppressed, b: WhySuppressed) => (a.reason < b.reason ? -1 : Number(a.reason > b.reason))

/** By itself SQLite would read all suppressions of the organization, because their index has the order of the page. */
function walkOf({ organizationId, email, reason, stream }: Parameters<Suppressions['list']>[0]): Walk {
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
