import type { StoredRest } from '../../model/address-rest.ts'
import type { AddressRests } from '../store.ts'
import type { Connection } from './driver.ts'
import type { Writer } from './writer.ts'

const ENDING = `select address, destination, rule, times, since, until from address_rests
  where until > ? order by until desc limit ?`
const PUT = `insert into address_rests (address, destination, rule, times, since, until) values (?, ?, ?, ?, ?, ?)
  on conflict (address, destination) do update set
    rule = excluded.rule, times = excluded.times, since = excluded.since, until = excluded.until`
const REMOVE = 'delete from address_rests where address = ? and destination = ?'
const REMOVE_BEFORE = 'delete from address_rests where until < ?'

export function sqliteAddressRests(db: Connection, writer: Writer): AddressRests {
  const ending = db.prepare<unknown[], StoredRest>(ENDING)
  const put = db.prepare(PUT)
  const remove = db.prepare(REMOVE)
  const removeBefore = db.prepare(REMOVE_BEFORE)
  return {
    endingAfter: async (time, limit) => ending.all(time, limit),
    change: (begun, ended) =>
      writer.write(() => {
        for (const { address, destination, rule, times, since, until } of begun) {
          put.run(address, destination, rule, times, since, until)
        }
        for (const { address, destination } of ended) remove.run(address, destination)
      }),
    removeBefore: (time) =>
      writer.write(() => {
        removeBefore.run(time)
      }),
  }
}
