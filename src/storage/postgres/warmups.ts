import type { WarmupDay, WarmupKey } from '../../model/warmup.ts'
import type { Warmups } from '../store.ts'
import { textArray } from './arrays.ts'
import type { Reads } from './reads.ts'
import type { Writer } from './writer.ts'

const DAYS = `select address, destination_group as "group", day::float8 as day, sent::float8 as sent,
    delivered::float8 as delivered, deferred::float8 as deferred, blocked::float8 as blocked,
    complaints::float8 as complaints
  from warmup_days where address = any($1::text[]) order by day, address, destination_group`
const NEW = `insert into warmup_days (address, destination_group, day) values ($1, $2, $3::bigint)
  on conflict do nothing`
// The row is locked first, so that two nodes do not count the same mails.
const TAKE = `with row as materialized (
    select sent, least($4::bigint, greatest(0, $5::bigint - sent)) as taken from warmup_days
    where address = $1 and destination_group = $2 and day = $3::bigint for update)
  update warmup_days set sent = warmup_days.sent + row.taken from row
  where address = $1 and destination_group = $2 and day = $3::bigint
  returning row.taken::float8 as taken, warmup_days.sent::float8 as sent`
const ADD = `update warmup_days set sent = greatest(0, sent + $4::bigint), delivered = delivered + $5::bigint,
    deferred = deferred + $6::bigint, blocked = blocked + $7::bigint, complaints = complaints + $8::bigint
  where address = $1 and destination_group = $2 and day = $3::bigint`

export function postgresWarmups(reads: Reads, writer: Writer): Warmups {
  return {
    days: (addresses) => reads.query<WarmupDay>(DAYS, [textArray([...addresses])]),
    take: (requests) =>
      writer.write(async ({ query, run }) => {
        const answers = new Map<object, { taken: number; sent: number }>()
        for (const request of inLockOrder(requests)) {
          const { address, group, day, count, most } = request
          await run(NEW, [address, group, day])
          const [row] = await query<{ taken: number; sent: number }>(TAKE, [address, group, day, count, most])
          answers.set(request, row ?? { taken: 0, sent: most })
        }
        return requests.map((request) => answers.get(request)!)
      }),
    add: (entries) =>
      writer.write(async ({ run }) => {
        for (const { address, group, day, ...counts } of inLockOrder(entries)) {
          const { sent = 0, delivered = 0, deferred = 0, blocked = 0, complaints = 0 } = counts
          await run(NEW, [address, group, day])
          await run(ADD, [address, group, day, sent, delivered, deferred, blocked, complaints])
        }
      }),
  }
}

/** Nodes that change several rows lock them in the same order. */
const inLockOrder = <Row extends WarmupKey>(rows: readonly Row[]): Row[] => {
  const keyOf = ({ address, day, group }: WarmupKey) => `${address} ${day} ${group}`
  return rows.toSorted((a, b) => (keyOf(a) < keyOf(b) ? -1 : 1))
}
