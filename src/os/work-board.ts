import { readFileSync, readlinkSync } from 'node:fs'

/** What a runner is working on, as its supervisor sees it at any time: two numbers of shared memory, or two messages for
 *  runners that share none.
 *
 *  `beat` changes whenever the event loop of the runner turns. `job` is the job that has the thread; 0 = none said so since
 *  the loop turned last. */
export interface WorkMarks {
  /** A job came. While one is there, the event loop marks its turns. */
  begin(): void
  /** The job has left. */
  finish(): void
  /** This job (a number from 1) computes from now on. Before each stretch of work: at the start, and after each await
   *  behind which another stretch begins. */
  working(job: number): void
}

/** For the runner's end. The first message of the supervisor carries `board`; null where memory is not shared. `post` must
 *  have left when it returns: a thread that does not yield any more sends nothing. */
export function createWorkMarks(board: SharedArrayBuffer | null, post: (message: MarkMessage) => void): WorkMarks {
  const cells = board === null ? null : new Int32Array(board)
  if (cells !== null) cells[THREAD] = ownThreadId()
  let jobs = 0
  let timer: ReturnType<typeof setInterval> | null = null
  let isClearPlanned = false
  const beat = () => {
    if (cells === null) post({ kind: 'beat' })
    else cells[BEAT] = (cells[BEAT]! + 1) | 0
    if (jobs === 0 && timer !== null) {
      clearInterval(timer)
      timer = null
    }
  }
  const turned = () => {
    isClearPlanned = false
    cells![JOB] = 0
    cells![BEAT] = (cells![BEAT]! + 1) | 0
  }
  return {
    begin: () => {
      jobs++
      timer ??= setInterval(beat, cells === null ? MESSAGE_BEAT_MS : BEAT_MS)
      beat()
    },
    // The timer ends itself: jobs that follow one another closely need no new one each.
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

/** From runners that share no memory. */
export type MarkMessage = { kind: 'beat' } | { kind: 'at_work'; job: number }

/** For the supervisor's end. */
export interface Marked {
  /** What the first message carries. */
  readonly board: SharedArrayBuffer | null
  /** Takes a message of a runner that shares no memory; true when it was one of these. */
  hear(message: unknown): boolean
  beat(): number
  /** Ms of a processor that its thread has had; null where the system does not say. */
  cpuMs(): number | null
  /** The job that has the thread; null when none said so. */
  job(): number | null
}

export function createMarked(sharesMemory: boolean): Marked {
  if (sharesMemory) {
    const board = new SharedArrayBuffer(CELLS * Int32Array.BYTES_PER_ELEMENT)
    const cells = new Int32Array(board)
    return {
      board,
      hear: () => false,
      beat: () => Atomics.load(cells, BEAT),
      job: () => Atomics.load(cells, JOB) || null,
      cpuMs: () => cpuMsOf(Atomics.load(cells, THREAD)),
    }
  }
  let beats = 0
  let current: number | null = null
  return {
    board: null,
    hear: (message) => {
      const { kind, job } = message as { kind?: unknown; job?: unknown }
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
/** A message each: fewer. Must stay well below every `computeMs`. */
const MESSAGE_BEAT_MS = 100

/** By which Linux knows the thread that asks; 0 elsewhere. */
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
