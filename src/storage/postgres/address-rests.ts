import type { StoredRest } from '../../model/address-rest.ts'
import type { AddressRests } from '../store.ts'
import { numberArray, textArray } from './arrays.ts'
import type { Reads } from './reads.ts'
import type { Writer } from './writer.ts'

const ENDING = `select address, destination, rule, times, since::float8 as since, until::float8 as until from address_rests
  where until > $1 order by until desc limit $2`
// `collate "C"`: the order of the keys, so that two nodes lock them in the same order.
const PUT = `insert into address_rests (address, destination, rule, times, since, until)
  select * from unnest($1::text[], $2::text[], $3::text[], $4::int[], $5::bigint[], $6::bigint[])
    as given (address, destination, rule, times, since, until)
  order by address collate "C", destination collate "C"
  on conflict (address, destination) do update set
    rule = excluded.rule, times = excluded.times, since = excluded.since, until = excluded.until`
const REMOVE = `delete from address_rests r using unnest($1::text[], $2::text[]) as given (address, destination)
  where r.address = given.address and r.destination = given.destination`
const REMOVE_BEFORE = 'delete from address_rests where until < $1'

export function postgresAddressRests(reads: Reads, writer: Writer): AddressRests {
  return {
    endingAfter: (time, limit) => reads.query<StoredRest>(ENDING, [time, limit]),
    change: (begun, ended) =>
      writer.write(async ({ run }) => {
        const keysOf = (some: readonly Pick<StoredRest, 'address' | 'destination'>[]) => [
          textArray(some.map(({ address }) => address)),
          textArray(some.map(({ destination }) => destination)),
        ]
        if (begun.length > 0) {
          await run(PUT, [
            ...keysOf(begun),
            textArray(begun.map(({ rule }) => rule)),
            numberArray(begun.map(({ times }) => times)),
            numberArray(begun.map(({ since }) => since)),
            numberArray(begun.map(({ until }) => until)),
          ])
        }
        if (ended.length > 0) await run(REMOVE, keysOf(ended))
      }),
    removeBefore: (time) =>
      writer.write(async ({ run }) => {
        await run(REMOVE_BEFORE, [time])
      }),
  }
}
