import type { Queues } from '../store.ts'
import { type Connection, one } from './driver.ts'
import { nextTurn } from './page.ts'

/** Entries of a due index counted before other work gets a turn: a millisecond or two. */
const SLICE = 2000

interface Entry {
  key: string
  at: number
  number: number
}
const BEFORE_ALL: Entry = { key: '', at: 0, number: 0 }

/** Counts along the due indexes, which contain only what waits: an idle server has little to count, and a million
 *  entries are counted in turns with other work. */
export function sqliteQueues(db: Connection): Queues {
  const deliveries = counted(db, 'deliveries', 'queue')
  const webhookDeliveries = counted(db, 'webhook_deliveries', 'webhook_id')
  const inboundDeliveries = counted(db, 'inbound_deliveries', 'route_id')
  return {
    waiting: async (now) => ({
      deliveries: await deliveries(now),
      webhookDeliveries: await webhookDeliveries(now),
      inboundDeliveries: await inboundDeliveries(now),
    }),
  }
}

function counted(db: Connection, table: string, key: string) {
  const behind = `from ${table} where next_attempt_at is not null and (${key}, next_attempt_at, number) > (?, ?, ?)
    order by ${key}, next_attempt_at, number limit`
  const sums = db.prepare<
    unknown[],
    { total: number; due: number; earliest: number }
  >(`select count(*) as total, total(at <= ?) as due, min(at) as earliest
    from (select next_attempt_at as at ${behind} ${SLICE})`)
  const last = db.prepare<unknown[], Entry>(
    `select ${key} as key, next_attempt_at as at, number ${behind} 1 offset ${SLICE - 1}`,
  )

  return async (now: number) => {
    const waiting = { due: 0, later: 0, oldestDueAt: null as number | null }
    for (let from: Entry = BEFORE_ALL; ; await nextTurn()) {
      const place = [from.key, from.at, from.number]
      const { total, due, earliest } = one(sums, now, ...place)
      waiting.due += due
      waiting.later += total - due
      if (due > 0) waiting.oldestDueAt = Math.min(earliest, waiting.oldestDueAt ?? earliest)
      if (total < SLICE) return waiting
      from = one(last, ...place)
    }
  }
}
