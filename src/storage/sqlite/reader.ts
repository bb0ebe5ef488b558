import { NoThread, PoisonousJob, PoolStopped, type ThreadPool } from '../../os/thread-pool.ts'
import { StoreUnavailable } from '../errors.ts'
import type { Connection } from './driver.ts'
import type { Reading } from './reading.ts'
import { type Reads, readsOn } from './reads.ts'

type ReadName = keyof Reads

/** Runs reads of many records. Each sees everything that was written when it was asked for: a commit ends before its
 *  caller gets an answer, and a read begins its transaction after the request came. */
export interface Reader {
  /** `owner`: the organization that asks, '' for the installation. Rejects with StoreUnavailable if too many reads wait,
   *  and if the read twice ended its thread. */
  ask<Name extends ReadName>(name: Name, owner: string, ...args: Parameters<Reads[Name]>): Answer<Name>
  /** Closes its connection, if it has one of its own. */
  close(): Promise<void>
}

type Answer<Name extends ReadName> = Promise<Awaited<ReturnType<Reads[Name]>>>

/** A read for the thread; or its last job, which closes the connection. */
export type ReadJob = { name: ReadName; owner: string; args: readonly unknown[] } | { name: 'close'; owner: '' }

/** The reading thread: a pool with a single thread, since `close` is for one. */
export type ReadingThread = ThreadPool<ReadJob, unknown>

/** What the reading thread gets at its start. */
export interface ReadingSettings {
  /** Path of the database. */
  file: string
}

/** Reads at once on a connection: for the command line, and for databases in memory. */
export function readerOn(db: Connection, reading: Reading): Reader {
  const reads = readsOn(db)
  return {
    ask: async (name, _owner, ...args) => {
      reading.begin()
      return performRead(reads, name, args)
    },
    close: async () => reads.closeSearch(),
  }
}

/** Reads in the thread, one at a time, the organizations in turn. */
export function threadReader(thread: ReadingThread): Reader {
  return {
    ask: async (name, owner, ...args) => {
      if (thread.state().waiting >= MOST_WAITING) throw new StoreUnavailable('too many lists and searches are waiting')
      try {
        return (await thread.run({ name, owner, args })) as never // what performRead gave
      } catch (error) {
        const isOfThread = [NoThread, PoisonousJob, PoolStopped].some((kind) => error instanceof kind)
        throw isOfThread ? new StoreUnavailable('the reading thread ended', { cause: error }) : error
      }
    },
    close: async () => {
      if (thread.state().runners > 0) await thread.run({ name: 'close', owner: '' }).catch(() => {})
      await thread.stop()
    },
  }
}

/** Reads that may wait for the thread: ten seconds of work. */
const MOST_WAITING = 1_000

/** Name and arguments of a read → its result, from one state of the database. Throws what the read throws. */
export function performRead(reads: Reads, name: ReadName, args: readonly unknown[]) {
  const read = reads[name] as (...given: readonly unknown[]) => Awaited<ReturnType<Reads[typeof name]>>
  return read(...args) as never // Reader.ask pairs names with arguments and results
}
