import { backoffMs } from '../platform/backoff.ts'
import type { Clock } from '../platform/clock.ts'
import type { Log } from '../platform/log.ts'
import { systemRandom } from '../platform/random.ts'
import type { FiledMail } from '../smtp/session.ts'
import type { FromReader, ReaderSettings, Reading, ReadingJob, ToReader } from './reading.ts'
import { unread } from './unread.ts'

/** The reading threads as the main thread sees them. */
export interface Readers {
  /** A mail that ends its thread, or takes longer than 45 s of one, comes back unread, with its raw bytes, its headers and
   *  every verdict undecided. Do not touch `raw` until it is answered, nor close its file. Rejects only when it must come
   *  back unread and its file cannot be read. */
  read(job: JobOfMail): Promise<Reading>
  /** Raw mail → its attachments in base64, in the order of ParsedMail.attachments; null when they cannot be read. */
  attachments(raw: Uint8Array): Promise<string[] | null>
  /** Ends the threads; what they had comes back unread. */
  stop(): Promise<void>
}

/** `count` threads from `spawn` → Readers. None is there before the first mail (each is 25 MB). Each mail goes to the thread
 *  with the least under way; large ones wait here until there is room, so that few of their bytes are in the threads at
 *  once. A thread that dies, or whose mail takes too long, is replaced: that mail comes back unread, the others it had are
 *  tried once more in another. When it dies and nobody can say of which mail, all that were in it are tried once more. */
export function createReaders(options: {
  spawn: () => Worker
  count: number
  settings: ReaderSettings
  clock: Clock
  log: Log
  /** How long one mail may keep a thread. */
  limitMs?: number
}): Readers {
  const { spawn, count, settings, clock, log, limitMs = LIMIT_MS } = options
  const threads: Thread[] = []
  const waiting: Task[] = []
  const ended = new AbortController()
  let lastJobId = 0
  /** Threads that have died and are not to be started again yet. */
  let resting = 0
  let deaths = 0
  let stopping = false
  /** Of the large mails that are in a thread. */
  let largeBytes = 0

  const start = () => {
    const worker = spawn()
    const thread: Thread = { worker, tasks: new Map(), bytes: 0, atWork: null }
    threads.push(thread)
    worker.addEventListener('message', (event: MessageEvent<FromReader>) => hear(thread, event.data))
    worker.addEventListener('error', (event: ErrorEvent) => {
      log.error('reading thread failed', { error: event.message })
      event.preventDefault()
      replace(thread, null)
    })
    worker.addEventListener('close', () => replace(thread, null))
    worker.postMessage({ kind: 'start', settings } satisfies ToReader)
  }

  const hear = (thread: Thread, message: FromReader) => {
    switch (message.kind) {
      case 'at_work':
        thread.atWork = { jobId: message.jobId, since: clock.now() }
        return
      case 'bug':
        return log.error('reading a mail failed inside', { job: message.jobId, error: message.error })
      case 'reading':
        return settle(thread, message.reading.jobId, (task) => task.kind === 'read' && task.resolve(message.reading))
      case 'unreadable':
        log.error('the file of a mail could not be read', { job: message.jobId, error: message.error })
        return settle(thread, message.jobId, (task) => giveUp(task, 'it could not be read'))
      case 'attachments':
        if (message.error !== null) log.warn('attachments could not be read', { error: message.error })
        return settle(thread, message.jobId, (task) => task.kind === 'attachments' && task.resolve(message.contents))
    }
  }

  const settle = (thread: Thread, jobId: number, answer: (task: Task) => void) => {
    const task = thread.tasks.get(jobId)
    if (task === undefined) return
    deaths = 0
    release(thread, task)
    answer(task)
    assign()
  }

  const release = (thread: Thread, task: Task) => {
    thread.tasks.delete(task.jobId)
    thread.bytes -= task.raw.byteLength
    if (isLarge(task)) largeBytes -= task.raw.byteLength
    task.over.abort()
  }

  /** Ends the thread; `culprit` is not tried again, the others once. */
  const replace = (thread: Thread, culprit: Task | null) => {
    const place = threads.indexOf(thread)
    if (place < 0) return
    threads.splice(place, 1)
    thread.worker.terminate()
    const lost = [...thread.tasks.values()]
    for (const task of lost) {
      release(thread, task)
      if (task === culprit) giveUp(task, 'reading it took too long')
      else if (task.tries >= MOST_TRIES || stopping) giveUp(task, 'the thread that read it ended')
      else waiting.push(task)
    }
    if (stopping) return
    deaths++
    const waitMs = deaths === 1 ? 0 : backoffMs(RESTART_SECONDS, deaths - 1, 0.1, systemRandom)
    log.error('reading thread ended', { under_way: lost.length, too_slow: culprit !== null, restart_in_ms: waitMs })
    resting++
    assign()
    void clock.sleep(waitMs, ended.signal).then(() => {
      resting--
      if (!stopping) assign()
    })
  }

  /** The task for which a thread has had too much time → the one that holds it up: a thread that has said nothing since it
   *  went to work on another is stuck in that. */
  const culpritOf = ({ atWork, tasks }: Thread, late: Task): Task => {
    const busyWith = atWork !== null && clock.now() - atWork.since >= STUCK_MS ? tasks.get(atWork.jobId) : undefined
    return busyWith ?? late
  }

  const giveUp = (task: Task, reason: string) => {
    if (task.kind === 'attachments') return task.resolve(null)
    const { job, jobId, resolve, reject } = task
    const asItCame = (raw: Uint8Array<ArrayBuffer>) => unread({ ...job, raw, jobId }, settings.hostname, reason)
    if (job.raw instanceof Uint8Array) resolve(asItCame(job.raw))
    else job.raw.read().then(asItCame).then(resolve, reject)
  }

  /** Hands out what waits, in order; but large mails wait for room, and those that were in a thread that died go one at a
   *  time, so that the one that kills threads takes no other along twice. */
  const assign = () => {
    while (waiting.length > 0 && threads.length + resting < count) start()
    for (let at = 0; at < waiting.length && threads.length > 0; ) {
      const task = waiting[at]!
      const thread = threads.reduce((best, each) => (load(each) < load(best) ? each : best))
      if (!hasRoom(task) || (task.tries > 0 && threads.some(hasSuspect))) at++
      else {
        waiting.splice(at, 1)
        give(thread, task)
      }
    }
  }

  const hasRoom = (task: Task) => !isLarge(task) || largeBytes === 0 || largeBytes + task.raw.byteLength <= ROOM_BYTES

  const give = (thread: Thread, task: Task) => {
    task.tries++
    task.over = new AbortController()
    thread.tasks.set(task.jobId, task)
    thread.bytes += task.raw.byteLength
    if (isLarge(task)) largeBytes += task.raw.byteLength
    // A copy, or where it lies: should the thread die, this is all that is left of the mail.
    thread.worker.postMessage(messageOf(task))
    const { signal } = task.over
    void clock.sleep(limitMs, signal).then(() => {
      if (!signal.aborted) replace(thread, culpritOf(thread, task))
    })
  }

  const add = (task: Task) => {
    if (stopping) return giveUp(task, 'the server was stopping')
    waiting.push(task)
    assign()
  }

  return {
    read: (job) =>
      new Promise((resolve, reject) => {
        const jobId = ++lastJobId
        add({ kind: 'read', jobId, raw: job.raw, job, resolve, reject, tries: 0, over: new AbortController() })
      }),
    attachments: (raw) =>
      new Promise((resolve) => {
        add({ kind: 'attachments', jobId: ++lastJobId, raw, resolve, tries: 0, over: new AbortController() })
      }),
    async stop() {
      stopping = true
      ended.abort()
      for (const task of waiting.splice(0)) giveUp(task, 'the server was stopping')
      for (const thread of [...threads]) replace(thread, null)
    },
  }
}

type JobOfMail = Omit<ReadingJob, 'jobId' | 'raw'> & { raw: Uint8Array<ArrayBuffer> | FiledMail }

type Task = {
  jobId: number
  raw: Uint8Array | FiledMail
  tries: number
  /** Aborted when the task has left its thread. */
  over: AbortController
} & (
  | { kind: 'read'; job: JobOfMail; resolve: (reading: Reading) => void; reject: (error: unknown) => void }
  | { kind: 'attachments'; raw: Uint8Array; resolve: (contents: string[] | null) => void }
)

interface Thread {
  worker: Worker
  tasks: Map<number, Task>
  bytes: number
  /** What it said last, and when by the clock: the job, which may be answered since. */
  atWork: { jobId: number; since: number } | null
}

/** The DNS has 15 s and the parser as many (read.ts), each then ends by itself; a mail of 25 MB takes half a second. */
const LIMIT_MS = 45_000
/** Longer than all that interrupts a stretch of work: the DNS, and the parser's own limit. */
const STUCK_MS = 20_000
const MOST_TRIES = 2
const RESTART_SECONDS = [1, 5, 15, 30]
/** Mails up to this size never wait here. */
const SMALL_BYTES = 1_000_000
/** Of all threads together: each needs some times the size of a mail to read it. */
const ROOM_BYTES = 32_000_000
/** So many bytes cost a thread as much as one mail more. */
const BYTES_A_MAIL = 100_000

const load = ({ tasks, bytes }: Thread) => tasks.size + bytes / BYTES_A_MAIL

const isLarge = ({ raw }: Task) => raw.byteLength > SMALL_BYTES

const hasSuspect = ({ tasks }: Thread) => tasks.values().some(({ tries }) => tries > 1)

function messageOf(task: Task): ToReader {
  if (task.kind === 'read') {
    const { raw } = task.job
    const lying = raw instanceof Uint8Array ? raw : { fd: raw.fd, byteLength: raw.byteLength }
    return { kind: 'read', job: { ...task.job, raw: lying, jobId: task.jobId } }
  }
  return { kind: 'attachments', jobId: task.jobId, raw: task.raw }
}
