import { TRANSACTIONAL } from '../../model/message.ts'
import { suppressionEvent } from '../../model/on-demand-event.ts'
import type { Suppression } from '../../model/suppression.ts'
import type { OnDemandEvents } from '../fan-out-targets.ts'
import { endOf, idsOf, MOST_SORTED, toPage } from '../page.ts'
import type { SuppressedAddresses, Suppressions, WhySuppressed } from '../store.ts'
import type { RememberInside } from './database.ts'
import type { Connection } from './driver.ts'
import { type Condition, when } from './page.ts'
import type { Reading } from './reading.ts'
import { joined, sliced, type Walk, walkSlices } from './slices.ts'
import type { Usage } from './usage.ts'
import type { Writer } from './writer.ts'

const COLUMNS = `id, organization_id as organizationId, nullif(domain_id, '') as domainId,
  nullif(stream, '') as stream, email, reason, message_id as messageId, created_at as createdAt, evidence, mode`
const ADD = `insert into suppressions (id, organization_id, domain_id, email, reason, message_id, created_at, evidence, mode,
    stream)
  values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
  on conflict (organization_id, email, domain_id, mode, stream, (stream <> '' and reason = 'complaint')) do nothing`
const EXISTING = `select ${COLUMNS} from suppressions where organization_id = ? and email = ? and domain_id = ?
  and mode = ? and stream = ? and (stream <> '' and reason = 'complaint') = ?`
const GET = `select ${COLUMNS} from suppressions where id = ?`
// Without the plus, SQLite would create a temporary table of each list for every query. With `min(reason)` it would
// prepare the statement again for every address; one address has few of these rows.
const REASONS = `select reason, nullif(stream, '') as stream from suppressions
  where organization_id = ? and email = ? and +domain_id in ('', ?) and +mode in ('live', ?)
    and (+stream in ('', ?) or reason = 'complaint' and ? <> '${TRANSACTIONAL}')`
// By itself SQLite would read all suppressions of the organization, because their index has the requested order.
const FIND = `select ${COLUMNS} from suppressions indexed by suppressions_by_address
  where organization_id = ? and email = ? order by id`
const HOST = "substr(email, instr(email, '@') + 1)"
const ADDRESS_BEGINS = `select id from suppressions indexed by suppressions_by_address
  where organization_id = ? and email >= ? and email < ? limit ${MOST_SORTED + 1}`
const HOST_BEGINS = `select id from suppressions indexed by suppressions_by_host
  where organization_id = ? and ${HOST} >= ? and ${HOST} < ? limit ${MOST_SORTED + 1}`
const REMOVE = 'delete from suppressions where id = ?'

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

export function sqliteSuppressions(
  db: Connection,
  writer: Writer,
  reading: Reading,
  suppress: SuppressInside,
  remember: RememberInside,
  usage: Usage,
  onDemand: OnDemandEvents,
): Suppressions {
  const existing = db.prepare<unknown[], Suppression>(EXISTING)
  const get = db.prepare<unknown[], Suppression>(GET)
  const reasonsOf = db.prepare<unknown[], WhySuppressed>(REASONS)
  const find = db.prepare<unknown[], Suppression>(FIND)
  const begins = [ADDRESS_BEGINS, HOST_BEGINS].map((sql) => db.prepare<unknown[], string>(sql).pluck())
  const newestOf = (ids: readonly string[], { sql, values }: Condition, limit: number) => {
    const matching = db.prepare<unknown[], Suppression>(`select ${COLUMNS} from suppressions where id = ? and ${sql}`)
    const rows: Suppression[] = []
    for (const id of ids) if (rows.length < limit) rows.push(...matching.all(id, ...values))
    return rows
  }
  const remove = db.prepare(REMOVE)
  const present = ({ organizationId, email, domainId, mode, stream, reason }: Suppression) => {
    const isWide = stream !== null && reason === 'complaint'
    return existing.get(organizationId, email, domainId ?? '', mode, stream ?? '', Number(isWide))
  }
  const reached = ({ organizationId }: Suppression) =>
    usage.reached(organizationId, 'suppressions', 1, () => usage.used(organizationId, 'suppressions'))
  return {
    add: (suppression, record) =>
      writer.write(() => {
        const found = present(suppression)
        if (found !== undefined) return { kind: 'exists' as const, suppression: found }
        const limit = reached(suppression)
        if (limit !== null) return limit
        suppress(suppression)
        remember(record)
        return { kind: 'added' as const }
      }),
    addAll: (suppressions, now) =>
      writer.write(() => {
        let added = 0
        for (const suppression of suppressions) {
          const limit = reached(suppression)
          // Beyond the limit, existing ones still count as existing.
          if (limit !== null && present(suppression) === undefined) return { added, limit }
          added += Number(suppress(suppression, now))
        }
        return { added, limit: null }
      }),
    get: async (id) => get.get(id) ?? null,
    among: async ({ organizationId, domainId, stream, mode }, emails) => {
      reading.begin()
      const found: SuppressedAddresses = new Map()
      for (const email of emails) {
        const [first] = reasonsOf.all(organizationId, email, domainId, mode, stream, stream).sort(byReason)
        if (first !== undefined) found.set(email, first)
      }
      return found
    },
    find: async (organizationId, email) => find.all(organizationId, email),
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
      const step = sliced<Suppression, string>(db, walkOf(filter), COLUMNS, joined(conditions), low)
      const rows = await walkSlices(step, high, page.limit + 1)
      return toPage(rows, page, (row) => row)
    },
    remove: (ids, now) =>
      writer.write(() => {
        let removed = 0
        for (const id of ids) {
          const suppression = get.get(id)
          if (suppression === undefined) continue
          removed += remove.run(id).changes
          usage.add(suppression.organizationId, 'suppressions', -1)
          onDemand.offer(suppressionEvent('removed', suppression, now))
        }
        return removed
      }),
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
