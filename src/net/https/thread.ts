import { X509Certificate } from 'node:crypto'
import type { Clock } from '../../os/clock.ts'
import type { Log } from '../../os/log.ts'
import type { Runner } from '../../os/runner.ts'
import {
  createSupervisor,
  type PoolEvent,
  type RunnerEnd,
  type Supervised,
  type Supervisor,
} from '../../os/supervisor.ts'
import type { Exchange, ExchangeJob, ExchangeResult } from './exchange.ts'
import { ANSWER_FAULTS, BATCHING } from './limits.ts'
import type { Probe, ProbeJob } from './probe.ts'

/** One kind of request: its allowed targets and trust. Plain data, for the thread. */
export interface HttpsKind {
  /** Private networks (CIDR) allowed in addition to public addresses. */
  allowed: readonly string[] | 'all addresses'
  /** PEM roots trusted in addition to the built-in ones. */
  ca?: string
  userAgent: string
  keepsAlive: boolean
  /** `maxCacheEntries` 0: each name is looked up again. */
  dns: { servers: string[]; maxCacheEntries?: number }
}

export interface HttpsSettings {
  kinds: Readonly<Record<string, HttpsKind>>
}

export type SentJob = { id: number; kind: string; exchange: ExchangeJob } | { id: number; kind: null; probe: ProbeJob }

/** Main thread → HTTPS thread, after the start. */
export type ToHttpsThread =
  | { kind: 'jobs'; jobs: SentJob[] }
  /** Answers `enter`. */
  | { kind: 'entered'; id: number; isGranted: boolean }

/** HTTPS thread → main thread. */
export type FromHttpsThread =
  | { kind: 'ready' }
  /** The job waits with a large file (ExchangeHooks). */
  | { kind: 'enter'; id: number; sizeBytes: number }
  | { kind: 'results'; results: ({ id: number; result: unknown } | { id: number; failed: string; stack: string })[] }

/** The thread for HTTPS requests, as the main thread uses it. */
export interface HttpsThread {
  /** Returns the function for one kind of the settings. */
  exchange(kind: string): Exchange
  probe: Probe
  state(): { runners: number; waiting: number; underWay: number }
  /** Ends the thread; requests in progress get no response. Repeated calls are harmless. */
  stop(): void
}

export interface HttpsThreadOptions<Kind extends string = string> {
  /** For the log and metrics. */
  name?: string
  start: () => Runner
  kinds: Readonly<Record<Kind, HttpsKind>>
  log: Log
  /** The real clock, because a thread runs in real time. */
  clock: Clock
  computeMs?: number
  idleMs?: number
  onEvent?: (event: PoolEvent) => void
}

/** Creates an HttpsThread. The thread starts with the first request, and ends after a minute without one. A thread
 *  that computes for more than a second without a turn of its event loop, or that dies, is replaced. Its requests
 *  get no response (`no_answer` with a phrase) and are not repeated here, since they may have been sent. Throws if a
 *  `ca` is not a certificate. */
export function createHttpsThread<Kind extends string>(
  options: HttpsThreadOptions<Kind>,
): Omit<HttpsThread, 'exchange'> & { exchange(kind: Kind): Exchange } {
  for (const { ca } of Object.values<HttpsKind>(options.kinds)) if (ca !== undefined) new X509Certificate(ca)
  const requests = new ThreadRequests(options)
  return {
    exchange:
      (kind) =>
      (exchange, { enter } = {}) =>
        requests.run<ExchangeResult>(
          { kind, exchange },
          { timeoutMs: exchange.timeoutMs, noAnswer: (error) => ({ kind: 'no_answer', error }), enter },
        ),
    probe: (probe) =>
      requests.run<string | null>({ kind: null, probe }, { timeoutMs: probe.timeoutMs, noAnswer: () => null }),
    state: () => requests.state(),
    stop: () => requests.stop(),
  }
}

/** The requests in the thread, and the thread while there is one. */
class ThreadRequests {
  readonly #clock: Clock
  readonly #log: Log
  readonly #idleMs: number
  readonly #supervisor: Supervisor<State>
  readonly #stopped = new AbortController()
  readonly #waiting: Task[] = []
  #current: Supervised<State> | null = null
  #unsent: Task[] = []
  #lastId = 0
  #isSweepPlanned = false

  constructor(options: HttpsThreadOptions) {
    const { name = 'https', log, clock, computeMs = COMPUTE_MS, idleMs = IDLE_MS } = options
    this.#clock = clock
    this.#log = log
    this.#idleMs = idleMs
    this.#supervisor = createSupervisor<State>({
      name,
      start: options.start,
      computeMs,
      settingsOf: () => ({ kinds: options.kinds }) satisfies HttpsSettings,
      clock,
      log,
      onEvent: options.onEvent,
      isBusy: ({ tasks }) => tasks.size > 0,
      onMessage: (runner, message) => this.#receive(runner, message as FromHttpsThread),
      onEnd: (runner, end) => this.#threadEnded(runner, end),
      onTick: (passedMs) => this.#tick(passedMs),
      onMayStart: () => {
        for (const task of this.#waiting.splice(0)) this.#give(task)
      },
    })
  }

  run<Result>(
    work: Work,
    { timeoutMs, noAnswer, enter }: { timeoutMs: number; noAnswer: (error: string) => Result; enter?: Task['enter'] },
  ): Promise<Result> {
    return new Promise((resolve, reject) => {
      this.#lastId = this.#lastId === MOST_ID ? 1 : this.#lastId + 1
      const sent = { id: this.#lastId, ...work } as SentJob
      this.#give({
        id: this.#lastId,
        sent,
        leftMs: timeoutMs + SPARE_MS,
        resolve: (result) => resolve(result as Result),
        reject,
        interrupt: (error) => resolve(noAnswer(error)),
        enter,
      })
    })
  }

  state() {
    return {
      runners: this.#supervisor.runners.length,
      waiting: this.#waiting.length,
      underWay: this.#current?.state.tasks.size ?? 0,
    }
  }

  stop(): void {
    this.#stopped.abort()
    for (const task of this.#waiting.splice(0)) task.interrupt(ANSWER_FAULTS.interrupted)
    this.#supervisor.stop()
  }

  #give(task: Task): void {
    if (this.#stopped.signal.aborted) task.interrupt(ANSWER_FAULTS.interrupted)
    else if (this.#current === null && !this.#supervisor.mayStart()) this.#waiting.push(task)
    else this.#send(task)
  }

  #send(task: Task): void {
    this.#current ??= this.#supervisor.start({ tasks: new Map(), idleSince: this.#clock.now() })
    const { tasks } = this.#current.state
    tasks.set(task.id, task)
    if (this.#unsent.length === 0) {
      if (tasks.size < BATCHING.few) setImmediate(() => this.#flush())
      else setTimeout(() => this.#flush(), BATCHING.waitMs)
    }
    this.#unsent.push(task)
  }

  #flush(): void {
    const tasks = this.#unsent.filter(({ id }) => this.#current?.state.tasks.has(id))
    this.#unsent = []
    const buffers = tasks.flatMap(({ sent }) => handedOver(sent))
    if (tasks.length > 0) this.#current?.send({ kind: 'jobs', jobs: tasks.map(({ sent }) => sent) }, buffers)
    this.#supervisor.watch()
  }

  async #enter(runner: Supervised<State>, { id, sizeBytes }: { id: number; sizeBytes: number }): Promise<void> {
    const task = runner.state.tasks.get(id)
    const isGranted = task?.enter === undefined || (await task.enter(sizeBytes))
    if (this.#current === runner) runner.send({ kind: 'entered', id, isGranted })
  }

  #receive(runner: Supervised<State>, message: FromHttpsThread): void {
    const { state } = runner
    if (message.kind === 'enter') void this.#enter(runner, message)
    if (message.kind !== 'results') return
    for (const each of message.results) {
      const task = state.tasks.get(each.id)
      state.tasks.delete(each.id)
      if ('failed' in each) task?.reject(Object.assign(new TypeError(each.failed), { stack: each.stack }))
      else task?.resolve(each.result)
    }
    state.idleSince = this.#clock.now()
    if (state.tasks.size === 0) this.#planSweep()
  }

  #threadEnded(runner: Supervised<State>, { cause, culprit }: RunnerEnd): void {
    if (this.#current === runner) this.#current = null
    for (const task of runner.state.tasks.values()) {
      const isCulprit = task.id === culprit
      this.#log.warn('request aborted, its thread ended', { host: hostOf(task), culprit: isCulprit })
      const { interrupted, died, slow } = ANSWER_FAULTS
      task.interrupt(cause === 'died' ? died : isCulprit ? slow : interrupted)
    }
    runner.state.tasks.clear()
  }

  #tick(passedMs: number): void {
    const tasks = this.#current?.state.tasks ?? NO_TASKS
    for (const task of tasks.values()) {
      task.leftMs -= passedMs
      if (task.leftMs > 0) continue
      tasks.delete(task.id)
      task.interrupt('timeout')
    }
  }

  #planSweep(): void {
    if (this.#isSweepPlanned || this.#stopped.signal.aborted) return
    this.#isSweepPlanned = true
    void this.#clock.sleep(this.#idleMs, this.#stopped.signal).then(() => {
      this.#isSweepPlanned = false
      if (this.#current === null || this.#stopped.signal.aborted) return
      const { tasks, idleSince } = this.#current.state
      if (tasks.size > 0) return
      if (this.#clock.now() - idleSince >= this.#idleMs) this.#supervisor.end(this.#current, 'idle', null)
      else this.#planSweep()
    })
  }
}

type Work = { kind: string; exchange: ExchangeJob } | { kind: null; probe: ProbeJob }

interface Task {
  id: number
  sent: SentJob
  /** The thread ends a request in time itself. Beyond this limit it has lost the request. */
  leftMs: number
  resolve: (result: unknown) => void
  reject: (error: unknown) => void
  interrupt: (error: string) => void
  /** Reserves memory for a large file; must not reject. */
  enter: ((sizeBytes: number) => Promise<boolean>) | undefined
}

interface State {
  tasks: Map<number, Task>
  idleSince: number
}

const NO_TASKS: Map<number, Task> = new Map()

/** An ordinary response takes well under a millisecond; the built-in roots are read once, in up to 100 ms. */
const COMPUTE_MS = 1_000
const IDLE_MS = 60_000
const SPARE_MS = 10_000
/** Within the 32 bits of the board (os/work-board.ts). */
const MOST_ID = 2 ** 31 - 1
/** Below this size a copy is as cheap as a transfer. */
const HAND_OVER_BYTES = 65_536
/** What comes before the body in the buffer of a reader's answer (os/sandbox/frames.ts), with a margin. */
const SPARE_BYTES = 1_024

/** The buffer of a large body, if it contains hardly anything else. Transferring a view takes the whole buffer along. */
function handedOver(job: SentJob): ArrayBuffer[] {
  const body = job.kind === null ? null : job.exchange.body
  if (body === null || typeof body === 'string' || body.byteLength < HAND_OVER_BYTES) return []
  return body.buffer.byteLength - body.byteLength <= SPARE_BYTES ? [body.buffer as ArrayBuffer] : []
}

function hostOf({ sent }: Task): string {
  return sent.kind === null ? sent.probe.host : (URL.parse(sent.exchange.url)?.host ?? '')
}
