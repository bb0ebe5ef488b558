import { ERASURES_TOGETHER, type ErasedCounts, type Erasure, NOTHING_ERASED } from '../../model/erasure.ts'
import type { Encryption } from '../encryption.ts'
import { hashOfAddress } from '../erased-address.ts'
import type { ErasureJob, ErasureStep, ErasureWork } from '../erasure-work.ts'
import { ERASE_MAIL } from '../mail/erase.ts'
import { insideMail } from '../mail/inside.ts'
import { type Page, type RecordsRequest, rangeOf, toPage } from '../page.ts'
import { changed, type Database, row, run, sql, type Work } from '../sql.ts'
import { ERASE_RECORDS } from './erasure-works.ts'

/** A row of `erasures`; `removed` and `remaining` are JSON. */
type ErasureRow = Omit<Erasure, 'removed' | 'remaining'> & { removed: string; remaining: string }

/** A running one: its address encrypted, and the step that follows. */
type RunningRow = ErasureRow & { address: Uint8Array; step: number; after: string; isWaiting: boolean }

/** Places that the record of an erasure lists. */
const REMAINING_MAX = 100
/** How long an erasure pauses that could not erase everything yet. */
const PAUSE_MS = 30_000
/** Step that performs the first work again and no other while that has to wait, because the others read all events. */
const LOOKS_AGAIN = -1

const COLUMNS = `id, organization_id as "organizationId", address_hash as "addressHash", created_at as "createdAt",
  finished_at as "finishedAt", removed, remaining`
const GET = sql<ErasureRow>(`select ${COLUMNS} from erasures where id = $1`)
const LIST = sql<ErasureRow>(`select ${COLUMNS} from erasures
  where organization_id = $1 and id < $2 and created_at >= $3 and created_at < $4 order by id desc limit $5`)
const RUNNING_OF = sql<ErasureRow>(`select ${COLUMNS} from erasures
  where finished_at is null and address_hash = $1 and organization_id = $2`)
const RUNNING = sql<{ count: number }>(
  'select count(*) as count from erasures where finished_at is null and organization_id = $1',
)
const IS_DUE = sql<{ due: number }>('select 1 as due from erasures where finished_at is null and next_at <= $1 limit 1')
// When this node takes over, another one may still be performing the step. It has locked the row, so this node skips it.
const DUE = sql<RunningRow>(`select ${COLUMNS}, address, step, after, is_waiting::boolean as "isWaiting" from erasures
  where finished_at is null and next_at <= $1 order by next_at limit 1 for update skip locked`)
const ADD = sql(`insert into erasures (id, organization_id, address_hash, address, created_at, step, after, is_waiting,
    next_at, removed)
  values ($1, $2, $3, $4::bytea, $5::bigint, 0, '', false, $5::bigint, $6)`)
const CONTINUE =
  sql(`update erasures set step = $2, after = $3, is_waiting = $4, next_at = $5, finished_at = $6::bigint,
    removed = $7, remaining = $8, address = case when $6::bigint is null then address end where id = $1`)

/** Erases what names a recipient in an organization, in small steps that survive a restart. Twice is harmless.
 *
 *  Messages to nobody else are removed with everything that belongs to them, and so are inbound messages from or to the
 *  address with the messages that forwarded them. Messages with other recipients lose the address, its attempts and their
 *  content. Events and stored responses that contain the address are removed. Suppressions keep a keyed hash. Counts and
 *  statistics stay. Users, invitations, routes and forward targets stay, and the erasure lists them.
 *
 *  Open deliveries to the address are cancelled first. While an attempt is in progress, or other recipients of a message
 *  still wait for its content, the erasure waits. Messages accepted after it began stay.
 *
 *  `space` overwrites the bytes that removed records left in the file. `afterStep` runs once a step is written. */
export function erasureRecords(
  database: Database,
  options: {
    space?: ErasureWork | undefined
    encryption: Encryption
    key: () => Promise<Uint8Array>
    afterStep?: ((isLast: boolean) => Promise<void>) | undefined
  },
) {
  const { space, encryption, key, afterStep } = options
  const works = [...ERASE_MAIL, ...ERASE_RECORDS, ...(space === undefined ? [] : [space])]
  return {
    /** Begins an erasure at `now`; if one of the same address runs, returns that one. Null if the organization has
     *  ERASURES_TOGETHER running. `email` is folded. */
    begin: async (asked: {
      id: string
      organizationId: string
      email: string
      now: number
    }): Promise<Erasure | null> => {
      const { id, organizationId, email, now } = asked
      const hash = hashOfAddress(await key(), organizationId, email)
      return database.write(function* () {
        const running = yield* row(RUNNING_OF, hash, organizationId)
        if (running !== null) return toErasure(running)
        if (((yield* row(RUNNING, organizationId))?.count ?? 0) >= ERASURES_TOGETHER) return null
        yield* changed('erasure', organizationId)
        const address = encryption.encrypt(email, placeOfAddress(id))
        yield* run(ADD, id, organizationId, hash, address, now, JSON.stringify(NOTHING_ERASED))
        return {
          ...{ id, organizationId, addressHash: hash, createdAt: now, finishedAt: null },
          ...{ removed: NOTHING_ERASED, remaining: [] },
        }
      }, 'settings')
    },
    get: async (id: string): Promise<Erasure | null> => {
      const found = await database.row(GET, id)
      return found === null ? null : toErasure(found)
    },
    /** Running and finished ones of the organization. */
    list: async (organizationId: string, page: RecordsRequest): Promise<Page<Erasure>> =>
      toPage(await database.rows(LIST, organizationId, ...rangeOf(page)), page, toErasure),
    /** Performs one step of an erasure that is due; false if none is. It asks `timeIsUp` when the step begins and after each
     *  record. */
    step: async (now: number, timeIsUp: () => boolean): Promise<boolean> => {
      if ((await database.row(IS_DUE, now)) === null) return false
      const done = await database.write(function* () {
        timeIsUp() // the time begins here, after the wait for the writer
        const next = yield* row(DUE, now)
        if (next === null) return null
        const address = encryption.decrypt(next.address, placeOfAddress(next.id)).toString()
        const { organizationId, addressHash, createdAt } = next
        return yield* proceed(next, works, { organizationId, address, addressHash, createdAt, now, timeIsUp })
      })
      if (done === null) return false
      await afterStep?.(done === 'finished')
      return true
    },
  }
}

/** Performs the next step of an erasure, and notes where it continues. */
function* proceed(of: RunningRow, works: readonly ErasureWork[], job: ErasureJob): Work<'finished' | 'more'> {
  const work = works[placeOfStep(of.step)]
  const done: ErasureStep = work === undefined ? { after: null } : yield* work(yield* insideMail(), job, of.after)
  const { step, after, isWaiting, nextAt, finishedAt } = nextOf(of, done, { steps: works.length, now: job.now })
  const removed = withRemoved(of.removed, done.removed ?? {})
  const remaining = done.remaining === undefined ? of.remaining : JSON.stringify(done.remaining.slice(0, REMAINING_MAX))
  yield* run(CONTINUE, of.id, step, after, isWaiting, nextAt, finishedAt, removed, remaining)
  return finishedAt === null ? 'more' : 'finished'
}

/** Step of a row → its place in the list of works. */
const placeOfStep = (step: number) => (step === LOOKS_AGAIN ? 0 : step)

/** Where a row continues, from the result of its step and the number of steps. */
function nextOf(
  row: RunningRow,
  { after, isWaiting = false }: ErasureStep,
  { steps, now }: { steps: number; now: number },
) {
  const at = {
    step: row.step,
    after: after ?? '',
    isWaiting: row.isWaiting || isWaiting,
    nextAt: now,
    finishedAt: null,
  }
  if (after !== null) return at
  if (at.isWaiting && (row.step === LOOKS_AGAIN || row.step + 1 === steps))
    return { ...at, step: LOOKS_AGAIN, isWaiting: false, nextAt: now + PAUSE_MS }
  const next = placeOfStep(row.step) + 1
  return next < steps ? { ...at, step: next } : { ...at, finishedAt: now }
}

/** What an erasure removed so far (JSON), and what a step removed → both, as JSON. */
function withRemoved(removed: string, more: Partial<ErasedCounts>): string {
  const sum: ErasedCounts = { ...JSON.parse(removed) }
  for (const name of Object.keys(NOTHING_ERASED) as (keyof ErasedCounts)[]) sum[name] += more[name] ?? 0
  return JSON.stringify(sum)
}

function toErasure({ removed, remaining, ...row }: ErasureRow): Erasure {
  return { ...row, removed: JSON.parse(removed), remaining: JSON.parse(remaining) }
}

/** ID of an erasure → what its encrypted address is bound to (Encryption). */
const placeOfAddress = (id: string) => `erasures ${id}`
