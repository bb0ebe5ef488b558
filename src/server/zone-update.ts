import type { Config } from '../config/load.ts'
import { zoneSettings } from '../domains/zone-records.ts'
import { connectToUpdate } from '../name-server/update-client.ts'
import { type PresentZone, readPresentZone, writeZone } from '../name-server/zone-updater.ts'
import type { WallClock } from '../os/clock.ts'
import type { Log } from '../os/log.ts'
import type { Store } from '../storage/store.ts'
import { nodeHosts } from './name-server.ts'

/** Writes the zone into the operator's own name server (`dns.update`); null if that is off. The function starts one run if none
 *  is under way and the last failure is long enough ago; it never throws. For the leader only. What the server has is read
 *  at the first run, after a failure and once an hour; between, a run without changes sends nothing. */
export function createZoneUpdates(
  config: Config,
  { store, clock, log }: { store: Store; clock: WallClock; log: Log },
): (() => void) | null {
  const { server, keyName, key, algorithm } = config.dns.update
  if (server === null) return null
  const target = { ...server, key: { name: keyName, algorithm, secret: Buffer.from(key, 'base64') } }
  let present: PresentZone | null = null
  let readAt = 0
  let failures = 0
  let mayRunAt = 0
  let isRunning = false

  const run = async () => {
    const settings = zoneSettings(config, await nodeHosts(store))
    if (settings === null) throw new Error('dns.update without dns.zone') // the rules of the config exclude it
    const { now } = clock
    // TSIG needs the time of day; a connection costs one packet each way if nothing changed.
    const connection = await connectToUpdate(target, now)
    try {
      if (present === null || now() - readAt >= READ_MS) {
        present = await readPresentZone(connection, settings.zone)
        readAt = now()
      }
      const { changed, foreign } = await writeZone(store, settings, { connection, present, keyName })
      if (changed > 0) log.info('zone written to the name server', { domains: changed })
      if (foreign.length > 0)
        log.warn('the name server has names that this server did not make', { names: foreign.slice(0, MOST_NAMED) })
    } finally {
      connection.close()
    }
  }

  return () => {
    const { now } = clock.steady
    if (isRunning || now() < mayRunAt) return
    isRunning = true
    run()
      .then(
        () => {
          failures = 0
        },
        (error) => {
          present = null
          failures++
          mayRunAt = now() + Math.min(LONGEST_WAIT_MS, FIRST_WAIT_MS * 2 ** (failures - 1))
          log.error('zone not written to the name server', { server: `${server.host}:${server.port}`, error })
        },
      )
      .finally(() => {
        isRunning = false
      })
  }
}

const READ_MS = 60 * 60_000
const FIRST_WAIT_MS = 15_000
const LONGEST_WAIT_MS = 10 * 60_000
const MOST_NAMED = 5
