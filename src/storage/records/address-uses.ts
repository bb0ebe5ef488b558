import { type Database, run, sql } from '../sql.ts'

export interface AddressCount {
  address: string
  attempts: number
  delivered: number
}

const ADD = sql(`insert into address_hours as known (hour, address, attempts, delivered) values ($1, $2, $3, $4)
  on conflict (hour, address) do update set attempts = known.attempts + excluded.attempts,
    delivered = known.delivered + excluded.delivered`)
const REMOVE = sql('delete from address_hours where hour < $1')
const SINCE = sql<AddressCount>(`select address, sum(attempts)::float8 as attempts, sum(delivered)::float8 as delivered
  from address_hours where hour >= $1 group by address order by address`)

const KEPT_HOURS = 48

/** Attempts from sending addresses, by hour. */
export function addressUseRecords(database: Database) {
  return {
    /** Adds the counts of all nodes to an hour (hours since 1970), and removes those of hours before the last two days. */
    add: (hour: number, counts: readonly AddressCount[]): Promise<void> =>
      database.write(function* () {
        // In one order, in which every node locks the rows.
        for (const { address, attempts, delivered } of counts.toSorted((a, b) => (a.address < b.address ? -1 : 1)))
          yield* run(ADD, hour, address, attempts, delivered)
        yield* run(REMOVE, hour - KEPT_HOURS)
      }),
    /** Sums from that hour on, of addresses with attempts. */
    since: (hour: number): Promise<AddressCount[]> => database.rows(SINCE, hour),
  }
}
