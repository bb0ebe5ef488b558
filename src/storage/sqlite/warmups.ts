import type { WarmupDay } from '../../model/warmup.ts'
import type { Warmups } from '../store.ts'
import { type Connection, one } from './driver.ts'
import type { Writer } from './writer.ts'

const DAYS = `select address, destination_group as "group", day, sent, delivered, deferred, blocked, complaints
  from warmup_days where address = ? order by day, destination_group`
const NEW = 'insert into warmup_days (address, destination_group, day) values (?, ?, ?) on conflict do nothing'
const SENT = 'select sent from warmup_days where address = ? and destination_group = ? and day = ?'
const ADD = `update warmup_days set sent = max(0, sent + ?), delivered = delivered + ?, deferred = deferred + ?,
    blocked = blocked + ?, complaints = complaints + ?
  where address = ? and destination_group = ? and day = ?`

export function sqliteWarmups(db: Connection, writer: Writer): Warmups {
  const days = db.prepare<unknown[], WarmupDay>(DAYS)
  const add = db.prepare(ADD)
  const insert = db.prepare(NEW)
  const sentOn = db.prepare<unknown[], number>(SENT).pluck()
  return {
    days: async (addresses) => addresses.flatMap((address) => days.all(address)).sort((a, b) => a.day - b.day),
    take: (requests) =>
      writer.write(() =>
        requests.map(({ address, group, day, count, most }) => {
          insert.run(address, group, day)
          const before = one(sentOn, address, group, day)
          const taken = Math.max(0, Math.min(count, most - before))
          if (taken > 0) add.run(taken, 0, 0, 0, 0, address, group, day)
          return { taken, sent: before + taken }
        }),
      ),
    add: (entries) =>
      writer.write(() => {
        for (const { address, group, day, ...counts } of entries) {
          const { sent = 0, delivered = 0, deferred = 0, blocked = 0, complaints = 0 } = counts
          insert.run(address, group, day)
          add.run(sent, delivered, deferred, blocked, complaints, address, group, day)
        }
      }),
  }
}
