import { TRANSACTIONAL } from '../../model/message.ts'
import { suppressionEvent } from '../../model/on-demand-event.ts'
import { reachOf, type Suppression } from '../../model/suppression.ts'
import { batched } from '../../os/batched.ts'
import { where } from '../conditions.ts'
import { endOf, idBefore, MOST_SORTED, toPage } from '../page.ts'
import type { SuppressedAddresses, SuppressibleMail, Suppressions, WhySuppressed } from '../store.ts'
import { numberArray, textArray } from './arrays.ts'
import type { FanOut } from './fan-out.ts'
import type { Group, MailLane } from './group.ts'
import type { RememberInside } from './inside.ts'
import type { Reads } from './reads.ts'
import type { Queries, Statements } from './transactions.ts'
import type { Usage } from './usage.ts'
import type { Writer } from './writer.ts'

const COLUMNS = `id, organization_id as "organizationId", case when domain_id <> '' then domain_id end as "domainId", email, reason,
  case when stream <> '' then stream end as stream, message_id as "messageId", created_at::float8 as "createdAt", evidence, mode`
// Without a target, because the index differs until every node has the step suppression_reaches.
const ADD = `with added as (
    insert into suppressions (id, organization_id, domain_id, email, reason, message_id, created_at, evidence, mode,
      stream)
    select * from unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::text[], $6::text[], $7::bigint[],
      $8::text[], $9::text[], $11::text[])
    on conflict do nothing returning organization_id, id),
  counted as (
    insert into usage as present (organization_id, name, period, lane_id, used)
    select organization_id, 'suppressions', '', $10::int, count(*) from added group by 1
    on conflict (organization_id, name, period, lane_id) do update set used = present.used + excluded.used)
  select id from added`
// One lookup of the index for each.
const PRESENT = `select ${COLUMNS} from suppressions
  where (organization_id, email, domain_id, mode) in (
    select * from unnest($1::text[], $2::text[], $3::text[], $4::text[]))`
const GET = `select ${COLUMNS} from suppressions where id = $1`
// One lookup of the index for each address.
const AMONG = `select distinct on (asked.number, s.email) asked.number, s.email, s.reason, nullif(s.stream, '') as stream
  from unnest($1::int[], $2::text[], $3::text[], $4::text[], $5::text[], $6::text[])
    as asked (number, organization_id, domain_id, email, mode, stream)
  join suppressions s on s.organization_id = asked.organization_id and s.email = asked.email
    and s.domain_id in ('', asked.domain_id) and s.mode in ('live', asked.mode)
    and (s.stream in ('', asked.stream) or s.reason = 'complaint' and asked.stream <> '${TRANSACTIONAL}')
  order by 1, 2, 3`
/** Questions in one statement. */
const ASKED_TOGETHER = 256
const FIND = `select ${COLUMNS} from suppressions where organization_id = $1 and email = $2 order by id`
const HOST = `(split_part(email, '@', 2) collate "C")`
const BEGINNING = `select id from (
    select id from suppressions where organization_id = $1 and (email collate "C") >= $2 and (email collate "C") < $3
      limit ${MOST_SORTED + 1}) by_address
  union select id from (
    select id from suppressions where organization_id = $1 and ${HOST} >= $2 and ${HOST} < $3
      limit ${MOST_SORTED + 1}) by_host`
const BEGINS = "position('@' || ?::text in '@' || email) > 0"
const LOCK = `select ${COLUMNS} from suppressions where id = any($1::text[]) order by organization_id, id for update`
const WRITTEN = 'select id from suppressions where id = any($1::text[])'
const REMOVE = 'delete from suppressions where id = any($1::text[])'

/** Writes suppressions inside the change that causes them; existing ones stay. Returns how many were new. */
export function suppressInside(statements: Statements, suppressions: readonly Suppression[]): Promise<number> {
  const { run, laneId } = statements
  return suppressions.length === 0 ? Promise.resolve(0) : run(ADD, columnsOf(suppressions, laneId))
}

/** The same → the new ones. */
export async function suppressAll(
  { query, laneId }: Statements,
  suppressions: readonly Suppression[],
): Promise<Suppression[]> {
  if (suppressions.length === 0) return []
  const rows = await query<{ id: string }>(ADD, columnsOf(suppressions, laneId))
  const added = new Set(rows.map(({ id }) => id))
  return suppressions.filter(({ id }) => added.has(id))
}

/** The same for one, with its event → whether it is new. */
export async function suppressOne({ statements, add }: Group, suppression: Suppression): Promise<boolean> {
  const isNew = (await suppressInside(statements, [suppression])) > 0
  if (isNew) add.onDemand.offer(suppressionEvent('added', suppression, suppression.createdAt))
  return isNew
}

export function postgresSuppressions(
  reads: Reads,
  writer: Writer,
  {
    remember,
    usage,
    lane,
    isNamed,
  }: { remember: RememberInside; usage: Usage; lane: MailLane; isNamed: FanOut['isNamed'] },
): Suppressions {
  const present = async (queries: Queries, suppressions: readonly Suppression[]) => {
    const columns = [
      suppressions.map(({ organizationId }) => organizationId),
      suppressions.map(({ email }) => email),
      suppressions.map(({ domainId }) => domainId ?? ''),
      suppressions.map(({ mode }) => mode),
    ]
    const rows = await queries.query<Suppression>(PRESENT, columns.map(textArray))
    return new Map(rows.map((row) => [reachOf(row), row]))
  }
  const among = batched<Asked, SuppressedAddresses>(async (asked) => {
    const each = asked.flatMap(({ emails, ...scope }, number) => emails.map((email) => ({ ...scope, number, email })))
    const rows = await reads.query<WhySuppressed & { number: number; email: string }>(AMONG, [
      numberArray(each.map(({ number }) => number)),
      ...[
        each.map(({ organizationId }) => organizationId),
        each.map(({ domainId }) => domainId),
        each.map(({ email }) => email),
        each.map(({ mode }) => mode),
        each.map(({ stream }) => stream),
      ].map(textArray),
    ])
    const found = Map.groupBy(rows, ({ number }) => number)
    return asked.map(
      (_, number) => new Map(found.get(number)?.map(({ email, reason, stream }) => [email, { reason, stream }])),
    )
  }, ASKED_TOGETHER)
  const beginningWith = async (organizationId: string, beginning: string) => {
    const rows = await reads.query<{ id: string }>(BEGINNING, [organizationId, beginning, endOf(beginning)])
    return rows.map(({ id }) => id)
  }
  /** Adds suppressions of organizations. Only what has events is written with mail, so that an import without them lets
   *  no mail wait. A webhook that is created meanwhile may miss it, as if it were created after it. */
  const adding = <T>(
    suppressions: readonly Suppression[],
    at: number,
    change: (statements: Statements, write: (chosen: readonly Suppression[]) => Promise<number>) => Promise<T>,
  ): Promise<T> => {
    if (!suppressions.some(({ organizationId }) => isNamed(organizationId, 'suppression.added'))) {
      return writer.writeSettings((statements) => change(statements, (chosen) => suppressInside(statements, chosen)))
    }
    return writer.writeSettingsIn(lane, ({ statements, add }) =>
      change(statements, async (chosen) => {
        const count = await suppressInside(statements, chosen)
        const ids = await statements.query<{ id: string }>(WRITTEN, [textArray(chosen.map(({ id }) => id))])
        const written = new Set(ids.map(({ id }) => id))
        for (const each of chosen) {
          if (written.has(each.id)) add.onDemand.offer(suppressionEvent('added', each, at))
        }
        return count
      }),
    )
  }
  const used = async (statements: Statements, organizationId: string) => {
    await usage.lock(statements, [organizationId])
    return usage.used(statements, organizationId, 'suppressions')
  }

  return {
    add: (suppression, record) =>
      adding([suppression], suppression.createdAt, async (statements, write) => {
        const { organizationId } = suppression
        const found = (await present(statements, [suppression])).get(reachOf(suppression))
        if (found !== undefined) return { kind: 'exists' as const, suppression: found }
        const limit = await usage.reached(organizationId, 'suppressions', 1, () => used(statements, organizationId))
        if (limit !== null) return limit
        if ((await write([suppression])) === 0) return stands(statements, suppression)
        await remember(statements, record)
        return { kind: 'added' as const }
      }),
    addAll: (suppressions, now) =>
      adding(suppressions, now, async (statements, write) => {
        const known = new Set((await present(statements, suppressions)).keys())
        const chosen: Suppression[] = []
        for (const suppression of suppressions) {
          const reach = reachOf(suppression)
          if (known.has(reach)) continue
          const { organizationId } = suppression
          const more = chosen.filter((each) => each.organizationId === organizationId).length
          const limit = await usage.reached(
            organizationId,
            'suppressions',
            1,
            async () => (await used(statements, organizationId)) + more,
          )
          if (limit !== null) return { added: await write(chosen), limit }
          known.add(reach)
          chosen.push(suppression)
        }
        return { added: await write(chosen), limit: null }
      }),
    get: async (id) => (await reads.query<Suppression>(GET, [id]))[0] ?? null,
    among: async ({ organizationId, domainId, stream, mode }, emails) => {
      if (emails.length === 0) return new Map()
      const found = await among({ organizationId, domainId, stream, mode, emails })
      return new Map(
        emails.flatMap((email) => {
          const why = found.get(email)
          return why === undefined ? [] : [[email, why]]
        }),
      )
    },
    find: (organizationId, email) => reads.query<Suppression>(FIND, [organizationId, email]),
    list: async (filter, page) => {
      const { beginning = null, organizationId } = filter
      const begun = beginning === null ? null : await beginningWith(organizationId, beginning)
      const { sql, values } = where([
        ['organization_id = ?', filter.organizationId],
        ['email = ?', filter.email],
        ['reason = ?', filter.reason],
        [`domain_id in ('', ?)`, filter.domainId],
        [`stream <> '' and stream = ?`, filter.stream],
        ['mode = ?', filter.mode],
        ['created_at >= ?', filter.createdAfter],
        ['created_at < ?', filter.createdBefore],
        ['id < ?', idBefore(page)],
        ['id = any(?::text[])', begun === null || begun.length > MOST_SORTED ? null : textArray(begun)],
        [BEGINS, begun === null || begun.length <= MOST_SORTED ? null : beginning],
      ])
      const text = `select ${COLUMNS} from suppressions where ${sql} order by id desc limit ${page.limit + 1}`
      return toPage(await reads.query<Suppression>(text, values), page, (row) => row)
    },
    remove: (ids, now) =>
      writer.writeSettingsIn(lane, async ({ statements, add }) => {
        const removed = await statements.query<Suppression>(LOCK, [textArray(ids)])
        for (const [organizationId, { length }] of Map.groupBy(removed, (each) => each.organizationId)) {
          await usage.add(statements, organizationId, 'suppressions', -length)
        }
        for (const each of removed) add.onDemand.offer(suppressionEvent('removed', each, now))
        return statements.run(REMOVE, [textArray(ids)])
      }),
  }
}

/** Of one that was not written, because an older node still needs the former index: the one of its address, domain and
 *  mode. */
async function stands({ query }: Queries, { organizationId, email, domainId, mode }: Suppression) {
  const found = await query<Suppression>(FIND, [organizationId, email])
  const suppression = found.find((each) => each.domainId === domainId && each.mode === mode)
  if (suppression === undefined) throw new Error('a suppression was neither written nor found')
  return { kind: 'exists' as const, suppression }
}

interface Asked extends SuppressibleMail {
  emails: readonly string[]
}

/** Suppressions → the parameters of ADD. */
function columnsOf(suppressions: readonly Suppression[], laneId: number) {
  const texts = (of: (suppression: Suppression) => string | null) => textArray(suppressions.map(of))
  return [
    texts(({ id }) => id),
    texts(({ organizationId }) => organizationId),
    texts(({ domainId }) => domainId ?? ''),
    texts(({ email }) => email),
    texts(({ reason }) => reason),
    texts(({ messageId }) => messageId),
    numberArray(suppressions.map(({ createdAt }) => createdAt)),
    texts(({ evidence }) => evidence),
    texts(({ mode }) => mode),
    laneId,
    texts(({ stream }) => stream ?? ''),
  ]
}
