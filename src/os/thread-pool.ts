import type { Clock } from './clock.ts'
import type { Log, LogFields } from './log.ts'
import { createOwnerTurns } from './owner-turns.ts'
import type { JobMessage, PoolAnswer } from './pool-worker.ts'
import { createRepeatOffenders, type RepeatOffenders } from './repeat-offenders.ts'
import type { Runner } from './runner.ts'
import {
  createSupervisor,
  type EndCause,
  type PoolEvent,
  type RunnerEnd,
  type Supervised,
  type Supervisor,
} from './supervisor.ts'

export { type Runner, threadRunner } from './runner.ts'
export type { EndCause, PoolEvent } from './supervisor.ts'

/** Runs jobs in threads or child processes with a time budget each. */
export interface ThreadPool<Job, Answer> {
  /** Rejects with PoisonousJob when two runners ended or ran out of budget over this job, with PoolStopped at stop, with
   *  the reason of `signal` when that aborts, else with JobFailed (the job threw inside, it is tried once; or no runner
   *  starts). Buffers in `transfer` are handed over: such a job is gone with its runner and is not tried again. */
  run(job: Job, options?: { transfer?: ArrayBuffer[]; signal?: AbortSignal }): Promise<Answer>
  state(): PoolState
  /** Ends the runners; what they had and what waits rejects with PoolStopped. Twice is harmless. */
  stop(): Promise<void>
}

export interface PoolState {
  runners: number
  waiting: number
  underWay: number
}

/** Two runners ended over this job, or one to which its buffers had been handed over. */
export class PoisonousJob extends Error {
  override name = 'PoisonousJob'
  /** `over_budget`: it took too long. `died`: its runner ended by itself. */
  readonly endedBy: EndCause
  constructor(endedBy: EndCause) {
    super(endedBy === 'over_budget' ? 'the job took too long' : 'the job ended its thread')
    this.endedBy = endedBy
  }
}

/** The job threw. `message` has its stack, for the log. */
export class JobFailed extends Error {
  override name = 'JobFailed'
}

export class PoolStopped extends Error {
  override name = 'PoolStopped'
  constructor() {
    super('the thread pool was stopped')
  }
}

export interface ThreadPoolOptions<Job> {
  /** In log lines and metrics. */
  name: string
  start: () => Runner
  /** At most so many runners, and one more while a job that ended a runner is tried again alone. Each starts when there is
   *  work that the others have no hands for. */
  count: number
  /** Jobs at once in one runner. */
  perRunner: number
  /** Longest stretch without yielding before the runner is ended and replaced (within 300 ms). */
  computeMs: number
  /** One try of a job, what it waits for inside included, its wait for a runner not. Well above `computeMs`. */
  totalMs: number
  /** Of a job, in bytes: so many of them cost a runner as much as one job more. */
  sizeOf?: (job: Job) => number
  /** Jobs larger than this wait until the larger ones under way leave room. */
  largeBytes?: number
  /** Whose a job is. Of those that wait, the one whose owner was served longest ago goes first. Jobs of an owner over whose
   *  jobs thread after thread ended run one at a time, in a runner of their own (repeat-offenders.ts). */
  ownerOf?: (job: Job) => string
  /** Ends a runner that had no job for so long. Without it, they stay. */
  idleMs?: number
  /** Plain data that each runner gets at its start. */
  settings?: unknown
  /** A job → fields of the log lines about it. */
  describe?: (job: Job) => LogFields
  clock: Clock
  log: Log
  onEvent?: (event: PoolEvent) => void
}

interface Task<Job> {
  id: number
  job: Job
  bytes: number
  transfer: ArrayBuffer[]
  /** Runners that ended over it. */
  faults: number
  /** It may have ended a runner: it gets one of its own. */
  isSuspect: boolean
  /** In this runner. */
  spentMs: number
  isAbandoned: boolean
  resolve: (answer: never) => void
  reject: (error: unknown) => void
}

interface State<Job> {
  tasks: Map<number, Task<Job>>
  bytes: number
  /** It has one suspect and nothing else. */
  isApart: boolean
  idleSince: number
}

/** Options → a pool whose runners start with its jobs. */
export function createThreadPool<Job, Answer>(options: ThreadPoolOptions<Job>): ThreadPool<Job, Answer> {
  const pool = new Pool(options)
  return {
    run: (job, how) => pool.run<Answer>(job, how),
    state: () => pool.state(),
    stop: async () => pool.stop(),
  }
}

class Pool<Job> {
  readonly #options: ThreadPoolOptions<Job>
  readonly #supervisor: Supervisor<State<Job>>
  readonly #offenders: RepeatOffenders
  readonly #turns = createOwnerTurns()
  readonly #stopped = new AbortController()
  #waiting: Task<Job>[] = []
  #lastId = 0
  #largeUnderWay = 0
  #failedStarts = 0
  #isSweepPlanned = false

  constructor(options: ThreadPoolOptions<Job>) {
    this.#options = options
    this.#offenders = createRepeatOffenders(options.clock)
    this.#supervisor = createSupervisor<State<Job>>({
      ...options,
      settingsOf: () => options.settings,
      isBusy: ({ tasks }) => tasks.size > 0,
      onMayStart: () => this.#assign(),
      onMessage: (runner, message) => this.#onAnswer(runner, message as PoolAnswer),
      onEnd: (runner, end) => this.#onEnd(runner.state, end),
      onTick: (passedMs) => this.#onTick(passedMs),
    })
  }

  run<Answer>(
    job: Job,
    { transfer = [], signal }: { transfer?: ArrayBuffer[]; signal?: AbortSignal } = {},
  ): Promise<Answer> {
    return new Promise((resolve, reject) => {
      if (this.#stopped.signal.aborted) return reject(new PoolStopped())
      if (signal?.aborted) return reject(signal.reason)
      const abandon = () => {
        task.isAbandoned = true
        this.#waiting = this.#waiting.filter((each) => each !== task)
        reject(signal?.reason)
      }
      const task: Task<Job> = {
        id: this.#nextId(),
        job,
        bytes: this.#options.sizeOf?.(job) ?? 0,
        transfer,
        faults: 0,
        isSuspect: this.#isOffender(job),
        spentMs: 0,
        isAbandoned: false,
        resolve: (answer) => {
          signal?.removeEventListener('abort', abandon)
          resolve(answer)
        },
        reject: (error) => {
          signal?.removeEventListener('abort', abandon)
          reject(error)
        },
      }
      signal?.addEventListener('abort', abandon, { once: true })
      this.#waiting.push(task)
      this.#assign()
    })
  }

  state(): PoolState {
    const { runners } = this.#supervisor
    const underWay = runners.reduce((sum, { state }) => sum + state.tasks.size, 0)
    return { runners: runners.length, waiting: this.#waiting.length, underWay }
  }

  stop(): void {
    this.#stopped.abort()
    for (const task of this.#waiting.splice(0)) task.reject(new PoolStopped())
    this.#supervisor.stop()
  }

  // ── handing out ──

  /** Hands out what waits, in order; what cannot go yet lets the others pass. */
  #assign(): void {
    const { ownerOf } = this.#options
    if (ownerOf !== undefined && this.#waiting.length > 1) {
      this.#waiting = this.#turns.inTurn(this.#waiting, ({ job }) => ownerOf(job))
    }
    for (let at = 0; at < this.#waiting.length; ) {
      const task = this.#waiting[at]!
      const runner = this.#fitsMemory(task) ? this.#runnerFor(task) : null
      if (runner === null) at++
      else {
        this.#waiting.splice(at, 1)
        this.#give(runner, task)
      }
      // Nobody has hands free, and only suspects and large jobs may pass one another.
      if (runner === null && !task.isSuspect && this.#fitsMemory(task)) break
    }
  }

  #fitsMemory({ bytes }: Task<Job>): boolean {
    const largeBytes = this.#largeBytes()
    const underWay = this.#largeUnderWay
    return bytes <= largeBytes || underWay === 0 || underWay + bytes <= MAX_LARGE_FACTOR * largeBytes
  }

  #largeBytes(): number {
    return this.#options.largeBytes ?? Number.POSITIVE_INFINITY
  }

  #runnerFor(task: Task<Job>): Supervised<State<Job>> | null {
    const { count, perRunner } = this.#options
    const shared = this.#supervisor.runners.filter(isShared)
    if (task.isSuspect) {
      return shared.length < this.#supervisor.runners.length ? null : this.#start(true)
    }
    const best = shared.reduce<Supervised<State<Job>> | null>(
      (least, each) => (least === null || load(each.state) < load(least.state) ? each : least),
      null,
    )
    if ((best === null || best.state.tasks.size > 0) && shared.length < count) {
      const started = this.#start(false)
      if (started !== null) return started
    }
    return best !== null && best.state.tasks.size < perRunner ? best : null
  }

  #start(isApart: boolean): Supervised<State<Job>> | null {
    if (!this.#supervisor.mayStart()) return null
    return this.#supervisor.start({ tasks: new Map(), bytes: 0, isApart, idleSince: this.#options.clock.now() })
  }

  #give(runner: Supervised<State<Job>>, task: Task<Job>): void {
    const { ownerOf } = this.#options
    task.spentMs = 0
    if (ownerOf !== undefined) this.#turns.took(ownerOf(task.job))
    runner.state.tasks.set(task.id, task)
    runner.state.bytes += task.bytes
    if (task.bytes > this.#largeBytes()) this.#largeUnderWay += task.bytes
    try {
      runner.send({ kind: 'job', id: task.id, job: task.job } satisfies JobMessage, task.transfer)
    } catch (error) {
      // What cannot be sent to a thread, as a function or a buffer that was handed over before.
      this.#release(runner.state, task)
      task.reject(new JobFailed(String(error)))
    }
    this.#supervisor.watch()
  }

  #release(state: State<Job>, task: Task<Job>): void {
    state.tasks.delete(task.id)
    state.bytes -= task.bytes
    if (task.bytes > this.#largeBytes()) this.#largeUnderWay -= task.bytes
    state.idleSince = this.#options.clock.now()
  }

  // ── what runners report ──

  #onAnswer(runner: Supervised<State<Job>>, message: PoolAnswer): void {
    if (message.kind !== 'answer' && message.kind !== 'failed') return
    const { state } = runner
    const task = state.tasks.get(message.id)
    if (task === undefined) return
    this.#release(state, task)
    if (message.kind === 'answer') task.resolve(message.answer as never)
    else task.reject(new JobFailed(message.error))
    if (state.isApart && state.tasks.size === 0) {
      if (this.#supervisor.runners.filter(isShared).length < this.#options.count) state.isApart = false
      else this.#supervisor.end(runner, 'idle', null)
    }
    this.#assign()
    if (state.tasks.size === 0) this.#planSweep()
  }

  #onEnd(state: State<Job>, { cause, culprit, wasReady }: RunnerEnd): void {
    const tasks = [...state.tasks.values()]
    for (const task of tasks) this.#release(state, task)
    if (cause === 'idle') return
    this.#failedStarts = wasReady ? 0 : this.#failedStarts + 1
    if (cause === 'stopped') for (const task of tasks) task.reject(new PoolStopped())
    else this.#takeBack(tasks, cause, culprit, wasReady)
    if (this.#failedStarts >= MOST_FAILED_STARTS) {
      for (const task of this.#waiting.splice(0)) task.reject(new JobFailed('no thread could be started'))
    }
    this.#assign()
  }

  #onTick(passedMs: number): void {
    for (const runner of [...this.#supervisor.runners]) {
      for (const task of runner.state.tasks.values()) task.spentMs += passedMs
      const late = runner.state.tasks.values().find(({ spentMs }) => spentMs >= this.#options.totalMs)
      if (late !== undefined && runner.isReady) this.#supervisor.end(runner, 'over_budget', late.id)
    }
  }

  // ── jobs that end their runner ──

  /** The jobs of a runner that ended: the one that had it is tried once more, alone, and then given up; when nobody said
   *  which, each of them alone. The others go first in the queue and are none the worse. */
  #takeBack(tasks: Task<Job>[], cause: EndCause, culprit: number | null, wasReady: boolean): void {
    const isKnown = tasks.length === 1 || tasks.some(({ id }) => id === culprit)
    const again: Task<Job>[] = []
    for (const task of tasks) {
      const isCulprit = wasReady && isKnown && (tasks.length === 1 || task.id === culprit)
      if (isCulprit) this.#blame(task)
      task.isSuspect ||= isCulprit || (wasReady && !isKnown)
      if (task.isAbandoned) continue
      if (task.faults >= MOST_FAULTS || (isCulprit && task.transfer.length > 0)) this.#giveUp(task, cause)
      else if (task.transfer.length > 0) task.reject(new JobFailed('the thread ended that had the job'))
      else again.push(task)
    }
    this.#waiting = [...again, ...this.#waiting]
  }

  #blame(task: Task<Job>): void {
    const { name: pool, ownerOf, describe, log, onEvent } = this.#options
    task.faults++
    if (ownerOf === undefined || !this.#offenders.add(ownerOf(task.job))) return
    const facts = { pool, ...describe?.(task.job) }
    log.error('jobs of one organization limited to one at a time for 10 min: they ended several threads', facts)
    onEvent?.({ kind: 'owner_apart', pool })
    for (const each of this.#waiting) each.isSuspect ||= this.#isOffender(each.job)
  }

  #isOffender(job: Job): boolean {
    const { ownerOf } = this.#options
    return ownerOf !== undefined && this.#offenders.leftMs(ownerOf(job)) > 0
  }

  #giveUp(task: Task<Job>, cause: EndCause): void {
    const { name: pool, describe, log, onEvent } = this.#options
    log.error('job failed: it ended its thread again', { pool, cause, ...describe?.(task.job) })
    onEvent?.({ kind: 'poisonous_job', pool })
    task.reject(new PoisonousJob(cause))
  }

  /** Ends runners that had no job for `idleMs`. */
  #planSweep(): void {
    const { idleMs, clock } = this.#options
    if (idleMs === undefined || this.#isSweepPlanned || this.#stopped.signal.aborted) return
    this.#isSweepPlanned = true
    void clock.sleep(idleMs, this.#stopped.signal).then(() => {
      this.#isSweepPlanned = false
      const since = clock.now() - idleMs
      for (const runner of [...this.#supervisor.runners]) {
        if (runner.state.tasks.size === 0 && runner.state.idleSince <= since) this.#supervisor.end(runner, 'idle', null)
      }
      if (this.#supervisor.runners.length > 0) this.#planSweep()
    })
  }

  /** From 1, within the 32 bits of the board (work-board.ts). */
  #nextId(): number {
    this.#lastId = this.#lastId === 2 ** 31 - 1 ? 1 : this.#lastId + 1
    return this.#lastId
  }
}

const MOST_FAULTS = 2
const MOST_FAILED_STARTS = 4
/** Large jobs together may be so many times `largeBytes`. */
const MAX_LARGE_FACTOR = 32
/** So many bytes cost a runner as much as one job more. */
const BYTES_A_JOB = 100_000

const isShared = <Job>({ state }: Supervised<State<Job>>) => !state.isApart

const load = <Job>({ tasks, bytes }: State<Job>) => tasks.size + bytes / BYTES_A_JOB
