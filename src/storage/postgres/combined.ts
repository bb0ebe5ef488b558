import type { Connection } from './connection.ts'

/** Statements whose answers nobody reads. */
export interface Writing extends Pick<Connection, 'run'> {
  /** The lane that writes (lanes.id): part of the key of counters. */
  laneId: number
}

/** A statement that writes, and whose result nobody reads. */
export interface Write {
  text: string
  values: readonly unknown[]
}

/** Combinations of statements that are remembered, each of which PostgreSQL keeps prepared. */
const REMEMBERED = 64

/** Writes that are sent together. None may depend on another, and no two may write one row. */
export interface Combined {
  statements: Writing
  writes: readonly Write[]
}

/** → Statements whose `run` only collects what to write, and returns 0. */
export function collectWrites(laneId: number): Combined {
  const writes: Write[] = []
  const run = async (text: string, values: readonly unknown[] = []) => {
    writes.push({ text, values })
    return 0
  }
  return { statements: { run, laneId }, writes }
}

/** → What makes one statement of several writes: `final` reads the rows that the first of them returned, as `first`. Null if
 *  there are too many different combinations. PostgreSQL runs all parts, each of which sees the state before the
 *  statement (manual 7.8.4). */
export function createCombiner(final: string): (writes: readonly Write[]) => Write | null {
  const texts = new Map<string, string>()
  const numbers = new Map<string, number>()
  const numberOf = (text: string) => {
    const known = numbers.get(text)
    if (known !== undefined) return known
    numbers.set(text, numbers.size)
    return numbers.size - 1
  }
  const textOf = (writes: readonly Write[]) => {
    let offset = 0
    const parts = writes.map(({ text, values }, at) => {
      const moved = text.replaceAll(PARAMETER, (_, number) => `$${Number(number) + offset}`)
      offset += values.length
      return `${at === 0 ? 'first' : `part${at}`} as (${moved})`
    })
    return `with ${parts.join(',\n')}\n${final}`
  }
  return (writes) => {
    const key = writes.map(({ text }) => numberOf(text)).join()
    if (!texts.has(key)) {
      if (texts.size === REMEMBERED) return null
      texts.set(key, textOf(writes))
    }
    const text = texts.get(key)
    return text === undefined ? null : { text, values: writes.flatMap(({ values }) => values) }
  }
}

const PARAMETER = /\$(\d+)/g
