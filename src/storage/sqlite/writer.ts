import { fieldOf } from '../../os/records.ts'
import { StoreUnavailable } from '../store.ts'
import type { Connection } from './driver.ts'

/** All writes pass here. Changes share one transaction and one fsync with those of the same turn of the event loop,
 *  and of the following turns as long as each brings more (group commit): with 50 connections that is more than ten
 *  times as fast as separate commits, and no slower with one.
 *
 *  A change is a synchronous function without side effects outside the database, because it may run twice: if one
 *  change of a group throws, the group is rolled back and each runs again separately, so that one caller's error
 *  does not affect others.
 *
 *  While another process has the write lock, changes wait without blocking the thread. After an I/O error nothing is
 *  written until the whole log is in the file and synced: what a failed fsync left in the system's memory may be
 *  lost later, although the next fsync succeeds. */
export interface Writer {
  /** Runs `change` in the next group → its result, once it is durable. Rejects with what it threw, or with
   *  StoreUnavailable if the disk refuses; then nothing was written. */
  write<T>(change: () => T): Promise<T>
  /** Runs `read` right before the next group begins, outside its transaction → its result, or a rejection with what it
   *  threw. What the caller writes in response joins that group unless the group is full. */
  before<T>(read: () => T): Promise<T>
  /** Resolves when all earlier changes are decided. */
  idle(): Promise<void>
}

interface Pending {
  /** Runs the change → a function that resolves its promise with the result. */
  change: () => () => void
  reject: (error: unknown) => void
}

/** State in memory that mirrors the database (caches, due indexes). */
export interface Memory {
  /** A group is about to begin: ends open reads. */
  beginning(): void
  /** The write lock is held: read the changes of other processes. No other process writes before the commit. */
  begun(): void
  /** All changes of the group ran and the commit follows: write their sums. */
  ending(): void
  /** The group is durable; its duration in ms. */
  committed?(ms: number): void
  /** The changes of this group were rolled back: drop what was read of them. */
  undone(): void
}

/** Most changes per commit, so that a burst cannot hold the thread for long. */
const GROUP_MAX = 256
/** A group accepts no further change after this time: fifty large sends at once would hold the thread for a second. */
const GROUP_MS = 25
/** Longest time that a change waits for others. */
const GATHER_MS = 10

/** Interval of attempts to get the write lock. An attempt takes the connection's busy timeout. */
const LOCK_RETRY_MS = 25

/** Connection → its Writer. Changes wait `lockPatienceMs` for another process's lock; later ones are refused until it is free
 *  again. */
export function createWriter(
  db: Connection,
  memory: Memory,
  { lockPatienceMs = 0 }: { lockPatienceMs?: number } = {},
): Writer {
  const begin = db.prepare('begin immediate')
  const commit = db.prepare('commit')
  const rollback = db.prepare('rollback')
  const queue: Pending[] = []
  const reads: (() => void)[] = []
  let armed = false
  let lockedSince: number | null = null
  let isDoubtful = false
  /** Number of changes of the current group that were started. */
  let begun = 0

  const takeLock = () => {
    try {
      if (isDoubtful) requireSound(db)
      isDoubtful = false
      begin.run()
      lockedSince = null
    } catch (error) {
      if (!isLocked(error)) throw error
      lockedSince ??= performance.now()
      throw performance.now() - lockedSince < lockPatienceMs ? LOCKED : error
    }
  }

  /** Results of the changes that fit into the time; the others were not started. */
  const transact = (changes: Pending[]): (() => void)[] => {
    begun = 0
    memory.beginning()
    takeLock()
    const beganAt = performance.now()
    try {
      memory.begun()
      const answers: (() => void)[] = []
      for (const { change } of changes) {
        begun++
        answers.push(change())
        if (performance.now() - beganAt > GROUP_MS) break
      }
      memory.ending()
      commit.run()
      memory.committed?.(performance.now() - beganAt)
      return answers
    } catch (error) {
      isDoubtful ||= codeOf(error).startsWith('SQLITE_IOERR')
      try {
        if (db.inTransaction) rollback.run()
      } finally {
        memory.undone()
      }
      throw error
    }
  }

  /** Each change is decided, or moved to `held`, because it has to wait for the lock. */
  const settle = (group: Pending[], held: Pending[]) => {
    try {
      const answers = transact(group)
      for (const answer of answers) answer()
      held.push(...group.slice(answers.length))
    } catch (error) {
      if (error === LOCKED) held.push(...group)
      else if (group.length === 1 || isUnavailable(error))
        for (const pending of group) pending.reject(storeError(error))
      else {
        const again = group.slice(0, Math.max(begun, 1))
        for (const pending of again) settle([pending], held)
        held.push(...group.slice(again.length))
      }
    }
  }

  /** Callers that are answered together also come back one after the other. Committing what the first turn brings
   *  would alternate between small and large groups, and write a fifth more pages. */
  const gather = (known: number, until: number) => {
    armed = true
    setImmediate(() => {
      const brought = queue.length - known
      if (brought > 0 && queue.length < GROUP_MAX && performance.now() < until) gather(queue.length, until)
      else prepare()
    })
  }

  const arm = () => {
    if (!armed) gather(0, performance.now() + GATHER_MS)
  }

  const prepare = () => {
    if (reads.length === 0) return flush()
    for (const read of reads.splice(0)) read()
    setImmediate(flush)
  }

  const flush = () => {
    const group = queue.splice(0, GROUP_MAX)
    const held: Pending[] = []
    if (group.length > 0) settle(group, held)
    queue.unshift(...held)
    armed = queue.length > 0 || reads.length > 0
    if (!armed) return
    if (held.length > 0 && lockedSince !== null) setTimeout(prepare, LOCK_RETRY_MS)
    else setImmediate(prepare)
  }

  return {
    write: (change) =>
      new Promise((resolve, reject) => {
        const decide = () => {
          const value = change()
          return () => resolve(value)
        }
        queue.push({ change: decide, reject })
        arm()
      }),
    before: (read) =>
      new Promise((resolve, reject) => {
        reads.push(() => {
          try {
            resolve(read())
          } catch (error) {
            reject(error)
          }
        })
        arm()
      }),
    idle: async () => {
      while (armed) await new Promise((resolve) => setImmediate(resolve))
    },
  }
}

/** SQLite codes that concern the disk or another process, not the change (sqlite.org/rescode.html). */
const UNAVAILABLE = /^SQLITE_(FULL|IOERR|BUSY|LOCKED|READONLY|CANTOPEN|NOMEM)/

function isUnavailable(error: unknown): boolean {
  return error instanceof StoreUnavailable || UNAVAILABLE.test(codeOf(error))
}

/** Thrown instead of SQLITE_BUSY while there is still time to wait. */
const LOCKED = new Error('another process has the write lock')

const isLocked = (error: unknown) => codeOf(error).startsWith('SQLITE_BUSY')

/** Copies all of the log into the file and syncs it, so that nothing depends on a log that could not be written.
 *  Throws what the driver throws, and StoreUnavailable while a reader uses the log. */
function requireSound(db: Connection): void {
  const rows = db.pragma('wal_checkpoint(truncate)')
  const busy = Array.isArray(rows) ? fieldOf(rows[0], 'busy') : undefined
  if (busy === 1)
    throw new StoreUnavailable('the database cannot write: its log may be incomplete and is in use by a reader')
}

/** Driver error → StoreUnavailable if waiting may help; any other error, which is a bug, is returned unchanged. */
function storeError(error: unknown): unknown {
  if (!isUnavailable(error) || error instanceof StoreUnavailable) return error
  const code = codeOf(error)
  return new StoreUnavailable(`the database cannot write: ${code}`, { cause: error, isFull: code === 'SQLITE_FULL' })
}

function codeOf(error: unknown): string {
  return typeof error === 'object' && error !== null && 'code' in error ? String(error.code) : ''
}
