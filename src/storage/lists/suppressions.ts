import { TRANSACTIONAL } from '../../model/message.ts'
import type { Suppression } from '../../model/suppression.ts'
import { each, forEach } from '../mail/each.ts'
import { named, type Texts } from '../named.ts'
import { endOf, idsOf, MOST_SORTED } from '../page.ts'
import { SUPPRESSION_COLUMNS } from '../records/suppressions.ts'
import type { Work } from '../sql.ts'
import type {
  AskedAddresses,
  Page,
  PageRequest,
  SuppressedAddresses,
  SuppressibleMail,
  Suppressions,
  WhySuppressed,
} from '../store.ts'
import { type Pace, pageOf, sliceOf, walkSteps, walkTexts } from './slices.ts'

type Filter = Parameters<Suppressions['list']>[0]

const walkedBy = (index: string, equal: Readonly<Record<string, string>> = {}, condition?: string): Texts =>
  walkTexts({
    table: 'suppressions s',
    index: `suppressions_${index}`,
    equal: { 's.organization_id': 'organizationId', ...equal },
    key: 's.id',
    ...(condition === undefined ? {} : { condition }),
  })
/** Few, which are sorted. */
const sorted = (from: string, found: string) => `select s.id as key from suppressions s ${from} where ${found}
  and s.id || '' >= :low and s.id || '' < :high order by s.id || '' desc limit :size`
const ofAddress = (from: string) => sorted(from, 's.organization_id = :organizationId and s.email = :email')
const ofIds = sorted('', 's.id = any(:ids::text[])')

/** What is behind the last @: a quoted local part may have others (RFC 5321 §4.1.2). */
const hostOf = (email: string) => `substr(${email}, length(rtrim(${email}, replace(${email}, '@', ''))) + 1)`

const CONDITIONS = `m.organization_id || '' = :organizationId and (:email::text is null or m.email = :email)
  and (:reason::text is null or m.reason = :reason)
  and (:domainId::text is null or m.domain_id in ('', :domainId))
  and (:stream::text is null or m.stream = :stream) and (:mode::text is null or m.mode = :mode)
  and (:part::text is null or strpos(m.email, :part) = 1 or strpos(${hostOf('m.email')}, :part) = 1)
  and (:createdAfter::bigint is null or m.created_at >= :createdAfter)
  and (:createdBefore::bigint is null or m.created_at < :createdBefore)`
const inSlices = (walk: Texts) =>
  sliceOf<Suppression, string>(walk, {
    table: 'suppressions',
    key: 'id',
    columns: SUPPRESSION_COLUMNS,
    conditions: { text: CONDITIONS, sqlite: CONDITIONS },
  })
const SLICES = {
  organization: inSlices(walkedBy('of_organization')),
  reason: inSlices(walkedBy('by_reason', { 's.reason': 'reason' })),
  stream: inSlices(walkedBy('by_stream', { 's.stream': 'stream' }, `s.stream <> ''`)),
  address: inSlices({ text: ofAddress(''), sqlite: ofAddress('indexed by suppressions_by_address') }),
  ids: inSlices({ text: ofIds, sqlite: ofIds }),
}

const begins = (part: string, from = '') => `select id from suppressions ${from} where organization_id = :organizationId
  and ${part} >= :beginning and ${part} < :end limit ${MOST_SORTED + 1}`
/** Suppressions whose address or its host begins so, in the order of bytes. */
const BEGINNING = [
  named<{ id: string }>({
    text: begins('(email collate "C")'),
    sqlite: begins('email', 'indexed by suppressions_by_address'),
  }),
  named<{ id: string }>({
    text: begins(`(${hostOf('email')} collate "C")`),
    sqlite: begins(hostOf('email'), 'indexed by suppressions_by_host'),
  }),
]

/** Suppressions that match every given part of the filter, newest first. */
export function* listSuppressions(filter: Filter, page: PageRequest, pace: Pace): Work<Page<Suppression>> {
  const { organizationId, email, beginning = null } = filter
  const ids = beginning === null || email !== null ? null : yield* beginningWith(organizationId, beginning)
  const { low, high } = idsOf('sup', filter, page)
  const walk = email !== null ? 'address' : ids === null ? walkOf(filter) : 'ids'
  const asked = { ...filter, low, ids, part: walk === 'ids' ? null : beginning }
  return yield* pageOf(walkSteps<Suppression, string>(SLICES[walk], asked, pace), high, page, {
    toRecord: ({ key: _, ...suppression }) => suppression,
    // biome-ignore lint/correctness/useYield: a work without statements
    idFrom: function* (id) {
      return id
    },
    pace,
  })
}

function walkOf({ reason, stream }: Filter): keyof typeof SLICES {
  if (stream !== null && stream !== undefined) return 'stream'
  return reason === null ? 'organization' : 'reason'
}

/** IDs of those that begin so; null if they are many. */
function* beginningWith(organizationId: string, beginning: string): Work<string[] | null> {
  const ids = new Set<string>()
  for (const begun of BEGINNING) {
    for (const { id } of yield* begun({ organizationId, beginning, end: endOf(beginning) })) ids.add(id)
    if (ids.size > MOST_SORTED) return null
  }
  return [...ids]
}

interface Address extends SuppressibleMail {
  number: number
  email: string
}

const among = (
  plus: string,
  from: string,
) => `select r.number as number, s.email, s.reason, nullif(s.stream, '') as stream
  from rows r${from} suppressions s where s.organization_id = r.organization_id and s.email = r.email
    and ${plus}s.domain_id in ('', r.domain_id) and ${plus}s.mode in ('live', r.mode)
    and (${plus}s.stream in ('', r.stream) or s.reason = 'complaint' and r.stream <> '${TRANSACTIONAL}')`
const AMONG = each<Address, WhySuppressed & { number: number; email: string }>(
  {
    number: ['int', ({ number }) => number],
    organization_id: ['text', ({ organizationId }) => organizationId],
    domain_id: ['text', ({ domainId }) => domainId],
    mode: ['text', ({ mode }) => mode],
    stream: ['text', ({ stream }) => stream],
    email: ['text', ({ email }) => email],
  },
  among('', ','),
  among('+', ','), // without the plus, SQLite would create a temporary table of each list for every query
)

/** Suppressions.among for several mails → the answers, in their order. */
export function* suppressedAmong(asked: readonly AskedAddresses[]): Work<SuppressedAddresses[]> {
  const addresses = asked.flatMap(({ emails, ...mail }, number) => emails.map((email) => ({ ...mail, number, email })))
  const found = yield* forEach(AMONG, addresses)
  const known = new Map<string, WhySuppressed>()
  for (const { number, email, reason, stream } of found) {
    const key = `${number} ${email}`
    const before = known.get(key)
    if (before === undefined || reason < before.reason) known.set(key, { reason, stream })
  }
  return asked.map(
    ({ emails }, number) =>
      new Map(
        emails.flatMap((email) => {
          const why = known.get(`${number} ${email}`)
          return why === undefined ? [] : [[email, why]]
        }),
      ),
  )
}
