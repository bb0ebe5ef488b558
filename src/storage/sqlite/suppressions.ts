import type { Suppression } from '../../model/suppression.ts'
import { firstId } from '../../platform/ids.ts'
import type { Suppressions } from '../store.ts'
import type { Connection } from './driver.ts'
import type { RememberInside } from './idempotency.ts'
import { idBefore, SLACK_MS, toPage, when } from './page.ts'
import type { Reading } from './reading.ts'
import { joined, sliced, type Walk, walkSlices } from './slices.ts'
import type { Writer } from './writer.ts'

const COLUMNS = `id, organization_id as organizationId, nullif(domain_id, '') as domainId, email, reason,
  message_id as messageId, created_at as createdAt, evidence`
const ADD = `insert into suppressions (id, organization_id, domain_id, email, reason, message_id, created_at, evidence)
  values (?, ?, ?, ?, ?, ?, ?, ?) on conflict (organization_id, email, domain_id) do nothing`
const EXISTING = `select ${COLUMNS} from suppressions where organization_id = ? and email = ? and domain_id = ?`
const GET = `select ${COLUMNS} from suppressions where id = ?`
// The plus keeps the list out of the search: SQLite would make a temporary table of it at every look, which takes longer
// than the look; one address has at most a row for each domain.
const IS_SUPPRESSED = `select 1 from suppressions where organization_id = ? and email = ? and +domain_id in ('', ?)`
// Left to itself, SQLite walks all suppressions of the organization, because they lie in the order asked for.
const FIND = `select ${COLUMNS} from suppressions indexed by suppressions_by_address
  where organization_id = ? and email = ? order by id`
const REMOVE = 'delete from suppressions where id = ?'

/** Writes a suppression inside the change that causes it; one that is there already stays. */
export type SuppressInside = (suppression: Suppression) => boolean

export function suppressInside(db: Connection): SuppressInside {
  const add = db.prepare(ADD)
  return ({ id, organizationId, domainId, email, reason, messageId, createdAt, evidence }) =>
    add.run(id, organizationId, domainId ?? '', email, reason, messageId, createdAt, evidence).changes === 1
}

export function sqliteSuppressions(
  db: Connection,
  writer: Writer,
  reading: Reading,
  suppress: SuppressInside,
  remember: RememberInside,
): Suppressions {
  const existing = db.prepare(EXISTING)
  const get = db.prepare(GET)
  const isSuppressed = db.prepare(IS_SUPPRESSED)
  const find = db.prepare(FIND)
  const remove = db.prepare(REMOVE)
  return {
    add: (suppression, record) =>
      writer.write(() => {
        if (suppress(suppression)) {
          remember(record)
          return { kind: 'added' as const }
        }
        const { organizationId, email, domainId } = suppression
        const found = existing.get(organizationId, email, domainId ?? '') as Suppression
        return { kind: 'exists' as const, suppression: found }
      }),
    addAll: (suppressions) =>
      writer.write(() => suppressions.reduce((added, suppression) => added + Number(suppress(suppression)), 0)),
    get: async (id) => (get.get(id) as Suppression | undefined) ?? null,
    among: (organizationId, domainId, emails) => {
      reading.begin()
      return new Set(emails.filter((email) => isSuppressed.get(organizationId, email, domainId) !== undefined))
    },
    find: async (organizationId, email) => find.all(organizationId, email) as Suppression[],
    list: async (filter, page) => {
      const conditions = [
        { sql: 'organization_id = ?', values: [filter.organizationId] },
        ...when(filter.email, 'email = ?'),
        ...when(filter.reason, 'reason = ?'),
        ...when(filter.createdAfter, 'created_at >= ?'),
        ...when(filter.createdBefore, 'created_at < ?'),
      ]
      const low = filter.createdAfter === null ? '' : firstId('sup', filter.createdAfter - SLACK_MS)
      const end = filter.createdBefore === null ? '~' : firstId('sup', filter.createdBefore + SLACK_MS)
      const high = [idBefore(page), end].sort()[0]!
      const step = sliced(db, walkOf(filter), COLUMNS, joined(conditions), low)
      const rows = await walkSlices(step, high, page.limit + 1)
      return toPage(rows as Suppression[], page, (row) => row)
    },
    remove: (ids) => writer.write(() => ids.reduce((removed, id) => removed + remove.run(id).changes, 0)),
  }
}

/** Left to itself, SQLite walks all suppressions of the organization because they lie in the order of the page. */
function walkOf({ organizationId, email, reason }: Parameters<Suppressions['list']>[0]): Walk {
  const by = (index: string, sql: string, ...values: unknown[]): Walk => ({
    walked: `suppressions indexed by suppressions_${index}`,
    join: '',
    key: 'id',
    sql: `organization_id = ?${sql}`,
    values: [organizationId, ...values],
  })
  if (email !== null) return by('by_address', ' and email = ?', email)
  return reason === null ? by('of_organization', '') : by('by_reason', ' and reason = ?', reason)
}
