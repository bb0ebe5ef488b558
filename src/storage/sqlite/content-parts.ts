import { StoreUnavailable } from '../store.ts'
import type { Connection } from './driver.ts'

const BEGIN = `insert into large_contents (kind) values ('coming')`
const ADD = 'insert into content_parts (content, part, bytes) values (?, ?, ?)'
const OWN = `update large_contents set kind = ?, owner = ? where number = ? and kind = 'coming'`
const REST = `select p.bytes from large_contents c join content_parts p on p.content = c.number
  where c.kind = ? and c.owner = ? order by p.part`
const SOME = `select p.part, p.bytes from large_contents c join content_parts p on p.content = c.number
  where c.kind = ? and c.owner = ? and p.part > ? order by p.part limit ?`
const IS_OWNED = 'select 1 from large_contents where kind = ? and owner = ?'
const LET_GO = `update large_contents set kind = 'gone', owner = null where kind = ? and owner = ?`
const GIVE_UP = `update large_contents set kind = 'gone' where number = ? and kind = 'coming'`
const GIVE_UP_ALL = `update large_contents set kind = 'gone' where kind = 'coming'`
const COMING = `select 1 from large_contents where kind = 'coming' limit 1`
const GONE = `select number from large_contents where kind = 'gone' limit 1`
const REMOVE_LAST = `delete from content_parts where content = ? and part =
    (select max(part) from content_parts where content = ?)`
const DELETE_CONTENT = 'delete from large_contents where number = ?'

/** Erasing and committing a part takes one or two milliseconds. Nearly all mail is shorter. Tests change it. */
export const PART_BYTES = 256 * 1024

/** Parts read in one turn of the event loop, which takes two milliseconds. */
const READ_AT_ONCE = 8

/** Parts removed in one transaction: only its commit, which the caller's time limit does not cover, writes the blank
 *  pages. */
const PARTS_MAX = 2

/** message_contents.content, inbound_raws.parsed, inbound_raws.raw. */
type Kind = 'content' | 'parsed' | 'raw'

/** Contents in parts. The first part is in the row of its owner; if it is full, others may be stored separately. A
 *  lost part leaves the content too short, which its checksum reveals when it is unpacked. */
export interface ContentParts {
  /** Bytes → the part that is stored in the owner's row. */
  first(bytes: Uint8Array): Uint8Array
  /** Inside a change: assigns the other parts, if any, to the owner, and writes them if they are not written yet.
   *  Throws StoreUnavailable if the written parts were given up meanwhile. */
  addRest(kind: Kind, owner: number | bigint, bytes: Uint8Array): void
  /** First part as read → all bytes. */
  whole(kind: Kind, owner: number, first: Uint8Array): Uint8Array
  /** The same in several turns of the event loop; null if the owner was removed meanwhile. */
  wholeInTurns(kind: Kind, owner: number, first: Uint8Array): Promise<Uint8Array | null>
  /** Inside the change that removes the owner: releases its other parts for removal. */
  letGo(kind: Kind, owner: number): void
  /** Inside a change: removes some parts without an owner, until the time is up; true while there may be more. */
  removeSome(timeIsUp: () => boolean): boolean

  /** Inside a change: writes some parts from `at` on of a content without an owner → where to continue; null at
   *  first. */
  writeSome(bytes: Uint8Array, at: Place | null, mostParts: number): Place
  /** Records that these bytes are written as `content`, so that their owner can take over the parts. */
  writtenAs(bytes: Uint8Array, content: number): void
  /** Inside a change: releases written parts that got no owner; those of all contents if none is given. */
  giveUp(content: number | null): void
}

/** Position up to which a content is written. */
interface Place {
  content: number
  /** Number of the next part, from 1. */
  part: number
}

export function contentParts(db: Connection, writing: (bytes: number) => void = () => {}): ContentParts {
  const begin = db.prepare(BEGIN)
  const add = db.prepare(ADD)
  const own = db.prepare(OWN)
  const rest = db.prepare<unknown[], Uint8Array>(REST).pluck()
  const some = db.prepare<unknown[], { part: number; bytes: Uint8Array }>(SOME)
  const isOwned = db.prepare(IS_OWNED)
  const letGo = db.prepare(LET_GO)
  const giveUp = db.prepare(GIVE_UP)
  const giveUpAll = db.prepare(GIVE_UP_ALL)
  const coming = db.prepare(COMING)
  const gone = db.prepare(GONE).pluck()
  const removeLast = db.prepare(REMOVE_LAST)
  const deleteContent = db.prepare(DELETE_CONTENT)
  /** Written contents that wait for their owner, by their bytes. */
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
      if (own.run(kind, owner, content).changes === 0)
        throw new StoreUnavailable('the content was discarded before it was stored')
    },
    whole: (kind, owner, first) =>
      first.byteLength < PART_BYTES ? first : Buffer.concat([first, ...rest.all(kind, owner)]),
    wholeInTurns: async (kind, owner, first) => {
      if (first.byteLength < PART_BYTES) return first
      const pieces = [first]
      for (let found = some.all(kind, owner, 0, READ_AT_ONCE); found.length > 0; ) {
        pieces.push(...found.map(({ bytes }) => bytes))
        if (found.length < READ_AT_ONCE) break
        await new Promise(setImmediate)
        if (isOwned.get(kind, owner) === undefined) return null
        found = some.all(kind, owner, found.at(-1)!.part, READ_AT_ONCE) // not empty
      }
      return Buffer.concat(pieces)
    },
    letGo: (kind, owner) => {
      letGo.run(kind, owner)
    },
    removeSome: (timeIsUp) => {
      for (let count = 0; count < PARTS_MAX; count++) {
        const content = gone.get()
        if (content === undefined) return false
        if (removeLast.run(content, content).changes === 0) deleteContent.run(content)
        if (timeIsUp()) break
      }
      return true
    },
    writeSome,
    writtenAs: (bytes, content) => written.set(bytes, content),
    giveUp: (content) => {
      if (content !== null) giveUp.run(content)
      else if (coming.get() !== undefined) giveUpAll.run() // otherwise it would wait for the write lock for nothing
    },
  }
}
