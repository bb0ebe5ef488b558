import { readFileSync, readlinkSync } from 'node:fs'
import { fieldOf } from './records.ts'

/** What a runner is working on, visible to its supervisor at any time: two numbers in shared memory, or two messages for
 *  runners without shared memory.
 *
 *  `beat` changes whenever the event loop of the runner turns. `job` is the job that occupies the thread; 0 = none since the
 *  last turn. */
export interface WorkMarks {
  /** A job arrived. While there is one, the event loop marks its turns. */
  begin(): void
  /** The job is done. */
  finish(): void
  /** Marks that this job (a number from 1) computes from now on. Call before each stretch of work: at the start, and after
   *  each await that is followed by more work. */
  working(job: number): void
}

/** The runner's side. The first message of the supervisor carries `board`; null without shared memory. `post` must have sent
 *  when it returns: a thread that no longer yields sends nothing. */
export function createWorkMarks(board: SharedArrayBuffer | null, post: (message: MarkMessage) => void): WorkMarks {
  const cells = board === null ? null : new Int32Array(board)
  if (cells !== null) cells[THREAD] = ownThreadId()
  let jobs = 0
  let timer: ReturnType<typeof setInterval> | null = null
  let isClearPlanned = false
  const beat = () => {
    if (cells === null) post({ kind: 'beat' })
    else Atomics.add(cells, BEAT, 1)
    if (jobs === 0 && timer !== null) {
      clearInterval(timer)
      timer = null
    }
  }
  const turned = () => {
    isClearPlanned = false
    if (cells === null) return
    cells[JOB] = 0
    Atomics.add(cells, BEAT, 1)
  }
  return {
    begin: () => {
      jobs++
      timer ??= setInterval(beat, cells === null ? MESSAGE_BEAT_MS : BEAT_MS)
      beat()
    },
    // The timer ends by itself, so that jobs in quick succession share one.
    finish: () => {
      jobs--
    },
    working: (job) => {
      if (cells === null) return post({ kind: 'at_work', job })
      cells[JOB] = job
      if (isClearPlanned) return
      isClearPlanned = true
      setImmediate(turned)
    },
  }
}

/** Messages of runners without shared memory. */
export type MarkMessage = { kind: 'beat' } | { kind: 'at_work'; job: number }

/** The supervisor's side. */
export interface Marked {
  /** Payload of the first message. */
  readonly board: SharedArrayBuffer | null
  /** Handles a message of a runner without shared memory; true if it was one of these. */
  accepts(message: unknown): boolean
  beat(): number
  /** CPU time of its thread in ms; null if the system does not report it. */
  cpuMs(): number | null
  /** The job that occupies the thread; null if none is marked. */
  job(): number | null
}

export function createMarked(sharesMemory: boolean): Marked {
  if (sharesMemory) {
    const board = new SharedArrayBuffer(CELLS * Int32Array.BYTES_PER_ELEMENT)
    const cells = new Int32Array(board)
    return {
      board,
      accepts: () => false,
      beat: () => Atomics.load(cells, BEAT),
      job: () => Atomics.load(cells, JOB) || null,
      cpuMs: () => cpuMsOf(Atomics.load(cells, THREAD)),
    }
  }
  let beats = 0
  let current: number | null = null
  return {
    board: null,
    accepts: (message) => {
      const kind = fieldOf(message, 'kind')
      const job = fieldOf(message, 'job')
      if (kind !== 'beat' && kind !== 'at_work') return false
      beats++
      current = kind === 'at_work' && typeof job === 'number' ? job : null
      return true
    },
    beat: () => beats,
    cpuMs: () => null,
    job: () => current,
  }
}

const BEAT = 0
const JOB = 1
const THREAD = 2
const CELLS = 3
const BEAT_MS = 20
/** Interval of messages. It must stay well below every `computeMs`. */
const MESSAGE_BEAT_MS = 100

/** Linux id of the calling thread; 0 elsewhere. */
function ownThreadId(): number {
  try {
    return Number(readlinkSync('/proc/thread-self').split('/').pop()) || 0
  } catch {
    return 0
  }
}

function cpuMsOf(threadId: number): number | null {
  if (threadId === 0) return null
  try {
    const [nanoseconds = ''] = readFileSync(`/proc/self/task/${threadId}/schedstat`, 'utf8').split(' ')
    return Number(nanoseconds) / 1e6
  } catch {
    return null
  }
}
