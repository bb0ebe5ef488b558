import { INSTALLATION } from '../../model/organization.ts'
import { insertInto, writeEach } from '../mail/each.ts'
import type { Work } from '../sql.ts'
import type { Connection } from './driver.ts'
import type { Reader } from './reader.ts'
import { PART, partOf } from './search-index.ts'
import type { Writer } from './writer.ts'

const NOTE = insertInto<{ number: number }>(
  'search_outdated',
  { number: ['bigint', ({ number }) => number] },
  'on conflict do nothing',
)
const NEWEST = 'select max(number) from messages'
const NEXT = 'select number from search_outdated order by number limit 1'
const OUTDATED = 'select number from search_outdated where number >= ? and number < ? order by number'
const DONE = 'delete from search_outdated where number in (select value from json_each(?))'

/** Messages that leave the index, or the list of outdated ones, at once: some milliseconds. */
const AT_ONCE = 256

/** Keeps the search index, which the reading thread writes (search-index.ts), in line with the messages. */
export interface Search {
  /** Inside a change: true while the index has such words. The next cleanForErasure erases them. */
  erasureWaits(): boolean
  /** Erases all of them if an erasure waits for it. */
  cleanForErasure(): Promise<void>
  /** Indexes the next batch; true while more is waiting. */
  index(): Promise<boolean>
  /** Indexes a batch before a search, if the index can be written. What is newer is searched without it. */
  catchUp(): Promise<void>
  /** Erases the outdated words of one part of the index from its file; true while there are more. A stop in between begins
   *  the part again, which is harmless. */
  clean(): Promise<boolean>
}

/** Messages that were removed or whose texts changed since the index was cleaned last. */
export class Outdated {
  /** Those since the cleaning of a part began: their present words may have to leave too. Null: none is being cleaned. */
  meanwhile: Set<number> | null = null

  /** Inside the change. Until their words have left the index, a search compares them with the message. */
  note(messages: readonly { number: number }[]): Work<void> {
    for (const { number } of messages) this.meanwhile?.add(number)
    return writeEach(NOTE, messages)
  }
}

export function createSearch(
  db: Connection,
  noted: Outdated,
  { writer, reader }: { writer: Writer; reader: Reader },
): Search {
  const newest = db.prepare<unknown[], number | null>(NEWEST).pluck()
  const next = db.prepare<unknown[], number>(NEXT).pluck()
  const outdated = db.prepare<unknown[], number>(OUTDATED).pluck()
  const done = db.prepare(DONE)
  const isOutdated = () => next.get() !== undefined
  let isAwaited = false
  /** Everything up to this number is indexed: the thread can rest. */
  let indexed = -1
  const index = async () => {
    const upTo = newest.get() ?? 0
    if (upTo === indexed) return false
    const isMore = await reader.ask('indexSearch', INSTALLATION)
    if (!isMore) indexed = upTo
    return isMore
  }
  const cleanPart = async () => {
    const first = next.get()
    if (first === undefined) return false
    const part = partOf(first)
    const numbers = outdated.all(part * PART, (part + 1) * PART)
    const meanwhile = new Set<number>()
    noted.meanwhile = meanwhile
    const slices = Array.from({ length: Math.ceil(numbers.length / AT_ONCE) }, (_, at) =>
      numbers.slice(at * AT_ONCE, (at + 1) * AT_ONCE),
    )
    for (const slice of slices) await reader.ask('renewSearch', INSTALLATION, part, slice)
    while (await reader.ask('purgeSearch', INSTALLATION, part));
    for (const slice of slices) {
      await writer.write(() => {
        done.run(JSON.stringify(slice.filter((number) => !meanwhile.has(number))))
      })
    }
    return isOutdated()
  }
  let cleaning: Promise<boolean> | null = null
  const clean = () => {
    cleaning ??= cleanPart().finally(() => {
      cleaning = null
      noted.meanwhile = null
    })
    return cleaning
  }
  return {
    erasureWaits: () => {
      isAwaited = isOutdated()
      return isAwaited
    },
    cleanForErasure: async () => {
      if (!isAwaited) return
      while (await clean());
      isAwaited = false
    },
    index,
    catchUp: async () => {
      await index().catch(() => {}) // the task of the index reports it
    },
    clean,
  }
}
