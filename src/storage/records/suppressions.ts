import type { LimitReached } from '../../model/limits.ts'
import { suppressionEvent } from '../../model/on-demand-event.ts'
import { UNLIMITED } from '../../model/organization.ts'
import { reachOf, type Suppression } from '../../model/suppression.ts'
import { offer, planOf, remember, use, used } from '../inside.ts'
import { insideMail } from '../mail/inside.ts'
import { suppressAll } from '../mail/suppress.ts'
import type { Suppressions } from '../roles/suppressions.ts'
import { type Database, rows, run, sql, type Work } from '../sql.ts'

export const SUPPRESSION_COLUMNS = `id, organization_id as "organizationId", nullif(domain_id, '') as "domainId",
  nullif(stream, '') as stream, email, reason, message_id as "messageId", created_at as "createdAt", evidence, mode`
const GET = sql<Suppression>(`select ${SUPPRESSION_COLUMNS} from suppressions where id = $1`)
// Not sorted: SQLite would read all of the organization, whose index has the order.
const OF_ADDRESSES = sql<Suppression>(`select ${SUPPRESSION_COLUMNS} from suppressions
  where organization_id = $1 and email = any($2::text[])`)
const LOCK = sql<Suppression>(
  `select ${SUPPRESSION_COLUMNS} from suppressions where id = any($1::text[]) order by id for update`,
)
const REMOVE = sql('delete from suppressions where id = any($1::text[])')

/** All but what lists and mails read, which each database reads in its own way. */
export function suppressionRecords(database: Database): Omit<Suppressions, 'among' | 'list'> {
  return {
    add: (suppression, record) =>
      database.write(function* () {
        const found = yield* present(suppression)
        if (found !== undefined) return { kind: 'exists' as const, suppression: found }
        const { left, limit } = yield* countLeft(suppression.organizationId)
        if (left < 1) return limit(0)
        if ((yield* suppress([suppression], suppression.createdAt)) === 0) {
          const other = yield* present(suppression) // of mail, meanwhile
          if (other === undefined) throw new Error('a suppression was neither written nor found')
          return { kind: 'exists' as const, suppression: other }
        }
        yield* remember(record)
        return { kind: 'added' as const }
      }),
    addAll: async (suppressions, now) => {
      const [first] = suppressions
      if (first === undefined) return { added: 0, limit: null }
      return database.write(function* () {
        const { organizationId } = first
        const emails = [...new Set(suppressions.map(({ email }) => email))]
        const known = new Set((yield* rows(OF_ADDRESSES, organizationId, emails)).map(reachOf))
        const { left, limit } = yield* countLeft(organizationId)
        const chosen: Suppression[] = []
        for (const suppression of suppressions) {
          const reach = reachOf(suppression)
          if (known.has(reach)) continue
          if (chosen.length >= left) return { added: yield* suppress(chosen, now), limit: limit(chosen.length) }
          known.add(reach)
          chosen.push(suppression)
        }
        return { added: yield* suppress(chosen, now), limit: null }
      })
    },
    get: (id) => database.row(GET, id),
    find: async (organizationId, email) =>
      (await database.rows(OF_ADDRESSES, organizationId, [email])).sort((a, b) => (a.id < b.id ? -1 : 1)),
    remove: (ids, now) =>
      database.write(function* () {
        const removed = yield* rows(LOCK, ids)
        for (const [organizationId, { length }] of Map.groupBy(removed, (each) => each.organizationId)) {
          yield* use(organizationId, 'suppressions', -length)
        }
        for (const each of removed) yield* offer(suppressionEvent('removed', each, now))
        return yield* run(REMOVE, ids)
      }),
  }
}

function* present(suppression: Suppression): Work<Suppression | undefined> {
  const found = yield* rows(OF_ADDRESSES, suppression.organizationId, [suppression.email])
  return found.find((each) => reachOf(each) === reachOf(suppression))
}

/** Writes those that do not exist yet, and their events at `at` → how many are new. */
function* suppress(suppressions: readonly Suppression[], at: number): Work<number> {
  return yield* suppressAll(yield* insideMail(), suppressions, at)
}

/** How many suppressions the organization may add, and the limit once it added some. */
function* countLeft(organizationId: string): Work<{ left: number; limit: (added: number) => LimitReached }> {
  const { suppressions: most } = yield* planOf(organizationId)
  const before = most === UNLIMITED ? 0 : yield* used(organizationId, 'suppressions')
  return {
    left: most === UNLIMITED ? Number.POSITIVE_INFINITY : most - before,
    limit: (added) => ({ kind: 'limit', name: 'suppressions', limit: most, used: before + added }),
  }
}
