import { type Config, formatEndpoint } from '../config/load.ts'
import { BindFailure, type NameServer, openNameServer } from '../domains/name-server/name-server.ts'
import { zoneSettings } from '../domains/zone-records.ts'
import { systemClock } from '../os/clock.ts'
import type { Log } from '../os/log.ts'
import { threadRunner } from '../os/runner.ts'
import type { PoolEvent } from '../os/supervisor.ts'
import type { Store } from '../storage/store.ts'
import { startNameServerThread } from '../threads.ts'
import { ListenFailure } from './listeners.ts'

/** Opens the listener of the delegated zone; null if it is off. Throws a ListenFailure, or the store's error. */
export async function openZoneListener(
  config: Config,
  { store, log, onEvent }: { store: Store; log: Log; onEvent: (event: PoolEvent) => void },
): Promise<NameServer | null> {
  const { listen, responsesPerSecond } = config.dns
  if (listen.length === 0) return null
  try {
    return await openNameServer({
      start: threadRunner(startNameServerThread),
      settings: { listen, responsesPerSecond },
      zoneSettings: async () => {
        const settings = zoneSettings(config, await nodeHosts(store))
        if (settings === null) throw new Error('dns.listen without dns.zone') // the rules of the config exclude it
        return settings
      },
      store,
      clock: systemClock.steady, // a thread runs in real time
      log,
      onEvent,
    })
  } catch (error) {
    const at = error instanceof BindFailure ? listen[error.index] : undefined
    throw at === undefined ? error : new ListenFailure('dns.listen', at, error)
  }
}

/** Hostnames of all nodes; [] with SQLite. */
export async function nodeHosts({ nodes }: Pick<Store, 'nodes'>): Promise<string[]> {
  return (await nodes.list()).flatMap(({ hostname }) => (hostname === '' ? [] : [hostname.toLowerCase()]))
}

/** The addresses of the listener, for the log; null if it is off. */
export const listeningText = (server: NameServer | null) =>
  server === null ? null : server.listening.map(formatEndpoint).join(' ')
