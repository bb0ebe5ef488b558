import type { WarmupCounts, WarmupDay, WarmupKey } from '../../model/warmup.ts'
import { type Database, row, run, sql, type Work } from '../sql.ts'

const DAYS = sql<WarmupDay>(`select address, destination_group as "group", day, sent, delivered, deferred, blocked,
    complaints
  from warmup_days where address = any($1::text[]) order by day, address, destination_group`)
const NEW = sql(`insert into warmup_days (address, destination_group, day) values ($1, $2, $3)
  on conflict do nothing`)
const KEY = 'address = $1 and destination_group = $2 and day = $3'
// Locked, so that two nodes do not count the same mails.
const SENT = sql<{ sent: number }>(`select sent from warmup_days where ${KEY} for update`)
const ADD = sql(`update warmup_days set sent = greatest(0, sent + $4::bigint), delivered = delivered + $5::bigint,
    deferred = deferred + $6::bigint, blocked = blocked + $7::bigint, complaints = complaints + $8::bigint
  where ${KEY}`)

type Request = WarmupKey & { count: number; most: number }
interface Taken {
  taken: number
  sent: number
}

/** Counts of sending addresses in warm-up, shared by all nodes. */
export function warmupRecords(database: Database) {
  return {
    /** All days of these addresses, the oldest first. */
    days: (addresses: readonly string[]): Promise<WarmupDay[]> => database.rows(DAYS, addresses),
    /** Counts mails before they are sent: of each request up to `count`, while the day's `sent` stays within `most`. Returns
     *  for each how many were counted, and `sent` after that. No two requests have the same key. */
    take: (requests: readonly Request[]): Promise<Taken[]> =>
      database.write(function* () {
        const answers = new Map<Request, Taken>()
        for (const request of inLockOrder(requests)) answers.set(request, yield* take(request))
        return requests.map((request) => answers.get(request)!) // each has one
      }),
    /** Adds to the counts of days; a negative `sent` takes back mails that were not sent. No count falls below 0. No two
     *  entries have the same key. */
    add: (entries: readonly (WarmupKey & Partial<WarmupCounts>)[]): Promise<void> =>
      database.write(function* () {
        for (const { address, group, day, ...counts } of inLockOrder(entries)) {
          const { sent = 0, delivered = 0, deferred = 0, blocked = 0, complaints = 0 } = counts
          yield* run(NEW, address, group, day)
          yield* run(ADD, address, group, day, sent, delivered, deferred, blocked, complaints)
        }
      }),
  }
}

/** Takes up to `count` mails, while fewer than `most` are sent → how many, and how many are sent with them. */
function* take({ address, group, day, count, most }: Request): Work<Taken> {
  yield* run(NEW, address, group, day)
  const before = (yield* row(SENT, address, group, day))?.sent ?? most
  const taken = Math.max(0, Math.min(count, most - before))
  if (taken > 0) yield* run(ADD, address, group, day, taken, 0, 0, 0, 0)
  return { taken, sent: before + taken }
}

/** Nodes that change several rows lock them in the same order. */
const inLockOrder = <Row extends WarmupKey>(rows: readonly Row[]): Row[] => {
  const keyOf = ({ address, day, group }: WarmupKey) => `${address} ${day} ${group}`
  return rows.toSorted((a, b) => (keyOf(a) < keyOf(b) ? -1 : 1))
}
