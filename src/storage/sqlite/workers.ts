import type { Workers } from '../store.ts'
import type { Connection } from './driver.ts'

const HOLDERS = ['deliveries', 'webhook_deliveries', 'inbound_deliveries']
  .map((table) => `select worker from ${table} where worker is not null`)
  .join(' union ')

/** Workers of a data directory. Its lock (lock.ts) lets only one process serve at a time, so every other holder has ended. */
export function sqliteWorkers(db: Connection): Workers {
  const holders = db.prepare<unknown[], string>(HOLDERS).pluck()
  return { ended: async (self) => holders.all().filter((worker) => worker !== self) }
}
