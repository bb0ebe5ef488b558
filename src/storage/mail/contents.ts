import { StoreUnavailable } from '../errors.ts'
import { type Columns, row, rows, run, sql, type Work } from '../sql.ts'
import { each, forEach, insertInto, writeEach } from './each.ts'
import type { MailInside } from './inside.ts'

/** Erasing and committing a part takes one or two milliseconds. Nearly all mail is shorter. */
export const PART_BYTES = 256 * 1024

/** message_contents.content, inbound_raws.parsed, inbound_raws.raw. */
export type ContentKind = 'content' | 'parsed' | 'raw'

/** Position up to which a content is written that has no owner yet. */
export interface Written {
  content: number
  /** Number of the next part, from 1. */
  part: number
}

interface Owned {
  content: number
  kind: ContentKind
  owner: number
}

const BEGIN = insertInto<{ content: number; writer: number }>('large_contents', {
  number: ['bigint', ({ content }) => content],
  kind: ['text', () => 'coming'],
  writer: ['int', ({ writer }) => writer],
})
const ADD = insertInto<Written & { bytes: Uint8Array }>('content_parts', {
  content: ['bigint', ({ content }) => content],
  part: ['int', ({ part }) => part],
  bytes: ['bytea', ({ bytes }) => bytes],
})
const CONTENT: Columns<{ content: number }> = { content: ['bigint', ({ content }) => content] }
const OWN = each<Owned, { content: number }>(
  { ...CONTENT, owned_as: ['text', ({ kind }: Owned) => kind], owned_by: ['bigint', ({ owner }: Owned) => owner] },
  `update large_contents set kind = r.owned_as, owner = r.owned_by from rows r
    where number = r.content and kind = 'coming' returning number::float8 as content`,
)
const GIVE_UP = each<{ content: number }>(
  CONTENT,
  `update large_contents set kind = 'gone' from rows r where number = r.content and kind = 'coming'`,
)
const REST = each<{ kind: ContentKind; owner: number }, { owner: number; part: number; bytes: Uint8Array }>(
  { kind: ['text', ({ kind }) => kind], owner: ['bigint', ({ owner }) => owner] },
  `select c.owner::float8 as owner, p.part, p.bytes from rows r, large_contents c, content_parts p
    where c.kind = r.kind and c.owner = r.owner and p.content = c.number`,
)

const LET_GO = each<{ kind: ContentKind; owner: number }>(
  { owned_as: ['text', ({ kind }) => kind], owned_by: ['bigint', ({ owner }) => owner] },
  `update large_contents set kind = 'gone', owner = null from rows r where kind = r.owned_as and owner = r.owned_by`,
)
// Another node removes another one.
const GONE = sql<{ number: number }>(
  `select number::float8 as number from large_contents where kind = 'gone' limit 1 for update skip locked`,
)
const REMOVE_LAST = sql(`delete from content_parts where content = $1::bigint
  and part = (select max(part) from content_parts where content = $1::bigint)`)
const REMOVE = sql('delete from large_contents where number = $1::bigint')

/** Number of an owner, and the first part of its content. */
export interface Content {
  number: number
  first: Uint8Array
}

const OF_MESSAGE = sql<Content>(`select m.number::float8 as number, c.content as first
  from messages m join message_contents c on c.message_number = m.number where m.id = $1`)
const SOME_OF = sql<{ part: number; bytes: Uint8Array }>(`select p.part, p.bytes
  from large_contents c join content_parts p on p.content = c.number
  where c.kind = $1 and c.owner = $2::bigint and p.part > $3::int order by p.part limit $4::int`)
/** Parts read at once: two milliseconds. */
const READ_AT_ONCE = 8

/** True if parts of the content are stored apart from its owner. */
export const isLong = ({ content }: { content: Uint8Array }) => content.byteLength > PART_BYTES

/** Bytes → the part that is stored in the owner's row. */
export const firstPart = (bytes: Uint8Array) => (bytes.byteLength > PART_BYTES ? bytes.subarray(0, PART_BYTES) : bytes)

/** Writes up to `most` parts of a content, from `from` on, null = from the first one → where to continue. */
export function* writeSome(inside: MailInside, bytes: Uint8Array, from: Written | null, most: number): Work<Written> {
  const begun = from ?? { content: inside.next('large_contents'), part: 1 }
  const { content } = begun
  if (from === null) yield* writeEach(BEGIN, [{ content, writer: inside.writer() }])
  const end = Math.min(begun.part + most, Math.ceil(bytes.byteLength / PART_BYTES))
  inside.writing((end - begun.part) * PART_BYTES)
  for (let part = begun.part; part < end; part++)
    yield* writeEach(ADD, [{ content, part, bytes: bytes.subarray(part * PART_BYTES, (part + 1) * PART_BYTES) }])
  return { content, part: end }
}

/** Assigns the parts after the first to their owners, and writes those that were not written ahead. Throws
 *  StoreUnavailable if some of these were given up meanwhile. */
export function* ownAll(
  inside: MailInside,
  kind: ContentKind,
  contents: readonly { number: number; content: Uint8Array }[],
): Work<void> {
  const owned: Owned[] = []
  for (const { number: owner, content: bytes } of contents.filter(isLong)) {
    const ahead = inside.writtenAhead.get(bytes)
    const content = ahead ?? (yield* writeSome(inside, bytes, null, Number.POSITIVE_INFINITY)).content
    owned.push({ content, kind, owner })
  }
  const taken = yield* forEach(OWN, owned)
  if (taken.length < owned.length) throw new StoreUnavailable('the content was discarded before it was stored')
}

/** Releases written contents that got no owner, for removal. */
export function giveUp(contents: readonly number[]): Work<void> {
  return writeEach(
    GIVE_UP,
    contents.map((content) => ({ content })),
  )
}

/** Releases the other parts of contents whose owners are removed. */
export function letGo(kind: ContentKind, owners: readonly { number: number }[]): Work<void> {
  return writeEach(
    LET_GO,
    owners.map(({ number: owner }) => ({ kind, owner })),
  )
}

/** Removes some parts that belong to nobody, at most `most` and until the time is up → true while there may be more. */
export function* removeParts(most: number, timeIsUp: () => boolean): Work<boolean> {
  for (let count = 0; count < most; count++) {
    const gone = yield* row(GONE)
    if (gone === null) return false
    if ((yield* run(REMOVE_LAST, gone.number)) === 0) yield* run(REMOVE, gone.number)
    if (timeIsUp()) break
  }
  return true
}

/** First parts as read → whole contents, by their owners. A lost part leaves the content too short, which its checksum
 *  reveals when it is unpacked. */
export function* wholeOf(
  kind: ContentKind,
  first: ReadonlyMap<number, Uint8Array>,
): Work<ReadonlyMap<number, Uint8Array>> {
  const long: [number, Uint8Array][] = []
  for (const each of first) if (each[1].byteLength >= PART_BYTES) long.push(each)
  if (long.length === 0) return first
  const rest = yield* forEach(
    REST,
    long.map(([owner]) => ({ kind, owner })),
  )
  const parts = Map.groupBy(rest, ({ owner }) => owner)
  const whole = new Map(first)
  for (const [owner, bytes] of long) {
    const others = (parts.get(owner) ?? []).toSorted((one, other) => one.part - other.part)
    whole.set(owner, Buffer.concat([bytes, ...others.map((part) => part.bytes)]))
  }
  return whole
}

/** Reads the content of a message; null if it was removed. */
export function* contentOf(messageId: string): Work<Uint8Array | null> {
  return yield* wholeInTurns('content', () => row(OF_MESSAGE, messageId))
}

/** Finds the first part of a content and reads the rest, some parts at a time, between which others work → the whole; null
 *  if it was removed meanwhile. */
export function* wholeInTurns(kind: ContentKind, find: () => Work<Content | null>): Work<Uint8Array | null> {
  const found = yield* find()
  if (found === null || found.first.byteLength < PART_BYTES) return found?.first ?? null
  const pieces = [found.first]
  for (let after = 0; ; ) {
    const some = yield* rows(SOME_OF, kind, found.number, after, READ_AT_ONCE)
    for (const { bytes } of some) pieces.push(bytes)
    const last = some.at(-1)
    if (last === undefined || some.length < READ_AT_ONCE) break
    after = last.part
  }
  // While the owner exists, so do the parts: one transaction removes both.
  return (yield* find()) === null ? null : Buffer.concat(pieces)
}
