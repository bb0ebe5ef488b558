import type { Zone } from '../../src/cli/try/zone-server.ts'
import { createResolver } from '../../src/net/dns/resolver.ts'
import { type Clock, systemClock } from '../../src/os/clock.ts'
import { type Log, silentLog } from '../../src/os/log.ts'
import { systemRandom } from '../../src/os/random.ts'
import { type Runner, threadRunner } from '../../src/os/thread-pool.ts'
import { createReaders, type READING_LIMITS, type Readers } from '../../src/receiving/inbound/readers.ts'
import { createReaderStarter } from '../../src/server/inbound-readers.ts'

/** A reader as a thread. */
export const startThread = threadRunner(
  () => new Worker(new URL('../../src/receiving/inbound/worker.ts', import.meta.url).href),
)

/** A reader as a child process, as a server starts it. */
export const startProcess = () => createReaderStarter({}).start()

export function openReaders(
  zone: Zone,
  options: {
    start?: () => Runner
    count?: number
    clock?: Clock
    log?: Log
    authenticationMs?: number
    hostname?: string
    limits?: Partial<typeof READING_LIMITS>
  } = {},
): Readers {
  const { start = startThread, count = 1, clock = systemClock, log = silentLog, limits = {} } = options
  const { authenticationMs = 20_000, hostname = 'mx.b.test' } = options
  const resolver = createResolver({ servers: [zone.address], clock: systemClock, random: systemRandom })
  return createReaders({ start, count, settings: { hostname, authenticationMs }, resolver, clock, log, limits })
}
