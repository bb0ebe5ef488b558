import type { DueIndex } from '../due-index.ts'
import { PENDING } from '../mail/fan-out.ts'
import { dueTimes } from '../mail/leases.ts'
import { PendingFanOuts } from '../mail/pending-fan-outs.ts'
import { dueIndexes, QUEUE_NAMES, type QueueName } from '../mail/queue-tables.ts'
import { rows } from '../sql.ts'
import { readingOn } from './database.ts'
import type { Connection } from './driver.ts'
import type { ForeignChanges } from './foreign.ts'

/** What waits in the queues of mail, as kept in memory. */
export interface Waiting extends Record<QueueName, DueIndex> {
  fanOuts: PendingFanOuts
}

/** Reads what waits, now and whenever another process has written. */
export function readWaiting(db: Connection, foreign: ForeignChanges): Waiting {
  const waiting = { ...dueIndexes(), fanOuts: new PendingFanOuts() }
  const readNow = readingOn(db)
  const read = () => {
    for (const queue of QUEUE_NAMES) {
      waiting[queue].clear()
      for (const { key, at } of readNow(dueTimes(queue))) if (at !== null) waiting[queue].offer(key, at)
    }
    waiting.fanOuts.fill(readNow(rows(PENDING)).map(({ id }) => id))
  }
  read()
  foreign.onChange(read)
  return waiting
}
