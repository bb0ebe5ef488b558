import { systemClock } from '../../os/clock.ts'
import { servePool } from '../../os/pool-worker.ts'
import { serveThread } from '../../os/thread-entry.ts'
import { messageOf } from '../../os/thrown.ts'
import type { PresentLabel } from '../present-zone.ts'
import type { SignedServer } from '../signed-connection.ts'
import { transferZone } from './transfer.ts'

/** A thread that reads the zone from the operator's name server. */

export interface TransferJob {
  server: SignedServer
  zone: string
  /** Time of day (ms UTC) that signatures count by. */
  now: number
}

/** Why the transfer failed, for people; null: it is whole. */
export interface TransferAnswer {
  labels: PresentLabel[]
  error: string | null
}

serveThread((post) =>
  servePool<TransferJob, TransferAnswer>(post, async ({ server, zone, now }, { working }) => {
    const aheadMs = now - systemClock.now()
    const clock = { now: () => systemClock.now() + aheadMs, sleep: systemClock.sleep }
    const key = { ...server.key, secret: Buffer.from(server.key.secret) } // a copy between threads is no Buffer
    try {
      return { labels: await transferZone({ ...server, key }, zone, { clock, onMessage: working }), error: null }
    } catch (error) {
      return { labels: [], error: messageOf(error) }
    }
  }),
)
