import { backoffMs } from './backoff.ts'
import { type Clock, systemClock } from './clock.ts'
import type { Log } from './log.ts'
import { systemRandom } from './random.ts'
import type { Runner } from './runner.ts'
import { createMarked, type Marked } from './work-board.ts'

/** Starts runners, watches that none keeps its thread longer than it may, ends and replaces those that do, and says which
 *  job had the thread. Which runner gets which job, and what becomes of the jobs of one that ended, is its owner's. */
export interface Supervisor<State> {
  /** Those that run, also when they have not answered yet. */
  readonly runners: readonly Supervised<State>[]
  /** One more, unless `mayStart` is false. */
  start(state: State): Supervised<State>
  /** False for a while after runners ended by themselves again and again; `onMayStart` says when it is over. */
  mayStart(): boolean
  /** Something was given to a runner: it is watched until `isBusy` is false for all. */
  watch(): void
  end(supervised: Supervised<State>, cause: EndCause, culprit: number | null): void
  /** Ends all of them; nothing is started any more. */
  stop(): void
}

/** One runner and what its owner keeps of it. */
export interface Supervised<State> {
  readonly state: State
  /** It has said that it runs. */
  isReady: boolean
  send(message: unknown, transfer?: ArrayBuffer[]): void
}

/** `over_budget`: it kept its thread too long, or one of its jobs took too long in all. `died`: by itself, while it had
 *  jobs or before it was ready. */
export type EndCause = 'over_budget' | 'died' | 'idle' | 'stopped'

export type PoolEvent =
  | { kind: 'started'; pool: string }
  | { kind: 'ended'; pool: string; cause: EndCause }
  | { kind: 'poisonous_job'; pool: string }
  /** Jobs of an owner ended threads again and again: its jobs wait, or run one at a time in a runner of their own. */
  | { kind: 'owner_apart'; pool: string }

export interface SupervisorOptions<State> {
  name: string
  start: () => Runner
  /** The longest stretch of a runner without a turn of its event loop. Counted only while this thread itself turns, so
   *  that a stopped or overloaded process blames nobody. */
  computeMs: number
  /** Plain data that a runner gets at its start. */
  settingsOf: (state: State) => unknown
  /** For the waits between restarts. What is watched runs in real time, and is watched by it. */
  clock: Clock
  log: Log
  isBusy: (state: State) => boolean
  onMessage: (supervised: Supervised<State>, message: unknown) => void
  onEnd: (supervised: Supervised<State>, end: RunnerEnd) => void
  /** Again and again while a runner is busy, with the time that has passed for all of them. */
  onTick?: (passedMs: number) => void
  onMayStart: () => void
  onEvent?: (event: PoolEvent) => void
}

export interface RunnerEnd {
  cause: EndCause
  /** The job that had the thread then; null = nobody said. */
  culprit: number | null
  wasReady: boolean
  /** It does nothing any more. Ending a thread takes up to some 250 ms; one within a single call of the engine (a long regular
   *  expression, tried on Bun 1.4.5) ends behind that call, and has its processor until then. */
  gone: Promise<void>
}

interface Watched<State> extends Supervised<State> {
  runner: Runner
  marked: Marked
  beat: number
  /** Since `beat` changed: of the processor where the system says it, so that no thread is blamed for a busy machine; and on
   *  the clock. */
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
      if ((message as { kind?: unknown }).kind === 'ready' && !watched.isReady) {
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

  const end = (supervised: Supervised<State>, cause: EndCause, culprit: number | null, reason?: string) => {
    const at = runners.indexOf(supervised as Watched<State>)
    if (at < 0) return
    const [watched] = runners.splice(at, 1)
    watched!.runner.end()
    const wasReady = supervised.isReady
    // A job that ends its thread is tried twice and then given up: only a thread that ends without one would end for ever.
    if (cause === 'died' && !(wasReady && options.isBusy(supervised.state))) rest()
    onEvent({ kind: 'ended', pool: name, cause })
    if (cause === 'died' || cause === 'over_budget') {
      log.error('thread ended, starting a new one', { pool: name, cause, error: reason })
    }
    options.onEnd(supervised, { cause, culprit, wasReady, gone: watched!.gone.promise })
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
      // A tick that came late says that this thread stood still, and perhaps the whole process with it.
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

/** The first message to every runner. It answers `{ kind: 'ready' }`. */
export interface StartMessage {
  kind: 'start'
  board: SharedArrayBuffer | null
  settings: unknown
}

/** A thread that stands still and computes nothing, or gets no processor, has so many times its budget. */
const MOST_WAITING = 4
const TICK_MS = 50
/** To load its code and to say that it runs, on a machine with much else to do. */
const START_MS = 20_000
const RESTART_SECONDS = [1, 5, 15, 30]
