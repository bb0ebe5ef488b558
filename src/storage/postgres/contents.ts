import { StoreUnavailable } from '../errors.ts'
import { textArray } from './arrays.ts'
import type { Queries, Statements, Transactions } from './transactions.ts'

/** What a content is of: an outbound message, or the raw and the parsed form of an inbound mail. */
export type ContentKind = 'content' | 'raw' | 'parsed'

export interface NewContent {
  ownerId: string
  kind: ContentKind
  bytes: Uint8Array
}

/** Longer ones would delay the changes that share their transaction. */
const SHORT_BYTES = 256 * 1024
/** Contents of one statement. Binary parameters are half as long as text, but are single values. */
const TOGETHER = 64

const READ = 'select content from contents where owner_id = $1 and kind = $2'
const ANNOUNCE = 'insert into coming_contents (owner_id, lane_id) values ($1, $2)'
const TAKE_OVER = 'delete from coming_contents where owner_id = any($1::text[])'
const GIVE_UP = `with given_up as (delete from coming_contents where owner_id = any($1::text[]) returning owner_id)
  delete from contents where owner_id in (select owner_id from given_up)`
const GIVE_UP_OF_ENDED = `with given_up as (
    delete from coming_contents c using lanes l where l.id = c.lane_id and l.ended_at is not null returning owner_id)
  delete from contents where owner_id in (select owner_id from given_up)`

/** Statement for a power of two of contents, so that there are few texts; missing ones are null. */
const adds = new Map<number, string>()
function addText(size: number): string {
  const known = adds.get(size)
  if (known !== undefined) return known
  const rows = Array.from(
    { length: size },
    (_, at) => `($${3 * at + 1}::text, $${3 * at + 2}::text, $${3 * at + 3}::bytea)`,
  )
  const text = `insert into contents (owner_id, kind, content)
    select * from (values ${rows.join(', ')}) v (owner_id, kind, content) where owner_id is not null`
  adds.set(size, text)
  return text
}

/** Writes contents inside the change of their owner, except those that were written ahead of it. Sends all statements
 *  at once. */
export async function storeContents(
  statements: Pick<Statements, 'run'>,
  contents: readonly NewContent[],
): Promise<void> {
  await addContents(
    statements,
    contents.filter(({ bytes }) => bytes.byteLength <= SHORT_BYTES),
  )
}

/** Writes contents of any length. Sends all statements at once. */
export async function addContents(statements: Pick<Statements, 'run'>, contents: readonly NewContent[]): Promise<void> {
  const sent: Promise<unknown>[] = []
  for (let from = 0; from < contents.length; from += TOGETHER) {
    sent.push(addAll(statements, contents.slice(from, from + TOGETHER)))
  }
  await Promise.all(sent)
}

function addAll({ run }: Pick<Statements, 'run'>, contents: readonly NewContent[]): Promise<number> {
  const size = 2 ** Math.ceil(Math.log2(contents.length))
  const values = contents.flatMap(({ ownerId, kind, bytes }) => [ownerId, kind, bytes])
  const missing = Array.from({ length: 3 * (size - contents.length) }, () => null)
  return run(addText(size), [...values, ...missing])
}

/** Content of an owner; null if there is none. */
export async function readContent({ query }: Queries, ownerId: string, kind: ContentKind): Promise<Uint8Array | null> {
  const [row] = await query<{ content: Uint8Array }>(READ, [ownerId, kind])
  return row === undefined ? null : new Uint8Array(row.content)
}

/** Large contents, which are written before the change of their owner.
 *
 *  Killed before   the next node to start removes them, once the lane that wrote them was ended.
 *  Refused         they are removed immediately. */
export interface LargeContents {
  /** Writes the long ones of `contents`, then calls `take`, whose change calls `takeOver`, and returns its result.
   *  If `refusal` returns something, that is the result and nothing is written. Rejects with what any of them throws. */
  ahead<T>(contents: readonly NewContent[], take: () => Promise<T>, refusal: () => Promise<T | null>): Promise<T>
  /** Removes those that lanes left that were ended. */
  removeLeft(): Promise<void>
}

/** Inside the change of their owners: the long ones of `contents` belong to them now. Throws StoreUnavailable if they
 *  were removed meanwhile. */
export async function takeOver({ run }: Statements, contents: readonly NewContent[]): Promise<void> {
  const owners = ownersOf(contents)
  if (owners.length > 0 && (await run(TAKE_OVER, [textArray(owners)])) < owners.length)
    throw new StoreUnavailable('the content was discarded before it was stored')
}

/** Transactions of their own → LargeContents. */
export function createLargeContents(transactions: Transactions): LargeContents {
  const write = ({ ownerId, kind, bytes }: NewContent, isFirst: boolean) =>
    transactions.write(async ({ run, laneId }) => {
      if (isFirst) await run(ANNOUNCE, [ownerId, laneId])
      await run(addText(1), [ownerId, kind, bytes])
    })
  const aheadOfAll = async <T>(long: readonly NewContent[], take: () => Promise<T>): Promise<T> => {
    const owners = new Set<string>()
    try {
      for (const content of long) {
        const isFirst = !owners.has(content.ownerId)
        owners.add(content.ownerId)
        await write(content, isFirst)
      }
      return await take()
    } finally {
      // Finds nothing after they were taken over. If it fails, a later start does it.
      await transactions.write(({ run }) => run(GIVE_UP, [textArray([...owners])])).catch(() => {})
    }
  }
  return {
    ahead: async (contents, take, refusal) => {
      const long = contents.filter(({ bytes }) => bytes.byteLength > SHORT_BYTES)
      if (long.length === 0) return take()
      return (await refusal()) ?? aheadOfAll(long, take)
    },
    removeLeft: async () => {
      await transactions.write(({ run }) => run(GIVE_UP_OF_ENDED))
    },
  }
}

/** Owners of long contents. */
function ownersOf(contents: readonly NewContent[]): string[] {
  return [...new Set(contents.filter(({ bytes }) => bytes.byteLength > SHORT_BYTES).map(({ ownerId }) => ownerId))]
}
