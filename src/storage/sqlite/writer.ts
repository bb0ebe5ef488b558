import { fieldOf } from '../../os/records.ts'
import { StoreUnavailable } from '../store.ts'
import type { Connection } from './driver.ts'

/** All writes pass here. Changes share one transaction and one fsync with those that came in the same turn
 *  of the event loop, and in the turns behind it for as long as each brings more (group commit): at 50 connections that is
 *  more than ten times the speed of a commit each, and no slower for one.
 *
 *  A change is a synchronous function without side effects outside the database, because it may run twice:
 *  when one change of a group throws, the group is rolled back and each runs again on its own, so that one
 *  caller's trouble is nobody else's.
 *
 *  While another process has the write lock the changes wait beside the thread, not on it. After an I/O error nothing is
 *  written any more until the whole log is in the file and that is synced: what a failed fsync has left in the system's
 *  memory may be gone later, although the next fsync succeeds, so nothing may rest on it. */
export interface Writer {
  /** Runs `change` in the next group → its value, once that is durable. Rejects with what it threw, or with
   *  StoreUnavailable when the disk refuses; nothing was written then. */
  write<T>(change: () => T): Promise<T>
  /** Resolves when everything handed in so far is decided. */
  idle(): Promise<void>
}

interface Pending {
  /** Makes the change → what resolves the promise with its result. */
  change: () => () => void
  reject: (error: unknown) => void
}

/** What is remembered beside the database of what is in it (caches, due indexes). */
export interface Memory {
  /** A group is about to begin: let go of what reading holds. */
  beginning(): void
  /** The write lock is ours: catch up with what other processes wrote. Nobody else writes before the commit. */
  begun(): void
  /** All changes of the group are made and the commit follows: write what they add up to. */
  ending(): void
  /** The group is durable; from its beginning it took so long. */
  committed?(ms: number): void
  /** What changes of this group wrote was taken back: forget what was read of it. */
  undone(): void
}

/** The most changes one commit carries, so that a burst cannot hold the thread for long. */
const GROUP_MAX = 256
/** A group takes no further change after so long: fifty large sends that came together would hold the thread for a second. */
const GROUP_MS = 25
/** The longest that a change waits for others to come. */
const GATHER_MS = 10

/** Between two looks for the write lock. A look takes the connection's busy timeout. */
const LOCK_RETRY_MS = 25

/** A connection → its Writer. `accompany` may add to a change, as it is handed in, what is to be written with it. For a
 *  lock of another process changes wait `lockPatienceMs`; those that come later are refused until it is free again. */
export function createWriter(
  db: Connection,
  memory: Memory,
  options: { accompany?: <T>(change: () => T) => () => T; lockPatienceMs?: number } = {},
): Writer {
  const { accompany = (change) => change, lockPatienceMs = 0 } = options
  const begin = db.prepare('begin immediate')
  const commit = db.prepare('commit')
  const rollback = db.prepare('rollback')
  const queue: Pending[] = []
  let armed = false
  let lockedSince: number | null = null
  let isDoubtful = false
  /** Changes of the present group that were begun. */
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

  /** What resolves the first of them; the others had no time left and were not begun. */
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

  /** Each change is decided, or put into `held`, because it has to wait for the lock. */
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

  /** Whatever is answered together asks again one after the other. Who commits what the first turn brings commits a small
   *  group, then a large one, then a small one, and writes a fifth more pages. */
  const gather = (known: number, until: number) => {
    armed = true
    setImmediate(() => {
      const brought = queue.length - known
      if (brought > 0 && queue.length < GROUP_MAX && performance.now() < until) gather(queue.length, until)
      else flush()
    })
  }

  const flush = () => {
    const group = queue.splice(0, GROUP_MAX)
    const held: Pending[] = []
    settle(group, held)
    queue.unshift(...held)
    armed = queue.length > 0
    if (!armed) return
    if (held.length > 0 && lockedSince !== null) setTimeout(flush, LOCK_RETRY_MS)
    else setImmediate(flush)
  }

  return {
    write: (change) =>
      new Promise((resolve, reject) => {
        const accompanied = accompany(change)
        const decide = () => {
          const value = accompanied()
          return () => resolve(value)
        }
        queue.push({ change: decide, reject })
        if (!armed) gather(0, performance.now() + GATHER_MS)
      }),
    idle: async () => {
      while (armed) await new Promise((resolve) => setImmediate(resolve))
    },
  }
}

/** Codes of SQLite that speak of the disk or of another process, not of the change (sqlite.org/rescode.html). */
const UNAVAILABLE = /^SQLITE_(FULL|IOERR|BUSY|LOCKED|READONLY|CANTOPEN|NOMEM)/

function isUnavailable(error: unknown): boolean {
  return error instanceof StoreUnavailable || UNAVAILABLE.test(codeOf(error))
}

/** Thrown instead of SQLITE_BUSY while there is still time to wait. */
const LOCKED = new Error('another process has the write lock')

const isLocked = (error: unknown) => codeOf(error).startsWith('SQLITE_BUSY')

/** Brings all of the log into the file and syncs it, so that nothing rests on a log that could not be written to. Throws
 *  what the driver throws, and StoreUnavailable while somebody reads from the log. */
function requireSound(db: Connection): void {
  const rows = db.pragma('wal_checkpoint(truncate)')
  const busy = Array.isArray(rows) ? fieldOf(rows[0], 'busy') : undefined
  if (busy === 1) throw new StoreUnavailable('the store cannot write: its log is in doubt and somebody reads from it')
}

/** An error of the driver → StoreUnavailable where waiting may help; anything else stays what it is: a bug. */
function storeError(error: unknown): unknown {
  if (!isUnavailable(error) || error instanceof StoreUnavailable) return error
  const code = codeOf(error)
  return new StoreUnavailable(`the store cannot write: ${code}`, { cause: error, isFull: code === 'SQLITE_FULL' })
}

function codeOf(error: unknown): string {
  return typeof error === 'object' && error !== null && 'code' in error ? String(error.code) : ''
}
