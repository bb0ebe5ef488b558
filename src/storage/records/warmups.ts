import type { WarmupDay, WarmupKey } from '../../model/warmup.ts'
import { type Database, row, run, sql, type Work } from '../sql.ts'
import type { Warmups } from '../store.ts'

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

export function warmupRecords(database: Database): Warmups {
  return {
    days: (addresses) => database.rows(DAYS, addresses),
    take: (requests) =>
      database.write(function* () {
        const answers = new Map<object, { taken: number; sent: number }>()
        for (const request of inLockOrder(requests)) answers.set(request, yield* take(request))
        return requests.map((request) => answers.get(request)!) // each has one
      }),
    add: (entries) =>
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
function* take({ address, group, day, count, most }: Parameters<Warmups['take']>[0][number]): Work<{
  taken: number
  sent: number
}> {
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
