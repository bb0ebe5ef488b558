import { backoffMs } from './backoff.ts'
import { type Clock, systemClock } from './clock.ts'
import type { Log } from './log.ts'
import { systemRandom } from './random.ts'
import { fieldOf } from './records.ts'
import type { Runner } from './runner.ts'
import { createMarked, type Marked } from './work-board.ts'

/** Starts runners, ends and replaces those that block their thread too long, and reports which job blocked it. The
 *  owner assigns jobs and decides about the jobs of an ended runner. */
export interface Supervisor<State> {
  /** Current runners, including those that are still starting. */
  readonly runners: readonly Supervised<State>[]
  /** Starts one more runner, unless `mayStart` is false. */
  start(state: State): Supervised<State>
  /** False for a while after runners died repeatedly; `onMayStart` reports the end of that time. */
  mayStart(): boolean
  /** Watches a runner that was given work, until `isBusy` is false for all runners. */
  watch(): void
  /** `error`: why it died. */
  end(supervised: Supervised<State>, cause: EndCause, culprit: number | null, error?: string): void
  /** Ends all runners and starts no more. */
  stop(): void
}

/** A runner and the state that its owner keeps for it. */
export interface Supervised<State> {
  readonly state: State
  /** True once the runner reported that it is ready. */
  isReady: boolean
  send(message: unknown, transfer?: ArrayBuffer[]): void
}

/** `over_budget`: it blocked its thread too long, or one of its jobs took too long in total. `died`: it ended by
 *  itself, with jobs or before it was ready. */
export type EndCause = 'over_budget' | 'died' | 'idle' | 'stopped'

export type PoolEvent =
  | { kind: 'started'; pool: string }
  | { kind: 'ended'; pool: string; cause: Exclude<EndCause, 'died'> }
  | { kind: 'ended'; pool: string; cause: 'died'; error: string }
  | { kind: 'poisonous_job'; pool: string }
  /** Jobs of this owner repeatedly ended threads. Its jobs wait, or run one at a time in a separate runner. */
  | { kind: 'owner_apart'; pool: string }

export interface SupervisorOptions<State> {
  name: string
  start: () => Runner
  /** Longest time without a turn of the runner's event loop. Only time in which this thread itself turns counts, so
   *  that a stopped or overloaded process blames no runner. */
  computeMs: number
  /** Plain data that each runner gets at its start. */
  settingsOf: (state: State) => unknown
  /** Clock for waits between restarts. Runners are watched in real time. */
  clock: Clock
  log: Log
  isBusy: (state: State) => boolean
  onMessage: (supervised: Supervised<State>, message: unknown) => void
  onEnd: (supervised: Supervised<State>, end: RunnerEnd) => void
  /** Called repeatedly while a runner is busy, with the time that has passed for all runners. */
  onTick?: (passedMs: number) => void
  onMayStart: () => void
  onEvent?: (event: PoolEvent) => void
}

export interface RunnerEnd {
  cause: EndCause
  /** The job that blocked the thread; null if unknown. */
  culprit: number | null
  wasReady: boolean
  /** Resolves when the runner has stopped working. Ending a thread takes up to about 250 ms. A thread inside a single
   *  engine call, such as a long regular expression (tested with Bun 1.4.5), ends after that call and uses its
   *  processor until then. */
  gone: Promise<void>
}

interface Watched<State> extends Supervised<State> {
  runner: Runner
  marked: Marked
  beat: number
  /** Time since `beat` changed: CPU time if the system reports it, so that a busy machine blames no thread, and wall
   *  time. */
  stillMs: number
  waitedMs: number
  cpuMs: number | null
  gone: PromiseWithResolvers<void>
}

export function createSupervisor<State>(options: SupervisorOptions<State>): Supervisor<State> {
  const { name, computeMs, clock, log, onEvent = () => {} } = options
  const runners: Watched<State>[] = []
  const stopped = new AbortController()
  let deaths = 0
  let resting = false
  let isWatching = false

  const start = (state: State) => {
    const runner = options.start()
    const marked = createMarked(runner.sharesMemory === true)
    const watched: Watched<State> = {
      state,
      isReady: false,
      send: (message, transfer) => runner.send(message, transfer),
      runner,
      marked,
      beat: 0,
      stillMs: 0,
      waitedMs: 0,
      cpuMs: null,
      gone: Promise.withResolvers(),
    }
    runners.push(watched)
    runner.onMessage((message) => {
      if (!runners.includes(watched) || marked.accepts(message)) return
      const kind = fieldOf(message, 'kind')
      if (kind === 'dying') return end(watched, 'died', marked.job(), String(fieldOf(message, 'error')))
      if (kind === 'ready' && !watched.isReady) {
        watched.isReady = true
        watched.stillMs = 0
      } else deaths = 0
      options.onMessage(watched, message)
    })
    runner.onEnd((reason) => {
      watched.gone.resolve()
      end(watched, 'died', marked.job(), reason)
    })
    const settings = options.settingsOf(state)
    runner.send({ kind: 'start', board: marked.board, settings } satisfies StartMessage)
    onEvent({ kind: 'started', pool: name })
    return watched
  }

  const end = (supervised: Supervised<State>, cause: EndCause, culprit: number | null, error = 'unknown') => {
    const watched = runners.find((runner) => runner === supervised)
    if (watched === undefined) return
    runners.splice(runners.indexOf(watched), 1)
    watched.runner.end()
    const wasReady = supervised.isReady
    // A job that ends its thread is tried twice and then given up. Only a thread that ends without a job could restart
    // forever.
    if (cause === 'died' && !(wasReady && options.isBusy(supervised.state))) rest()
    const facts = cause === 'died' ? { pool: name, cause, error } : { pool: name, cause }
    onEvent({ kind: 'ended', ...facts })
    if (cause === 'died' || cause === 'over_budget') log.error('thread ended, starting a new one', facts)
    options.onEnd(supervised, { cause, culprit, wasReady, gone: watched.gone.promise })
  }

  const rest = () => {
    const waitMs = ++deaths === 1 ? 0 : backoffMs(RESTART_SECONDS, deaths - 1, 0.1, systemRandom)
    resting = true
    void clock.sleep(waitMs, stopped.signal).then(() => {
      resting = false
      if (!stopped.signal.aborted) options.onMayStart()
    })
  }

  const watch = async () => {
    if (isWatching) return
    isWatching = true
    let last = systemClock.steady.now()
    while (!stopped.signal.aborted && runners.some(({ state }) => options.isBusy(state))) {
      await systemClock.sleep(TICK_MS, stopped.signal)
      const now = systemClock.steady.now()
      // A late tick means that this thread, and perhaps the whole process, was blocked.
      const passedMs = Math.min(now - last, 2 * TICK_MS)
      last = now
      for (const watched of [...runners]) look(watched, passedMs)
      options.onTick?.(passedMs)
    }
    isWatching = false
  }

  const look = (watched: Watched<State>, passedMs: number) => {
    const beat = watched.marked.beat()
    if (beat !== watched.beat || !options.isBusy(watched.state)) {
      watched.beat = beat
      watched.stillMs = 0
      watched.waitedMs = 0
      watched.cpuMs = null
      return
    }
    const cpuMs = watched.marked.cpuMs()
    const usedMs = cpuMs === null || watched.cpuMs === null ? passedMs : cpuMs - watched.cpuMs
    watched.cpuMs = cpuMs
    watched.stillMs += Math.min(passedMs, usedMs)
    watched.waitedMs += passedMs
    const limitMs = watched.isReady ? computeMs : START_MS
    if (watched.stillMs >= limitMs || watched.waitedMs >= limitMs * MOST_WAITING)
      end(watched, 'over_budget', watched.marked.job())
  }

  return {
    runners,
    start,
    mayStart: () => !resting && !stopped.signal.aborted,
    watch: () => void watch(),
    end,
    stop: () => {
      stopped.abort()
      for (const watched of [...runners]) end(watched, 'stopped', null)
    },
  }
}

/** The first message to each runner, which answers `{ kind: 'ready' }`. */
export interface StartMessage {
  kind: 'start'
  board: SharedArrayBuffer | null
  settings: unknown
}

/** Factor on the budget for a thread that is blocked without computing, or that gets no CPU. Large, because a machine that is
 *  short of CPU must not blame a mail, and a thread that is blocked is rare. */
const MOST_WAITING = 10
const TICK_MS = 50
/** Time to load the code and report ready, on a busy machine. */
const START_MS = 20_000
const RESTART_SECONDS = [1, 5, 15, 30]
