import { type CountRow, toRelayCount } from '../relay-rows.ts'
import type { BegunRelay, Relays } from '../store.ts'
import type { Connection } from './driver.ts'
import type { Writer } from './writer.ts'

const BEGIN = `insert into relay_attempts (delivery_id, attempt, relay, begun_at) values (?, ?, ?, ?)
  on conflict do update set attempt = excluded.attempt, relay = excluded.relay, begun_at = excluded.begun_at`
const BEGUN = 'select attempt, relay from relay_attempts where delivery_id = ?'
const PRUNE = `delete from relay_attempts where delivery_id in (
  select delivery_id from relay_attempts where begun_at < ? order by begun_at limit ?)`
const COUNT = `insert into relay_counts (relay, month, sent, failed, failed_at, error) values (?, ?, ?, ?, ?, ?)
  on conflict do update set sent = sent + excluded.sent, failed = failed + excluded.failed,
    failed_at = coalesce(excluded.failed_at, failed_at), error = coalesce(excluded.error, error)`
const COUNTS = `select relay, month, sent, failed, failed_at as failedAt, error from relay_counts
  where month = ? order by relay`

export function sqliteRelays(db: Connection, writer: Writer): Relays {
  const begin = db.prepare(BEGIN)
  const begun = db.prepare<unknown[], BegunRelay>(BEGUN)
  const prune = db.prepare(PRUNE)
  const count = db.prepare(COUNT)
  const counts = db.prepare<unknown[], CountRow>(COUNTS)
  return {
    begin: (deliveryId, { attempt, relay, now }) =>
      writer.write(() => {
        begin.run(deliveryId, attempt, relay, now)
      }),
    begun: async (deliveryId) => begun.get(deliveryId) ?? null,
    pruneBegun: (before, limit) => writer.write(() => Number(prune.run(before, limit).changes)),
    count: (given) =>
      writer.write(() => {
        for (const { relay, month, sent, failed, lastError } of given) {
          count.run(relay, month, sent, failed, lastError?.at ?? null, lastError?.message ?? null)
        }
      }),
    counts: async (month) => counts.all(month).map(toRelayCount),
  }
}
