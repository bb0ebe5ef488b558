import type { Connection } from './driver.ts'

const ADD = 'insert into content_parts (kind, number, part, bytes) values (?, ?, ?, ?)'
const REST = 'select bytes from content_parts where kind = ? and number = ? order by part'
const LET_GO = `insert into removed_contents (kind, number)
  select kind, number from content_parts where kind = ? and number = ? limit 1`
const REMOVED = 'select kind, number from removed_contents order by kind, number limit 1'
const REMOVE_LAST = `delete from content_parts where kind = ? and number = ? and part =
    (select max(part) from content_parts where kind = ? and number = ?)`
const FORGET = 'delete from removed_contents where kind = ? and number = ?'

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
  /** Inside a change: writes the other parts, if there are any. */
  addRest(kind: Kind, number: number | bigint, bytes: Uint8Array): void
  /** The first part as it was read → all of the bytes. */
  whole(kind: Kind, number: number, first: Uint8Array): Uint8Array
  /** Inside the change that removes the owner: its other parts belong to nobody any more. */
  letGo(kind: Kind, number: number): void
  /** Inside a change: removes some of what belongs to nobody, until the time is up; true while there may be more. */
  removeSome(timeIsUp: () => boolean): boolean
}

/** `writing` is told how many bytes each content has, before they are written. */
export function contentParts(db: Connection, writing: (bytes: number) => void = () => {}): ContentParts {
  const add = db.prepare(ADD)
  const rest = db.prepare(REST).pluck()
  const letGo = db.prepare(LET_GO)
  const removed = db.prepare(REMOVED)
  const removeLast = db.prepare(REMOVE_LAST)
  const forget = db.prepare(FORGET)
  return {
    first: (bytes) => (bytes.byteLength > PART_BYTES ? bytes.subarray(0, PART_BYTES) : bytes),
    addRest: (kind, number, bytes) => {
      writing(bytes.byteLength)
      for (let part = 1; part * PART_BYTES < bytes.byteLength; part++) {
        add.run(kind, number, part, bytes.subarray(part * PART_BYTES, (part + 1) * PART_BYTES))
      }
    },
    whole: (kind, number, first) =>
      first.byteLength < PART_BYTES ? first : Buffer.concat([first, ...(rest.all(kind, number) as Uint8Array[])]),
    letGo: (kind, number) => {
      letGo.run(kind, number)
    },
    removeSome: (timeIsUp) => {
      for (let count = 0; count < PARTS_MAX; count++) {
        const next = removed.get() as { kind: Kind; number: number } | undefined
        if (next === undefined) return false
        const { kind, number } = next
        if (removeLast.run(kind, number, kind, number).changes === 0) forget.run(kind, number)
        if (timeIsUp()) break
      }
      return true
    },
  }
}
