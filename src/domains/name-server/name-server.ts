import type { Clock } from '../../os/clock.ts'
import type { Log } from '../../os/log.ts'
import type { Runner } from '../../os/runner.ts'
import { createSupervisor, type PoolEvent, type Supervised } from '../../os/supervisor.ts'
import type { Store } from '../../storage/store.ts'
import type { ZoneSettings } from '../zone-records.ts'
import { type Counts, noCounts } from './counts.ts'
import { publish, type Sent } from './publisher.ts'
import type { FromNameServer, NameServerSettings, ToNameServer } from './worker.ts'

/** The running name server. */
export interface NameServer {
  /** Bound addresses, in the order of the settings. */
  listening: { host: string; port: number }[]
  /** Domains may have changed: the zone follows within seconds. */
  changed(): void
  /** Since the start. */
  counts: () => Counts
  stop(): void
}

export interface NameServerDeps {
  start: () => Runner
  settings: NameServerSettings
  /** What the zone's records depend on now. */
  zoneSettings: () => Promise<ZoneSettings>
  store: Pick<Store, 'organizations' | 'domains'>
  clock: Clock
  log: Log
  onEvent?: (event: PoolEvent) => void
}

/** An address could not be bound: its index in the settings, and the system's code. */
export class BindFailure extends Error {
  constructor(
    readonly index: number,
    readonly code: string,
    message: string,
  ) {
    super(message)
  }
}

/** Starts the thread, binds its addresses and sends it the zone. Resolves when it answers. Rejects with a BindFailure or with
 *  the store's error. A thread that ends is replaced. The store is read when something may have changed, and twice a minute
 *  because of other nodes and the command line; never for a query. */
export async function openNameServer(deps: NameServerDeps): Promise<NameServer> {
  const server = new NameServerThread(deps)
  try {
    await server.open()
  } catch (error) {
    server.stop()
    throw error
  }
  return server
}

interface State {
  sent: Sent
  isLoaded: boolean
}

class NameServerThread implements NameServer {
  readonly #deps: NameServerDeps
  readonly #supervisor
  readonly #stopped = new AbortController()
  readonly #bound = Promise.withResolvers<number[]>()
  readonly #counts = noCounts()
  #listen: NameServerSettings['listen']
  #current: Supervised<State> | null = null
  #woken = new AbortController()

  constructor(deps: NameServerDeps) {
    this.#deps = deps
    this.#listen = deps.settings.listen
    this.#supervisor = createSupervisor<State>({
      name: 'name_server',
      start: deps.start,
      computeMs: COMPUTE_MS,
      settingsOf: () => ({ ...deps.settings, listen: this.#listen }),
      clock: deps.clock,
      log: deps.log,
      onEvent: deps.onEvent,
      isBusy: () => false, // a packet costs microseconds, so no thread is ended for its work
      onMessage: (runner, message) => this.#receive(runner, message as FromNameServer),
      onEnd: (runner) => {
        if (this.#current === runner) this.#current = null
        this.#startIfMay()
      },
      onMayStart: () => this.#startIfMay(),
    })
  }

  get listening() {
    return [...this.#listen]
  }

  async open(): Promise<void> {
    this.#startIfMay()
    const ports = await this.#bound.promise
    // A thread that is replaced takes the same ports.
    this.#listen = this.#listen.map(({ host }, at) => ({ host, port: ports[at] ?? 0 }))
    await this.#publish()
    void this.#follow()
  }

  changed(): void {
    this.#woken.abort()
  }

  readonly counts = (): Counts => this.#counts

  stop(): void {
    this.#stopped.abort()
    this.#woken.abort()
    this.#bound.promise.catch(() => {})
    this.#bound.reject(new Error('stopped'))
    this.#supervisor.stop()
  }

  #startIfMay(): void {
    if (this.#current !== null || !this.#supervisor.mayStart()) return
    this.#current = this.#supervisor.start({ sent: new Map(), isLoaded: false })
    this.changed()
  }

  #receive(runner: Supervised<State>, message: FromNameServer): void {
    if (message.kind === 'bound') this.#bound.resolve(message.ports)
    else if (message.kind === 'counts') this.#add(message.counts)
    else if (message.kind === 'not_put')
      this.#deps.log.error('DNS records not served', { of: message.what, error: message.error })
    else if (message.kind === 'failed') {
      this.#bound.reject(new BindFailure(message.index, message.code, message.message))
      const at = this.#listen[message.index]
      this.#deps.log.error('name server cannot listen', { address: at?.host, port: at?.port, error: message.message })
      this.#supervisor.end(runner, 'died', null, message.message)
    }
  }

  #add({ queries, slipped, dropped, failed, lastError }: Counts): void {
    if (failed > 0) this.#deps.log.error('DNS answer failed', { failed, error: lastError })
    for (const [key, count] of Object.entries(queries))
      this.#counts.queries[key] = (this.#counts.queries[key] ?? 0) + count
    this.#counts.slipped += slipped
    this.#counts.dropped += dropped
    this.#counts.failed += failed
  }

  /** Sends what changed. A thread that was replaced meanwhile gets nothing of it; the next turn sends it everything. */
  async #publish(): Promise<void> {
    const runner = this.#current
    if (runner === null) return
    const { store, zoneSettings } = this.#deps
    const send = (message: ToNameServer) => runner.send(message)
    await publish(store, await zoneSettings(), runner.state.sent, send)
    if (runner.state.isLoaded) return
    runner.state.isLoaded = true
    send({ kind: 'loaded' })
  }

  async #follow(): Promise<void> {
    const { clock, log } = this.#deps
    const { signal } = this.#stopped
    let pauseMs = PAUSE_MS
    while (!signal.aborted) {
      await clock.sleep(REFRESH_MS, this.#woken.signal)
      await clock.sleep(pauseMs, signal)
      if (signal.aborted) return
      this.#woken = new AbortController()
      const startedAt = clock.now()
      try {
        await this.#publish()
      } catch (error) {
        log.warn('zone not updated, it keeps its records', { error })
      }
      pauseMs = Math.max(PAUSE_MS, 10 * (clock.now() - startedAt))
    }
  }
}

/** Changes of other nodes and of the command line are seen after this time. */
const REFRESH_MS = 30_000
/** Several changes at once are one update. */
const PAUSE_MS = 500
const COMPUTE_MS = 60_000
