import type { StoredRest } from '../../model/address-rest.ts'
import { type Database, run, sql } from '../sql.ts'

const ENDING = sql<StoredRest>(`select address, destination, rule, times, since, until from address_rests
  where until > $1 order by until desc limit $2`)
const PUT = sql(`insert into address_rests (address, destination, rule, times, since, until)
  values ($1, $2, $3, $4, $5, $6)
  on conflict (address, destination) do update set
    rule = excluded.rule, times = excluded.times, since = excluded.since, until = excluded.until`)
const REMOVE = sql('delete from address_rests where address = $1 and destination = $2')
const REMOVE_BEFORE = sql('delete from address_rests where until < $1')

/** Which sending addresses rest for which destinations, so that a restart does not forget it. */
export function addressRestRecords(database: Database) {
  return {
    /** Those that end after `time` (ms UTC), the last to end first, up to `limit`. */
    endingAfter: (time: number, limit: number): Promise<StoredRest[]> => database.rows(ENDING, time, limit),
    /** In one transaction: adds or replaces `begun`, and removes `ended`. */
    change: (
      begun: readonly StoredRest[],
      ended: readonly Pick<StoredRest, 'address' | 'destination'>[],
    ): Promise<void> =>
      database.write(function* () {
        for (const { address, destination, rule, times, since, until } of inLockOrder(begun))
          yield* run(PUT, address, destination, rule, times, since, until)
        for (const { address, destination } of inLockOrder(ended)) yield* run(REMOVE, address, destination)
      }),
    /** Removes those that ended before `time` (ms UTC). */
    removeBefore: (time: number): Promise<void> => database.run(REMOVE_BEFORE, time),
  }
}

/** Nodes that change several rows lock them in the same order. */
function inLockOrder<Rest extends Pick<StoredRest, 'address' | 'destination'>>(rests: readonly Rest[]): Rest[] {
  const keyOf = ({ address, destination }: Rest) => `${address} ${destination}`
  return rests.toSorted((a, b) => (keyOf(a) < keyOf(b) ? -1 : 1))
}
