import { X509Certificate } from 'node:crypto'
import type { Clock } from '../../os/clock.ts'
import type { Log } from '../../os/log.ts'
import type { Runner } from '../../os/runner.ts'
import { createSupervisor, type PoolEvent, type Supervised } from '../../os/supervisor.ts'
import type { Exchange, ExchangeJob, ExchangeResult } from './exchange.ts'
import { BATCHING } from './limits.ts'
import type { Probe, ProbeJob } from './probe.ts'

/** One kind of request: where it may go, and whom it trusts. Plain data, for the thread. */
export interface HttpsKind {
  /** Private networks (CIDR) allowed beside public addresses. */
  allowed: readonly string[] | 'all addresses'
  /** PEM roots trusted beside the built-in ones. */
  ca?: string
  userAgent: string
  keepsAlive: boolean
  /** `maxCacheEntries` 0: each name is looked up anew. */
  dns: { servers: string[]; maxCacheEntries?: number }
}

export interface HttpsSettings {
  kinds: Readonly<Record<string, HttpsKind>>
}

export type SentJob = { id: number; kind: string; exchange: ExchangeJob } | { id: number; kind: null; probe: ProbeJob }

/** Main thread → thread, after the start. */
export interface ToHttpsThread {
  kind: 'jobs'
  jobs: SentJob[]
}

/** Thread → main thread. */
export type FromHttpsThread =
  | { kind: 'ready' }
  | { kind: 'results'; results: ({ id: number; result: unknown } | { id: number; failed: string })[] }

/** The thread in which requests to HTTPS peers run, as the main thread sees it. */
export interface HttpsThread {
  /** The way to do requests of one kind of the settings. */
  exchange(kind: string): Exchange
  probe: Probe
  state(): { runners: number; waiting: number; underWay: number }
  /** Ends the thread; what is under way gets no answer. Twice is harmless. */
  stop(): void
}

/** → HttpsThread. The thread starts with the first request, and ends after a minute without one. One that computes for longer
 *  than a second without a turn of its event loop is ended and replaced, and so is one that dies: the requests that it had
 *  get no answer (`no_answer` with a phrase) and are never sent again from here, since nobody can say which of them went out.
 *  Throws on a `ca` that is no certificate. */
export function createHttpsThread<Kind extends string>(options: {
  start: () => Runner
  kinds: Readonly<Record<Kind, HttpsKind>>
  log: Log
  /** Of the machine: a thread takes real time. */
  clock: Clock
  computeMs?: number
  idleMs?: number
  onEvent?: (event: PoolEvent) => void
}): Omit<HttpsThread, 'exchange'> & { exchange(kind: Kind): Exchange } {
  const { log, clock, computeMs = COMPUTE_MS, idleMs = IDLE_MS } = options
  for (const { ca } of Object.values<HttpsKind>(options.kinds)) if (ca !== undefined) new X509Certificate(ca)
  const stopped = new AbortController()
  let current: Supervised<State> | null = null
  const waiting: Task[] = []
  let unsent: Task[] = []
  let lastId = 0
  let isSweepPlanned = false

  const supervisor = createSupervisor<State>({
    name: 'https',
    start: options.start,
    computeMs,
    settingsOf: () => ({ kinds: options.kinds }) satisfies HttpsSettings,
    clock,
    log,
    onEvent: options.onEvent,
    isBusy: ({ tasks }) => tasks.size > 0,
    onMessage: (runner, message) => receive(runner.state, message as FromHttpsThread),
    onEnd: (runner, { culprit }) => {
      if (current === runner) current = null
      for (const task of runner.state.tasks.values()) {
        log.warn('request aborted, its thread ended', { host: hostOf(task), culprit: task.id === culprit })
        task.interrupt(task.id === culprit ? 'answer took too long to read' : 'interrupted')
      }
      runner.state.tasks.clear()
    },
    onTick: (passedMs) => {
      for (const task of current?.state.tasks.values() ?? []) {
        task.leftMs -= passedMs
        if (task.leftMs > 0) continue
        current!.state.tasks.delete(task.id)
        task.interrupt('timeout')
      }
    },
    onMayStart: () => {
      for (const task of waiting.splice(0)) give(task)
    },
  })

  const receive = (state: State, message: FromHttpsThread) => {
    if (message.kind !== 'results') return
    for (const each of message.results) {
      const task = state.tasks.get(each.id)
      state.tasks.delete(each.id)
      if ('failed' in each) task?.reject(new TypeError(each.failed))
      else task?.resolve(each.result)
    }
    state.idleSince = clock.now()
    if (state.tasks.size === 0) planSweep()
  }

  const give = (task: Task) => {
    if (stopped.signal.aborted) return task.interrupt('interrupted')
    if (current === null && !supervisor.mayStart()) return void waiting.push(task)
    current ??= supervisor.start({ tasks: new Map(), idleSince: clock.now() })
    current.state.tasks.set(task.id, task)
    if (unsent.length === 0) {
      if (current.state.tasks.size < BATCHING.few) setImmediate(flush)
      else setTimeout(flush, BATCHING.waitMs)
    }
    unsent.push(task)
  }

  const flush = () => {
    const tasks = unsent.filter(({ id }) => current?.state.tasks.has(id))
    unsent = []
    const buffers = tasks.flatMap(({ sent }) => handedOver(sent))
    if (tasks.length > 0) current!.send({ kind: 'jobs', jobs: tasks.map(({ sent }) => sent) }, buffers)
    supervisor.watch()
  }

  const planSweep = () => {
    if (isSweepPlanned || stopped.signal.aborted) return
    isSweepPlanned = true
    void clock.sleep(idleMs, stopped.signal).then(() => {
      isSweepPlanned = false
      if (current === null || stopped.signal.aborted) return
      const { tasks, idleSince } = current.state
      if (tasks.size === 0 && clock.now() - idleSince >= idleMs) return supervisor.end(current, 'idle', null)
      if (tasks.size === 0) planSweep()
    })
  }

  const run = <Result>(work: Work, timeoutMs: number, noAnswer: (error: string) => Result): Promise<Result> =>
    new Promise((resolve, reject) => {
      lastId = lastId === MOST_ID ? 1 : lastId + 1
      const sent = { id: lastId, ...work } as SentJob
      give({
        id: lastId,
        sent,
        leftMs: timeoutMs + SPARE_MS,
        resolve: (result) => resolve(result as Result),
        reject,
        interrupt: (error) => resolve(noAnswer(error)),
      })
    })

  return {
    exchange: (kind) => (exchange) =>
      run<ExchangeResult>({ kind, exchange }, exchange.timeoutMs, (error) => ({ kind: 'no_answer', error })),
    probe: (probe) => run<string | null>({ kind: null, probe }, probe.timeoutMs, () => null),
    state: () => ({
      runners: supervisor.runners.length,
      waiting: waiting.length,
      underWay: current?.state.tasks.size ?? 0,
    }),
    stop: () => {
      stopped.abort()
      for (const task of waiting.splice(0)) task.interrupt('interrupted')
      supervisor.stop()
    },
  }
}

type Work = { kind: string; exchange: ExchangeJob } | { kind: null; probe: ProbeJob }

interface Task {
  id: number
  sent: SentJob
  /** The thread ends a request itself in time; beyond this it has lost it. */
  leftMs: number
  resolve: (result: unknown) => void
  reject: (error: unknown) => void
  interrupt: (error: string) => void
}

interface State {
  tasks: Map<number, Task>
  idleSince: number
}

/** An ordinary answer takes well under a millisecond; the built-in roots are read once, in up to 100 ms. */
const COMPUTE_MS = 1_000
const IDLE_MS = 60_000
const SPARE_MS = 10_000
/** Within the 32 bits of the board (os/work-board.ts). */
const MOST_ID = 2 ** 31 - 1
/** Below this a copy is as cheap as handing over. */
const HAND_OVER_BYTES = 65_536

/** The buffer of a large body that has it for itself. A view into a larger one would take the whole along. */
function handedOver(job: SentJob): ArrayBuffer[] {
  const body = job.kind === null ? null : job.exchange.body
  if (body === null || typeof body === 'string' || body.byteLength < HAND_OVER_BYTES) return []
  return body.byteLength === body.buffer.byteLength ? [body.buffer as ArrayBuffer] : []
}

function hostOf({ sent }: Task): string {
  return sent.kind === null ? sent.probe.host : (URL.parse(sent.exchange.url)?.host ?? '')
}
