import type { Clock } from '../os/clock.ts'
import type { Log } from '../os/log.ts'
import { createSupervisor, type PoolEvent, type RunnerEnd, type Supervised } from '../os/supervisor.ts'
import { threadRunner } from '../os/thread-pool.ts'
import { CONTENT_NICE } from '../os/thread-priority.ts'
import type { AttemptJob, AttemptResult, FromWorker, JobRoute, ToWorker, WorkerSettings } from './job.ts'
import { createJobSlots, type JobSlots } from './job-slots.ts'
import { journalPath, notesAt, removeNotes } from './journal/delivered-journal.ts'
import { createCostlyDomains } from './schedule/costly-domains.ts'

/** The delivery threads, as seen by the main thread. */
export interface Workers {
  /** Resolves when all threads have answered; rejects when one keeps dying before that. */
  ready: Promise<void>
  /** Gives each job to the thread with the fewest jobs, so that the mails of one destination use all CPUs, along with
   *  the thread's share of the destination's connections. Mail of domains that use much CPU goes to additional threads
   *  of lower priority while other domains send. A content of at least 64 KiB with its own buffer is transferred, not
   *  copied: do not use it afterwards, unless several jobs of the same call share it. */
  submit(jobs: readonly AttemptJob[]): void
  /** The store has the delivery's result; its thread can drop it. */
  written(deliveryId: string): void
  /** Jobs submitted and not yet answered. */
  underWay(): number
  /** Running threads, and jobs waiting for one to start. */
  state(): { runners: number; waiting: number; underWay: number }
  /** Lets the threads finish for at most `timeoutMs`, then ends them; unanswered jobs return as lost. */
  stop(timeoutMs: number): Promise<void>
}

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

export interface WorkersOptions {
  spawn: () => Worker
  count: number
  settings: WorkerSettings
  /** Longest computation of a delivery without a turn of the event loop. */
  computeMs?: number
  clock: Clock
  log: Log
  onResults: (results: AttemptResult[]) => void
  onLost: (jobs: LostJob[]) => void
  onEvent?: (event: PoolEvent) => void
}

/** Starts `count` threads with `spawn` → Workers. A thread that dies, or that a delivery blocks too long, is replaced:
 *  at once the first time, then with growing delays while threads die without work. Mails accepted by a server are read
 *  from the thread's journal (journal/delivered-journal.ts) and returned as results; `onLost` receives the others.
 *  Results arrive as batched. Callbacks must not throw. */
export function createWorkers(options: WorkersOptions): Workers {
  const { count, settings, clock, log, onResults, onLost, computeMs = COMPUTE_MS } = options
  const orphans = new Map<string, Set<string>>()
  const costly = createCostlyDomains(() => clock.now(), count)
  let held: AttemptJob[] = []
  let written: string[] = []
  let failedStarts = 0
  let stopping = false
  let readyCount = 0
  const ready = Promise.withResolvers<void>()
  ready.promise.catch(() => {})
  const ended = new AbortController()
  const judging = new Set<Promise<void>>()

  const supervisor = createSupervisor<Thread>({
    name: 'delivery',
    start: threadRunner(options.spawn),
    computeMs,
    settingsOf: ({ slots, path, isForCostly }) => ({
      ...settings,
      sent: slots.sent,
      takenPath: path,
      nice: isForCostly ? CONTENT_NICE : 0,
    }),
    clock,
    log,
    isBusy: ({ slots }) => slots.used() > 0,
    onMessage: (runner, message) => hear(runner.state, message as FromWorker),
    onEnd: ({ state }, end) => {
      state.stopped.resolve()
      const judged: Promise<void> = judge(state, end).finally(() => judging.delete(judged))
      judging.add(judged)
      if (!end.wasReady) failedStarts++
      if (failedStarts >= GIVE_UP_START && readyCount < count) {
        ready.reject(new Error('the delivery threads do not start'))
      }
      fill()
    },
    onMayStart: () => fill(),
    onEvent: options.onEvent,
  })

  const forAll = () => supervisor.runners.filter(({ state }) => !state.isForCostly)

  const start = (isForCostly: boolean) => {
    const path = journalPath(settings.taken.folder, settings.taken.worker)
    const stopped = Promise.withResolvers<void>()
    return supervisor.start({ slots: createJobSlots(), unwritten: new Set(), stopped, path, isForCostly })
  }

  /** Half as many as the normal threads, at least one; started on demand. */
  const threadsForCostly = () => {
    const started = supervisor.runners.filter(({ state }) => state.isForCostly)
    while (!stopping && supervisor.mayStart() && started.length < Math.max(1, count / 2)) started.push(start(true))
    return started
  }

  const fill = () => {
    while (!stopping && supervisor.mayStart() && forAll().length < count) {
      start(false)
    }
    if (forAll().length === 0) return
    const jobs = held
    held = []
    if (jobs.length > 0) submit(jobs)
  }

  const hear = (thread: Thread, message: FromWorker) => {
    switch (message.kind) {
      case 'ready':
        failedStarts = 0
        if (++readyCount >= count) ready.resolve()
        return
      case 'results':
        for (const { deliveryId } of message.results) {
          thread.slots.free(deliveryId)
          thread.unwritten.add(deliveryId)
        }
        for (const [domain, ms, mails] of message.costs) costly.learned(domain, ms, mails)
        return onResults(message.results)
      case 'bug':
        return log.error('delivery attempt failed with an internal error', {
          delivery_id: message.deliveryId,
          message_id: message.messageId,
          error: message.error,
        })
      case 'stopped':
        return thread.stopped.resolve()
    }
  }

  /** Classifies a thread's jobs once it has ended: until then a step may still complete. A thread inside one long
   *  engine call, such as a regular expression, ends only after that call, but runs no further step, so there is no
   *  need to wait for it. */
  const judge = async (thread: Thread, { culprit, cause, gone }: RunnerEnd) => {
    await Promise.race([gone, sleepUnref(GONE_MS)])
    const delivered = deliveredOf(thread)
    const culpritId = culprit === null ? null : thread.slots.at(culprit - 1)
    const lost = thread.slots.all().flatMap((deliveryId): LostJob[] => {
      if (delivered.some((note) => note.deliveryId === deliveryId)) return []
      if (thread.slots.maybeSent(deliveryId)) return [{ deliveryId, result: 'unknown' }]
      if (deliveryId === culpritId) return [{ deliveryId, result: cause === 'died' ? 'ended_thread' : 'too_slow' }]
      return [{ deliveryId, result: cause === 'stopped' || culpritId !== null ? 'not_tried' : 'not_sent' }]
    })
    if (culpritId !== null)
      log.error('delivery exceeded its CPU limit or ended its thread', {
        delivery_id: culpritId,
        cause,
        limit_ms: computeMs,
      })
    // Notes the store does not have yet are in the journal; then its file is removed.
    const noted = new Set([...thread.unwritten, ...delivered.map(({ deliveryId }) => deliveryId)])
    if (noted.size > 0) orphans.set(thread.path, noted)
    else removeNotes(thread.path)
    if (delivered.length > 0) onResults(delivered)
    if (lost.length > 0) onLost(lost)
  }

  /** Jobs in its journal whose results the thread did not send. */
  const deliveredOf = ({ path, slots }: Thread): AttemptResult[] => {
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

  const submit = (jobs: readonly AttemptJob[]) => {
    const threads = forAll()
    if (threads.length === 0) {
      held = held.concat(jobs)
      return
    }
    const shares = new Map<Supervised<Thread>, AttemptJob[]>()
    for (const job of jobs) {
      const isCostly = costly.isCostly(job.signingKeys[0]?.domain ?? '')
      const costlyThreads = isCostly ? threadsForCostly() : []
      const thread = leastLoaded(threadsFor(job.route, costlyThreads.length > 0 ? costlyThreads : threads))
      thread.state.slots.take(job)
      const share = shares.get(thread)
      if (share === undefined) shares.set(thread, [job])
      else share.push(job)
    }
    const handOver = handOverOnce(jobs)
    for (const [thread, share] of shares) {
      const sent = share.map((job) => ({
        ...job,
        slot: thread.state.slots.of(job.deliveryId),
        content: withOwnBuffer(job.content),
        route: { ...job.route, connections: connectionsFor(thread, job.route.connections) },
      }))
      const buffers = sent.map(({ content }) => content.buffer as ArrayBuffer).filter(handOver)
      send(thread, { kind: 'attempt', jobs: sent }, buffers)
    }
    supervisor.watch()
  }

  /** A thread's share of a destination's connections. */
  const connectionsFor = ({ state }: Supervised<Thread>, connections: number) => {
    const alike = supervisor.runners.filter((each) => each.state.isForCostly === state.isForCostly).length
    const hasCostly = alike < supervisor.runners.length || state.isForCostly
    const part = state.isForCostly ? COSTLY_PART : hasCostly ? 1 - COSTLY_PART : 1
    return Math.max(1, Math.floor((connections * part) / alike))
  }

  const tellWritten = () => {
    const ids = written
    written = []
    for (const thread of supervisor.runners) {
      const deliveryIds = ids.filter((id) => thread.state.unwritten.delete(id))
      if (deliveryIds.length > 0) send(thread, { kind: 'written', deliveryIds })
    }
    for (const [path, unwritten] of orphans) {
      for (const id of ids) unwritten.delete(id)
      if (unwritten.size > 0) continue
      orphans.delete(path)
      removeNotes(path)
    }
  }

  const jobsInThreads = () => supervisor.runners.reduce((sum, { state }) => sum + state.slots.used(), 0)

  fill()

  return {
    ready: ready.promise,
    submit,
    // One store transaction writes many results: they are sent together.
    written(deliveryId) {
      if (written.length === 0) setImmediate(tellWritten)
      written.push(deliveryId)
    },
    underWay: () => held.length + jobsInThreads(),
    state: () => ({ runners: supervisor.runners.length, waiting: held.length, underWay: jobsInThreads() }),
    async stop(timeoutMs) {
      stopping = true
      tellWritten()
      const all = [...supervisor.runners]
      for (const thread of all) send(thread, { kind: 'stop' })
      const finished = Promise.all(all.map(({ state }) => state.stopped.promise))
      await Promise.race([finished, clock.sleep(timeoutMs, ended.signal)])
      ended.abort()
      supervisor.stop()
      await Promise.all(judging)
      if (held.length > 0) onLost(held.map(({ deliveryId }) => ({ deliveryId, result: 'not_tried' })))
      held = []
    },
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
const HAND_OVER_BYTES = 65_536
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
function handOverOnce(jobs: readonly AttemptJob[]): (buffer: ArrayBuffer) => boolean {
  const holders = new Map<ArrayBufferLike, number>()
  for (const { content } of jobs) holders.set(content.buffer, (holders.get(content.buffer) ?? 0) + 1)
  return (buffer) => buffer.byteLength >= HAND_OVER_BYTES && (holders.get(buffer) ?? 1) === 1
}
