import type { Clock } from '../../os/clock.ts'
import type { Log } from '../../os/log.ts'
import {
  createSupervisor,
  type PoolEvent,
  type RunnerEnd,
  type Supervised,
  type Supervisor,
} from '../../os/supervisor.ts'
import { threadRunner } from '../../os/thread-pool.ts'
import { CONTENT_NICE } from '../../os/thread-priority.ts'
import type { AttemptJob, AttemptResult, FromWorker, JobRoute, ToWorker, WorkerSettings } from './job.ts'
import { createJobSlots, type JobSlots } from './job-slots.ts'
import { journalPath, notesAt, removeNotes } from './journal/delivered-journal.ts'
import type { Relay } from './relays/relay.ts'
import { type CostlyDomains, createCostlyDomains } from './schedule/costly-domains.ts'

/** A job whose thread ended before answering, and what is certain:
 *  - `too_slow`: it exceeded its thread's time. Nothing was sent.
 *  - `ended_thread`: the thread ended by itself during the job. Nothing was sent.
 *  - `not_sent`: nothing was sent, and the job may have ended the thread.
 *  - `not_tried`: nothing was sent, and another job ended the thread: treated as never submitted.
 *  - `unknown`: the server may have accepted the mail. */
export interface LostJob {
  deliveryId: string
  result: 'too_slow' | 'ended_thread' | 'not_sent' | 'not_tried' | 'unknown'
}

/** Where the results of jobs go, as batched. Must not throw. */
export interface ThreadResults {
  onResults(results: readonly AttemptResult[]): void
  onLost(jobs: readonly LostJob[]): void
}

export interface ThreadsOptions {
  spawn: () => Worker
  count: number
  settings: WorkerSettings
  /** Longest computation of a delivery without a turn of the event loop. */
  computeMs?: number | undefined
  clock: Clock
  log: Log
  onEvent?: (event: PoolEvent) => void
}

/** The delivery threads, as seen by the main thread: `count` of them, started with `spawn`. A thread that dies, or that a
 *  delivery blocks too long, is replaced: at once the first time, then with growing delays while threads die without work.
 *  Mails accepted by a server are read from the thread's journal (journal/delivered-journal.ts) and returned as results;
 *  the others are lost jobs. */
export class DeliveryThreads {
  /** Resolves when all threads have answered; rejects when one keeps dying before that. */
  readonly ready: Promise<void>
  readonly #options: ThreadsOptions
  readonly #results: ThreadResults
  /** Journals of ended threads, by path, with the deliveries that are not stored yet. */
  readonly #orphans = new Map<string, Set<string>>()
  readonly #costly: CostlyDomains
  readonly #supervisor: Supervisor<Thread>
  readonly #started = Promise.withResolvers<void>()
  readonly #ended = new AbortController()
  readonly #judging = new Set<Promise<void>>()
  #relays: readonly Relay[]
  #held: AttemptJob[] = []
  #written: string[] = []
  #failedStarts = 0
  #readyCount = 0
  #stopping = false

  constructor(options: ThreadsOptions, results: ThreadResults) {
    const { count, settings, clock, log, computeMs = COMPUTE_MS } = options
    this.#options = options
    this.#results = results
    this.#relays = settings.relays
    this.#costly = createCostlyDomains(() => clock.now(), count)
    this.ready = this.#started.promise
    this.ready.catch(() => {})
    this.#supervisor = createSupervisor<Thread>({
      name: 'delivery',
      start: threadRunner(options.spawn),
      computeMs,
      settingsOf: ({ slots, path, isForCostly }) => ({
        ...settings,
        relays: this.#relays,
        sent: slots.sent,
        journalFile: path,
        nice: isForCostly ? CONTENT_NICE : 0,
      }),
      clock,
      log,
      isBusy: ({ slots }) => slots.used() > 0,
      onMessage: (runner, message) => this.#receive(runner.state, message as FromWorker),
      onEnd: ({ state }, end) => this.#threadEnded(state, end),
      onMayStart: () => this.#fill(),
      onEvent: options.onEvent,
    })
    this.#fill()
  }

  /** Gives each job to the thread with the fewest jobs, so that the mails of one destination use all CPUs, along with
   *  the thread's share of the destination's connections. Mail of domains that use much CPU goes to additional threads
   *  of lower priority while other domains send. A content of at least 64 KiB with its own buffer is transferred, not
   *  copied: do not use it afterwards, unless several jobs of the same call share it. */
  submit(jobs: readonly AttemptJob[]): void {
    const threads = this.#normalThreads()
    if (threads.length === 0) {
      this.#held = this.#held.concat(jobs)
      return
    }
    const canTransfer = transferableOnce(jobs)
    for (const [thread, share] of this.#sharesOf(jobs, threads)) {
      const sent = share.map((job) => ({
        ...job,
        slot: thread.state.slots.of(job.deliveryId),
        content: withOwnBuffer(job.content),
        route: { ...job.route, connections: this.#connectionsFor(thread, job.route.connections) },
      }))
      const buffers = sent.map(({ content }) => content.buffer as ArrayBuffer).filter(canTransfer)
      send(thread, { kind: 'attempt', jobs: sent }, buffers)
    }
    this.#supervisor.watch()
  }

  /** The store has the delivery's result; its thread can drop it. One transaction writes many: they are sent together. */
  written(deliveryId: string): void {
    if (this.#written.length === 0) setImmediate(() => this.#sendWritten())
    this.#written.push(deliveryId)
  }

  /** Replaces the relays of the settings, for jobs that are submitted from now on. */
  useRelays(relays: readonly Relay[]): void {
    this.#relays = relays
    for (const thread of this.#supervisor.runners) send(thread, { kind: 'relays', relays })
  }

  /** Sends QUIT on idle connections to a destination. */
  closeIdle(destination: string): void {
    for (const thread of this.#supervisor.runners) send(thread, { kind: 'close_idle', destination })
  }

  /** Jobs submitted and not yet answered. */
  underWay(): number {
    return this.#held.length + this.#jobsInThreads()
  }

  /** Running threads, and jobs waiting for one to start. */
  state(): { runners: number; waiting: number; underWay: number } {
    const { runners } = this.#supervisor
    return { runners: runners.length, waiting: this.#held.length, underWay: this.#jobsInThreads() }
  }

  /** Lets the threads finish for at most `timeoutMs`, then ends them; unanswered jobs return as lost. */
  async stop(timeoutMs: number): Promise<void> {
    const { clock } = this.#options
    this.#stopping = true
    this.#sendWritten()
    const all = [...this.#supervisor.runners]
    for (const thread of all) send(thread, { kind: 'stop' })
    const finished = Promise.all(all.map(({ state }) => state.stopped.promise))
    await Promise.race([finished, clock.sleep(timeoutMs, this.#ended.signal)])
    this.#ended.abort()
    this.#supervisor.stop()
    await Promise.all(this.#judging)
    if (this.#held.length === 0) return
    this.#results.onLost(this.#held.map(({ deliveryId }) => ({ deliveryId, result: 'not_tried' })))
    this.#held = []
  }

  #normalThreads(): Supervised<Thread>[] {
    return this.#supervisor.runners.filter(({ state }) => !state.isForCostly)
  }

  #jobsInThreads(): number {
    return this.#supervisor.runners.reduce((sum, { state }) => sum + state.slots.used(), 0)
  }

  #mayStart(): boolean {
    return !this.#stopping && this.#supervisor.mayStart()
  }

  #start(isForCostly: boolean): Supervised<Thread> {
    const { journal } = this.#options.settings
    const path = journalPath(journal.folder, journal.worker)
    const stopped = Promise.withResolvers<void>()
    return this.#supervisor.start({ slots: createJobSlots(), unwritten: new Set(), stopped, path, isForCostly })
  }

  #fill(): void {
    while (this.#mayStart() && this.#normalThreads().length < this.#options.count) this.#start(false)
    if (this.#normalThreads().length === 0) return
    const jobs = this.#held
    this.#held = []
    if (jobs.length > 0) this.submit(jobs)
  }

  /** Half as many as the normal threads, at least one; started on demand. */
  #threadsForCostly(): Supervised<Thread>[] {
    const started = this.#supervisor.runners.filter(({ state }) => state.isForCostly)
    while (this.#mayStart() && started.length < Math.max(1, this.#options.count / 2)) started.push(this.#start(true))
    return started
  }

  #receive(thread: Thread, message: FromWorker): void {
    switch (message.kind) {
      case 'ready':
        this.#failedStarts = 0
        if (++this.#readyCount >= this.#options.count) this.#started.resolve()
        return
      case 'results':
        for (const { deliveryId } of message.results) {
          thread.slots.free(deliveryId)
          thread.unwritten.add(deliveryId)
        }
        for (const [domain, ms, mails] of message.costs) this.#costly.learned(domain, ms, mails)
        this.#results.onResults(message.results)
        return
      case 'bug':
        this.#options.log.error('delivery attempt failed with an internal error', {
          delivery_id: message.deliveryId,
          message_id: message.messageId,
          error: message.error,
        })
        return
      case 'stopped':
        thread.stopped.resolve()
    }
  }

  #threadEnded(thread: Thread, end: RunnerEnd): void {
    thread.stopped.resolve()
    const judged: Promise<void> = this.#judge(thread, end).finally(() => this.#judging.delete(judged))
    this.#judging.add(judged)
    if (!end.wasReady) this.#failedStarts++
    if (this.#failedStarts >= GIVE_UP_START && this.#readyCount < this.#options.count) {
      this.#started.reject(new Error('the delivery threads did not start'))
    }
    this.#fill()
  }

  /** Classifies a thread's jobs once it has ended: until then a step may still complete. A thread inside one long
   *  engine call, such as a regular expression, ends only after that call, but runs no further step, so there is no
   *  need to wait for it. */
  async #judge(thread: Thread, { culprit, cause, gone }: RunnerEnd): Promise<void> {
    const { log, computeMs = COMPUTE_MS } = this.#options
    await Promise.race([gone, sleepUnref(GONE_MS)])
    const delivered = deliveredBy(thread, log)
    const culpritId = culprit === null ? null : thread.slots.at(culprit - 1)
    const lost = thread.slots.all().flatMap((deliveryId): LostJob[] => {
      if (delivered.some((note) => note.deliveryId === deliveryId)) return []
      if (thread.slots.maybeSent(deliveryId)) return [{ deliveryId, result: 'unknown' }]
      if (deliveryId === culpritId) return [{ deliveryId, result: cause === 'died' ? 'ended_thread' : 'too_slow' }]
      return [{ deliveryId, result: cause === 'stopped' || culpritId !== null ? 'not_tried' : 'not_sent' }]
    })
    if (culpritId !== null)
      log.error('delivery exceeded its CPU limit or crashed its thread', {
        delivery_id: culpritId,
        cause,
        limit_ms: computeMs,
      })
    // Notes the store does not have yet are in the journal; then its file is removed.
    const noted = new Set([...thread.unwritten, ...delivered.map(({ deliveryId }) => deliveryId)])
    if (noted.size > 0) this.#orphans.set(thread.path, noted)
    else removeNotes(thread.path)
    if (delivered.length > 0) this.#results.onResults(delivered)
    if (lost.length > 0) this.#results.onLost(lost)
  }

  /** Assigns each job to a thread and gives it a slot there. */
  #sharesOf(jobs: readonly AttemptJob[], threads: readonly Supervised<Thread>[]) {
    const shares = new Map<Supervised<Thread>, AttemptJob[]>()
    for (const job of jobs) {
      const isCostly = this.#costly.isCostly(job.signingKeys[0]?.domain ?? '')
      const costlyThreads = isCostly ? this.#threadsForCostly() : []
      const thread = leastLoaded(threadsFor(job.route, costlyThreads.length > 0 ? costlyThreads : threads))
      thread.state.slots.take(job)
      const share = shares.get(thread)
      if (share === undefined) shares.set(thread, [job])
      else share.push(job)
    }
    return shares
  }

  /** A thread's share of a destination's connections. */
  #connectionsFor({ state }: Supervised<Thread>, connections: number): number {
    const { runners } = this.#supervisor
    const alike = runners.filter((each) => each.state.isForCostly === state.isForCostly).length
    const hasCostly = alike < runners.length || state.isForCostly
    const part = state.isForCostly ? COSTLY_PART : hasCostly ? 1 - COSTLY_PART : 1
    return Math.max(1, Math.floor((connections * part) / alike))
  }

  #sendWritten(): void {
    const ids = this.#written
    this.#written = []
    for (const thread of this.#supervisor.runners) {
      const deliveryIds = ids.filter((id) => thread.state.unwritten.delete(id))
      if (deliveryIds.length > 0) send(thread, { kind: 'written', deliveryIds })
    }
    for (const [path, unwritten] of this.#orphans) {
      for (const id of ids) unwritten.delete(id)
      if (unwritten.size > 0) continue
      this.#orphans.delete(path)
      removeNotes(path)
    }
  }
}

/** Jobs in its journal whose results the thread did not send. */
function deliveredBy({ path, slots }: Thread, log: Log): AttemptResult[] {
  const jobs = new Set(slots.all())
  if (jobs.size === 0) return []
  try {
    const notes = notesAt(path).filter(({ deliveryId }) => jobs.has(deliveryId) && slots.maybeSent(deliveryId))
    const attempts = notes.filter(({ deliveryId, attempt }) => attempt.number === slots.attemptOf(deliveryId))
    return attempts.map((note) => ({ ...note, tlsSessions: [] }))
  } catch (error) {
    log.warn('journal of an ended thread unreadable', { path, error })
    return []
  }
}

interface Thread {
  /** Its unanswered jobs. */
  slots: JobSlots
  /** Answered and not yet stored. */
  unwritten: Set<string>
  stopped: PromiseWithResolvers<void>
  /** Path of its delivered journal. */
  path: string
  /** For mail that is expensive to prepare. */
  isForCostly: boolean
}

const GIVE_UP_START = 4
/** Share of a destination's connections for the threads of expensive mail while there are any. */
const COSTLY_PART = 0.25
/** Below this, copying is as cheap as transferring. */
const TRANSFER_BYTES = 65_536
/** Composing, tracking and signing the largest mail takes less than a second. */
const COMPUTE_MS = 5_000
/** Ending a thread takes up to about 250 ms if it can end at once. */
const GONE_MS = 1_000

function sleepUnref(ms: number): Promise<void> {
  return new Promise((resolve) => {
    setTimeout(resolve, ms).unref()
  })
}

function send(thread: Supervised<Thread>, message: Exclude<ToWorker, { kind: 'start' }>, transfer: ArrayBuffer[] = []) {
  thread.send(message, transfer)
}

function leastLoaded(threads: readonly Supervised<Thread>[]): Supervised<Thread> {
  return threads.reduce((best, thread) => (thread.state.slots.used() < best.state.slots.used() ? thread : best))
}

/** A destination with fewer connections than threads always uses the same threads, as many as connections: each thread
 *  counts its own. */
function threadsFor(
  { destination, connections }: JobRoute,
  threads: readonly Supervised<Thread>[],
): readonly Supervised<Thread>[] {
  if (connections >= threads.length) return threads
  const first = Bun.hash.crc32(destination) % threads.length
  return Array.from({ length: Math.max(1, connections) }, (_, at) => threads[(first + at) % threads.length]!)
}

/** A view into a larger buffer would transfer the whole buffer. */
function withOwnBuffer(content: Uint8Array): Uint8Array {
  return content.byteLength === content.buffer.byteLength ? content : new Uint8Array(content)
}

/** Buffers that may be transferred: large ones that only one job uses. */
function transferableOnce(jobs: readonly AttemptJob[]): (buffer: ArrayBuffer) => boolean {
  const holders = new Map<ArrayBufferLike, number>()
  for (const { content } of jobs) holders.set(content.buffer, (holders.get(content.buffer) ?? 0) + 1)
  return (buffer) => buffer.byteLength >= TRANSFER_BYTES && (holders.get(buffer) ?? 1) === 1
}
