import { StoreUnavailable } from '../store.ts'
import type { Connection } from './driver.ts'

/** All writing of the house passes here. Changes of one turn of the event loop share one transaction and one
 *  fsync (group commit): at 50 connections that is ten times the speed of a commit each, and no slower for one.
 *
 *  A change is a synchronous function without side effects outside the database, because it may run twice:
 *  when one change of a group throws, the group is rolled back and each runs again on its own, so that one
 *  caller's trouble is nobody else's. */
export interface Writer {
  /** Runs `change` in the next group → its value, once that is durable. Rejects with what it threw, or with
   *  StoreUnavailable when the disk refuses; nothing was written then. */
  write<T>(change: () => T): Promise<T>
  /** Resolves when everything handed in so far is decided. */
  idle(): Promise<void>
}

interface Pending {
  change: () => unknown
  resolve: (value: never) => void
  reject: (error: unknown) => void
}

/** What is remembered beside the database of what is in it (caches, agendas). */
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

/** A connection → its Writer. `accompany` may add to a change, as it is handed in, what is to be written with it. */
export function createWriter(
  db: Connection,
  memory: Memory,
  accompany: <T>(change: () => T) => () => T = (change) => change,
): Writer {
  const begin = db.prepare('begin immediate')
  const commit = db.prepare('commit')
  const rollback = db.prepare('rollback')
  const queue: Pending[] = []
  let armed = false

  const transact = (changes: Pending[]): unknown[] => {
    memory.beginning()
    const beganAt = performance.now()
    begin.run()
    try {
      memory.begun()
      const values = changes.map((pending) => pending.change())
      memory.ending()
      commit.run()
      memory.committed?.(performance.now() - beganAt)
      return values
    } catch (error) {
      if (db.inTransaction) rollback.run()
      memory.undone()
      throw error
    }
  }

  const settle = (group: Pending[]) => {
    try {
      const values = transact(group)
      group.forEach((pending, at) => {
        pending.resolve(values[at] as never)
      })
    } catch (error) {
      if (group.length === 1) group[0]!.reject(storeError(error))
      else if (isUnavailable(error)) for (const pending of group) pending.reject(storeError(error))
      else for (const pending of group) settle([pending])
    }
  }

  const flush = () => {
    const group = queue.splice(0, GROUP_MAX)
    armed = queue.length > 0
    if (armed) setImmediate(flush)
    settle(group)
  }

  return {
    write: (change) =>
      new Promise((resolve, reject) => {
        queue.push({ change: accompany(change), resolve: resolve as (value: never) => void, reject })
        if (!armed) {
          armed = true
          setImmediate(flush)
        }
      }),
    idle: async () => {
      while (armed) await new Promise((resolve) => setImmediate(resolve))
    },
  }
}

/** Codes of SQLite that speak of the disk or of another process, not of the change (sqlite.org/rescode.html). */
const UNAVAILABLE = /^SQLITE_(FULL|IOERR|BUSY|LOCKED|READONLY|CANTOPEN|NOMEM)/

function isUnavailable(error: unknown): boolean {
  return UNAVAILABLE.test(codeOf(error))
}

/** An error of the driver → StoreUnavailable where waiting may help; anything else stays what it is: a bug. */
function storeError(error: unknown): unknown {
  return isUnavailable(error)
    ? new StoreUnavailable(`the store cannot write: ${codeOf(error)}`, { cause: error })
    : error
}

function codeOf(error: unknown): string {
  return typeof error === 'object' && error !== null && 'code' in error ? String(error.code) : ''
}
