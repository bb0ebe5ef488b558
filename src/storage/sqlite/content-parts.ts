import { StoreUnavailable } from '../store.ts'
import type { Connection } from './driver.ts'

const BEGIN = `insert into large_contents (kind) values ('coming')`
const ADD = 'insert into content_parts (content, part, bytes) values (?, ?, ?)'
const OWN = `update large_contents set kind = ?, owner = ? where number = ? and kind = 'coming'`
const REST = `select p.bytes from large_contents c join content_parts p on p.content = c.number
  where c.kind = ? and c.owner = ? order by p.part`
const LET_GO = `update large_contents set kind = 'gone', owner = null where kind = ? and owner = ?`
const GIVE_UP = `update large_contents set kind = 'gone' where number = ? and kind = 'coming'`
const GIVE_UP_ALL = `update large_contents set kind = 'gone' where kind = 'coming'`
const COMING = `select 1 from large_contents where kind = 'coming' limit 1`
const GONE = `select number from large_contents where kind = 'gone' limit 1`
const REMOVE_LAST = `delete from content_parts where content = ? and part =
    (select max(part) from content_parts where content = ?)`
const FORGET = 'delete from large_contents where number = ?'

/** Erased and committed in one or two milliseconds. Nearly all mail is shorter. Tests are told of it. */
export const PART_BYTES = 256 * 1024

/** Removed in one transaction: only its commit, which the caller's time does not see, writes the blank pages. */
const PARTS_MAX = 2

/** message_contents.content, inbound_raws.parsed, inbound_raws.raw. */
type Kind = 'content' | 'parsed' | 'raw'

/** Contents in parts: the first stands in the row of its owner, and when it is full there may be others beside it. A
 *  part that got lost leaves a content that is too short, which its checksum tells whoever unpacks it. */
export interface ContentParts {
  /** Bytes → what stands in the row of their owner. */
  first(bytes: Uint8Array): Uint8Array
  /** Inside a change: the other parts, if there are any, are the owner's from now on; they are written if they are not yet.
   *  Throws StoreUnavailable when what was written has been given up meanwhile. */
  addRest(kind: Kind, owner: number | bigint, bytes: Uint8Array): void
  /** The first part as it was read → all of the bytes. */
  whole(kind: Kind, owner: number, first: Uint8Array): Uint8Array
  /** Inside the change that removes the owner: its other parts belong to nobody any more. */
  letGo(kind: Kind, owner: number): void
  /** Inside a change: removes some of what belongs to nobody, until the time is up; true while there may be more. */
  removeSome(timeIsUp: () => boolean): boolean

  /** Inside a change: writes the parts from `at` on, some, of a content that nobody owns yet → where to go on; null at first. */
  writeSome(bytes: Uint8Array, at: Place | null, mostParts: number): Place
  /** Whoever comes to own these bytes owns what was written of them. */
  writtenAs(bytes: Uint8Array, content: number): void
  /** Inside a change: what nobody has come to own is to be removed; of all contents when none is named. */
  giveUp(content: number | null): void
}

/** How much of a content is written. */
interface Place {
  content: number
  /** The next, from 1. */
  part: number
}

export function contentParts(db: Connection, writing: (bytes: number) => void = () => {}): ContentParts {
  const begin = db.prepare(BEGIN)
  const add = db.prepare(ADD)
  const own = db.prepare(OWN)
  const rest = db.prepare<unknown[], Uint8Array>(REST).pluck()
  const letGo = db.prepare(LET_GO)
  const giveUp = db.prepare(GIVE_UP)
  const giveUpAll = db.prepare(GIVE_UP_ALL)
  const coming = db.prepare(COMING)
  const gone = db.prepare(GONE).pluck()
  const removeLast = db.prepare(REMOVE_LAST)
  const forget = db.prepare(FORGET)
  /** Contents that wait for their owner, by their bytes. */
  const written = new WeakMap<Uint8Array, number>()

  const writeSome = (bytes: Uint8Array, at: Place | null, mostParts: number): Place => {
    const content = at?.content ?? Number(begin.run().lastInsertRowid)
    const from = at?.part ?? 1
    const end = Math.min(from + mostParts, Math.ceil(bytes.byteLength / PART_BYTES))
    writing((end - from) * PART_BYTES)
    for (let part = from; part < end; part++) {
      add.run(content, part, bytes.subarray(part * PART_BYTES, (part + 1) * PART_BYTES))
    }
    return { content, part: end }
  }

  return {
    first: (bytes) => (bytes.byteLength > PART_BYTES ? bytes.subarray(0, PART_BYTES) : bytes),
    addRest: (kind, owner, bytes) => {
      if (bytes.byteLength <= PART_BYTES) return
      const content = written.get(bytes) ?? writeSome(bytes, null, Number.POSITIVE_INFINITY).content
      if (own.run(kind, owner, content).changes === 0) throw new StoreUnavailable('a content was given up')
    },
    whole: (kind, owner, first) =>
      first.byteLength < PART_BYTES ? first : Buffer.concat([first, ...rest.all(kind, owner)]),
    letGo: (kind, owner) => {
      letGo.run(kind, owner)
    },
    removeSome: (timeIsUp) => {
      for (let count = 0; count < PARTS_MAX; count++) {
        const content = gone.get()
        if (content === undefined) return false
        if (removeLast.run(content, content).changes === 0) forget.run(content)
        if (timeIsUp()) break
      }
      return true
    },
    writeSome,
    writtenAs: (bytes, content) => written.set(bytes, content),
    giveUp: (content) => {
      if (content !== null) giveUp.run(content)
      else if (coming.get() !== undefined) giveUpAll.run() // else it would wait for the write lock for nothing
    },
  }
}
