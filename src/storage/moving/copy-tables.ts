import { addHashes, type PartHash, type Row } from './row-hashes.ts'
import { type MovedTable, type Range, rangesOf } from './tables.ts'

/** The database that moves. */
export interface Source {
  /** Hashes of the parts of a table. */
  hashes(table: MovedTable): Promise<Map<string, PartHash>>
  /** Rows of a table or of a range, some at once. */
  rows(table: MovedTable, range: Range | null): AsyncIterable<Row[]>
}

/** The database that is filled. */
export interface Target {
  hashes(table: MovedTable): Promise<Map<string, PartHash>>
  /** Deletes the rows of a table or of a range → their number. */
  remove(table: MovedTable, range: Range | null): Promise<number>
  /** Writes rows. Resolves when it takes the next ones; `written` waits for all. */
  add(table: MovedTable, rows: readonly Row[]): Promise<void>
  written(): Promise<void>
}

/** What is in a table on both sides. */
export interface CopiedTable {
  name: string
  rows: number
  /** Of all rows, whatever their order. */
  hash: number
  /** Parts that were compared. */
  parts: number
  /** Rows that this run wrote and deleted. */
  written: number
  removed: number
}

/** The two databases have different contents after all rows were copied. */
export class CopyDiffers extends Error {
  constructor(table: string, part: string) {
    super(`table ${table} differs after it was copied${part === '' ? '' : ` (part ${part})`}`)
    this.name = 'CopyDiffers'
  }
}

interface Sides {
  source: Source
  target: Target
}

/** Makes the tables of the target the same as those of the source, and compares them: number and hash of the rows of
 *  each part. Writes only parts that differ, so that it can be repeated. With `isFirst`, what was empty is not compared
 *  after it was copied. Returns what each table contains. Throws CopyDiffers, and what the databases throw. */
export async function copyTables(
  tables: readonly MovedTable[],
  { isFirst, onCopied, ...sides }: Sides & { isFirst: boolean; onCopied: (table: CopiedTable) => void },
): Promise<CopiedTable[]> {
  const copied: CopiedTable[] = []
  await emptyReferred(
    tables.filter(({ isReferred }) => isReferred),
    sides,
  )
  for (const table of tables) {
    const done = await copyTable(table, sides, isFirst)
    copied.push(done)
    onCopied(done)
  }
  return copied
}

/** Empties tables that refer to each other if one of them differs, since their rows cannot be deleted one by one. */
async function emptyReferred(tables: readonly MovedTable[], { source, target }: Sides): Promise<void> {
  for (const table of tables) {
    const [found, expected] = [await target.hashes(table), await source.hashes(table)]
    if (found.size === 0 || differing(expected, found).length === 0) continue
    for (const each of tables.toReversed()) await target.remove(each, null)
    return
  }
}

async function copyTable(table: MovedTable, { source, target }: Sides, isFirst: boolean): Promise<CopiedTable> {
  const { name, part } = table
  const done = { written: 0, removed: 0 }
  const replace = async (ranges: readonly (Range | null)[]) => {
    // First in all of them, since another record may have taken over an address.
    for (const range of ranges) done.removed += await target.remove(table, range)
    for (const range of ranges) {
      for await (const rows of source.rows(table, range)) {
        await target.add(table, rows)
        done.written += rows.length
      }
    }
    await target.written()
  }
  const found = await target.hashes(table)
  if (isFirst && found.size === 0) {
    await replace([null])
    return { name, rows: done.written, hash: 0, parts: 0, ...done }
  }
  const expected = await source.hashes(table)
  const different = differing(expected, found)
  if (different.length > 0) {
    await replace(part === null || found.size === 0 ? [null] : rangesOf(part, different))
    const [left] = differing(expected, await target.hashes(table))
    if (left !== undefined) throw new CopyDiffers(name, left)
  }
  return { name, ...sumOf(expected), ...done }
}

/** Parts that are not the same on both sides. */
function differing(expected: ReadonlyMap<string, PartHash>, found: ReadonlyMap<string, PartHash>): string[] {
  const parts = new Set([...expected.keys(), ...found.keys()])
  return [...parts].filter((part) => {
    const [one, other] = [expected.get(part), found.get(part)]
    return one?.rows !== other?.rows || one?.hash !== other?.hash
  })
}

function sumOf(parts: ReadonlyMap<string, PartHash>): Pick<CopiedTable, 'rows' | 'hash' | 'parts'> {
  const sum = { rows: 0, hash: 0, parts: parts.size }
  for (const { rows, hash } of parts.values()) {
    sum.rows += rows
    sum.hash = addHashes(sum.hash, hash)
  }
  return sum
}
