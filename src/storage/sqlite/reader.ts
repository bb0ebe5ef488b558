import { NoThread, PoisonousJob, PoolStopped, type ThreadPool } from '../../os/thread-pool.ts'
import { StoreUnavailable } from '../errors.ts'
import type { ListName, Lists } from '../lists/works.ts'
import type { Connection } from './driver.ts'
import type { Reading } from './reading.ts'
import { type Reads, readsOn } from './reads.ts'

type ReadName = keyof Reads

/** Runs reads of many records. Each sees everything that was written when it was asked for: a commit ends before its
 *  caller gets an answer, and a read begins its transaction after the request came. */
export interface Reader extends Lists {
  /** Rejects with StoreUnavailable if too many reads wait, of all or of this organization, and if the read twice ended its
   *  thread. */
  ask: Lists['ask'] & AskSearch
  /** Closes its connection, if it has one of its own. */
  close(): Promise<void>
}

type SearchName = Exclude<ReadName, ListName>
type AskSearch = <Name extends SearchName>(
  name: Name,
  owner: string,
  ...args: Parameters<Reads[Name]>
) => Promise<ReturnType<Reads[Name]>>

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
    ask: async (name: ReadName, _owner: string, ...args: readonly unknown[]) => {
      reading.begin()
      return performRead(reads, name, args)
    },
    close: async () => reads.closeSearch(),
  }
}

/** Reads in the thread, one at a time, the organizations in turn. */
export function threadReader(thread: ReadingThread): Reader {
  /** Reads of each organization that have not ended. */
  const unended = new Map<string, number>()
  const count = (owner: string, change: 1 | -1) => {
    const reads = (unended.get(owner) ?? 0) + change
    if (reads === 0) unended.delete(owner)
    else unended.set(owner, reads)
  }
  return {
    ask: async (name: ReadName, owner: string, ...args: readonly unknown[]) => {
      const isFull = thread.state().waiting >= MOST_WAITING || (unended.get(owner) ?? 0) >= MOST_OF_OWNER
      if (isFull) throw new StoreUnavailable('too many lists and searches are waiting')
      count(owner, 1)
      try {
        return (await thread.run({ name, owner, args })) as never // what performRead gave
      } catch (error) {
        const isOfThread = [NoThread, PoisonousJob, PoolStopped].some((kind) => error instanceof kind)
        throw isOfThread ? new StoreUnavailable('the reading thread ended', { cause: error }) : error
      } finally {
        count(owner, -1)
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
/** Reads of one organization, so that it leaves room for those of others. */
const MOST_OF_OWNER = 250

/** Name and arguments of a read → its result, from one state of the database. Throws what the read throws. */
export function performRead(reads: Reads, name: ReadName, args: readonly unknown[]) {
  const read = reads[name] as (...given: readonly unknown[]) => Awaited<ReturnType<Reads[typeof name]>>
  return read(...args) as never // Reader.ask pairs names with arguments and results
}
