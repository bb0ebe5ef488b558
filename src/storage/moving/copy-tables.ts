import { addHashes, type PartHash, rowHasher } from './part-hashes.ts'
import { columnsOf, type Source, type SourceRow } from './source.ts'
import type { MovedTable } from './tables.ts'
import type { Target } from './target.ts'

/** What is in a table on both sides. */
export interface CopiedTable {
  name: string
  rows: number
  /** Of all rows, whatever their order. */
  hash: number
  /** Parts by time that were compared. */
  parts: number
  /** Rows that this run wrote and deleted. */
  written: number
  removed: number
}

/** Rows of one statement. */
const TOGETHER = 1000
const CONTENTS_TOGETHER = 256
/** How often what differs is written until both sides are the same. */
const ATTEMPTS = 3

/** The two databases have different contents after all rows were copied. */
export class CopyDiffers extends Error {
  constructor(table: string, part: string) {
    super(`table ${table} differs after it was copied${part === '' ? '' : ` (rows whose IDs begin with ${part})`}`)
    this.name = 'CopyDiffers'
  }
}

/** Makes the tables of the target the same as those of the source, and compares them: number and hash of the rows of
 *  each part. Writes only parts that differ, so that it can be repeated. With `isFirst`, what was empty is not compared
 *  after it was copied. Returns what each table contains. Throws CopyDiffers, and what the databases throw. */
export async function copyTables(
  tables: readonly MovedTable[],
  { isFirst, onCopied, ...sides }: Sides & { isFirst: boolean; onCopied: (table: CopiedTable) => void },
): Promise<CopiedTable[]> {
  const copied: CopiedTable[] = []
  await replaceReferred(
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

interface Sides {
  source: Source
  target: Target
}

async function copyTable(table: MovedTable, sides: Sides, isFirst: boolean): Promise<CopiedTable> {
  const { source, target } = sides
  const { name } = table
  const done = { written: 0, removed: 0 }
  let expected: Map<string, PartHash> | null = null
  for (let attempt = 1; ; attempt++) {
    const [found, hashes]: [Map<string, PartHash>, Map<string, PartHash> | null] = await Promise.all([
      target.hashes(table),
      attempt === 1 ? null : (expected ?? source.hashes(table)),
    ])
    if (attempt === 1 && found.size === 0) {
      done.written = await addAll(table, sides)
      if (isFirst) return { name, rows: done.written, hash: 0, parts: 0, ...done }
      continue
    }
    expected = hashes ?? (await source.hashes(table))
    const differing = partsThatDiffer(expected, found)
    const [first] = differing
    if (first === undefined) return { name, ...sumOf(expected), ...done }
    if (attempt > ATTEMPTS) throw new CopyDiffers(name, first)
    // First in all parts, since another record may have taken over an address.
    for (const part of differing) done.removed += await removeStale(table, part, sides)
    for (const part of differing) done.written += await addMissing(table, part, sides)
    await target.written()
  }
}

/** Empties tables that refer to each other if one of them differs, since their rows cannot be deleted one by one. */
async function replaceReferred(tables: readonly MovedTable[], { source, target }: Sides): Promise<void> {
  for (const table of tables) {
    const [found, expected] = [await target.hashes(table), await source.hashes(table)]
    if (found.size === 0 || partsThatDiffer(expected, found).length === 0) continue
    for (const each of tables.toReversed()) await target.removeAll(each)
    return
  }
}

async function addAll(table: MovedTable, { source, target }: Sides): Promise<number> {
  // The search index is written in the order of IDs; everything else is fastest as it is stored.
  const written = await addRows(table, source.rows(table, { isOrdered: table.name === 'messages' }), target)
  await target.written()
  return written
}

async function addRows(table: MovedTable, rows: Iterable<SourceRow>, target: Target): Promise<number> {
  let written = 0
  let some: SourceRow[] = []
  const add = async () => {
    if (some.length === 0) return
    await target.add(table, some)
    written += some.length
    some = []
  }
  for (const row of rows) {
    some.push(row)
    if (some.length === (table.hasLongValues ? CONTENTS_TOGETHER : TOGETHER)) await add()
  }
  await add()
  return written
}

/** Deletes rows of the target that the source does not have → their number. */
async function removeStale(table: MovedTable, part: string, { source, target }: Sides): Promise<number> {
  const hashes = new Set<number>()
  const hashOf = hasher(table)
  for (const row of source.rows(table, { part })) hashes.add(hashOf(row))
  const stale = (await target.places(table, part)).filter(({ hash }) => !hashes.has(hash))
  await target.remove(
    table,
    stale.map(({ place }) => place),
  )
  return stale.length
}

/** Writes rows that the target does not have → their number. */
async function addMissing(table: MovedTable, part: string, { source, target }: Sides): Promise<number> {
  const known = new Set((await target.places(table, part)).map(({ hash }) => hash))
  const hashOf = hasher(table)
  const missing = Iterator.from(source.rows(table, { part, isOrdered: true })).filter((row) => !known.has(hashOf(row)))
  return addRows(table, missing, target)
}

const hasher = (table: MovedTable) => rowHasher(columnsOf(table).map(([, type]) => type))

function partsThatDiffer(expected: ReadonlyMap<string, PartHash>, found: ReadonlyMap<string, PartHash>): string[] {
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
