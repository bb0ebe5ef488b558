import { TRANSACTIONAL } from '../../model/message.ts'
import { suppressionEvent } from '../../model/on-demand-event.ts'
import type { Suppression } from '../../model/suppression.ts'
import { batched } from '../../os/batched.ts'
import { where } from '../conditions.ts'
import { endOf, idBefore, MOST_SORTED, toPage } from '../page.ts'
import { SUPPRESSION_COLUMNS } from '../records/suppressions.ts'
import type { SuppressedAddresses, SuppressibleMail, Suppressions, WhySuppressed } from '../store.ts'
import { numberArray, textArray } from './arrays.ts'
import type { Additions } from './group.ts'
import type { Reads } from './reads.ts'
import type { Statements } from './transactions.ts'

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
const HOST = `(split_part(email, '@', 2) collate "C")`
const BEGINNING = `select id from (
    select id from suppressions where organization_id = $1 and (email collate "C") >= $2 and (email collate "C") < $3
      limit ${MOST_SORTED + 1}) by_address
  union select id from (
    select id from suppressions where organization_id = $1 and ${HOST} >= $2 and ${HOST} < $3
      limit ${MOST_SORTED + 1}) by_host`
const BEGINS = "position('@' || ?::text in '@' || email) > 0"
const WRITTEN = 'select id from suppressions where id = any($1::text[])'

/** Writes suppressions inside the change that causes them; existing ones stay → the new ones. */
export async function suppressAll(
  { query, laneId }: Statements,
  suppressions: readonly Suppression[],
): Promise<Suppression[]> {
  if (suppressions.length === 0) return []
  const rows = await query<{ id: string }>(ADD, columnsOf(suppressions, laneId))
  const added = new Set(rows.map(({ id }) => id))
  return suppressions.filter(({ id }) => added.has(id))
}

/** The same as a statement of an audited change, which is one that counts rows, with their events if there are Additions →
 *  how many are new. */
export async function suppressReported(
  { query, run, laneId }: Statements,
  suppressions: readonly Suppression[],
  events: { add: Additions; at: number } | null,
): Promise<number> {
  if (suppressions.length === 0) return 0
  const count = await run(ADD, columnsOf(suppressions, laneId))
  if (count === 0 || events === null) return count
  const rows = await query<{ id: string }>(WRITTEN, [textArray(suppressions.map(({ id }) => id))])
  const written = new Set(rows.map(({ id }) => id))
  for (const each of suppressions) {
    if (written.has(each.id)) events.add.onDemand.offer(suppressionEvent('added', each, events.at))
  }
  return count
}

/** What mails and lists read. */
export function postgresSuppressionReading(reads: Reads): Pick<Suppressions, 'among' | 'list'> {
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
  return {
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
      const text = `select ${SUPPRESSION_COLUMNS} from suppressions where ${sql} order by id desc limit ${page.limit + 1}`
      return toPage(await reads.query<Suppression>(text, values), page, (row) => row)
    },
  }
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
