import type { StoredRest } from '../../model/address-rest.ts'
import { type Database, run, sql } from '../sql.ts'
import type { AddressRests } from '../store.ts'

const ENDING = sql<StoredRest>(`select address, destination, rule, times, since, until from address_rests
  where until > $1 order by until desc limit $2`)
const PUT = sql(`insert into address_rests (address, destination, rule, times, since, until)
  values ($1, $2, $3, $4, $5, $6)
  on conflict (address, destination) do update set
    rule = excluded.rule, times = excluded.times, since = excluded.since, until = excluded.until`)
const REMOVE = sql('delete from address_rests where address = $1 and destination = $2')
const REMOVE_BEFORE = sql('delete from address_rests where until < $1')

export function addressRestRecords(database: Database): AddressRests {
  return {
    endingAfter: (time, limit) => database.rows(ENDING, time, limit),
    change: (begun, ended) =>
      database.write(function* () {
        for (const { address, destination, rule, times, since, until } of inLockOrder(begun))
          yield* run(PUT, address, destination, rule, times, since, until)
        for (const { address, destination } of inLockOrder(ended)) yield* run(REMOVE, address, destination)
      }),
    removeBefore: (time) => database.run(REMOVE_BEFORE, time),
  }
}

/** Nodes that change several rows lock them in the same order. */
function inLockOrder<Rest extends Pick<StoredRest, 'address' | 'destination'>>(rests: readonly Rest[]): Rest[] {
  const keyOf = ({ address, destination }: Rest) => `${address} ${destination}`
  return rests.toSorted((a, b) => (keyOf(a) < keyOf(b) ? -1 : 1))
}
