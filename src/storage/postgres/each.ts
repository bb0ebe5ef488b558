import type { Each, EachStep } from '../sql.ts'
import { type Item, valueArray } from './arrays.ts'
import type { Queries, Statements } from './transactions.ts'

/** Rows of one statement that has bytes: they are sent as single values, which is half as long as an array of them. */
const TOGETHER = 64

/** Runs a statement for all its rows → what it returns, in one round trip; nothing at once if nobody reads it. */
export function sendEach(
  step: EachStep,
  { statements, sent }: { statements: Statements; sent?: Promise<unknown>[] },
): Promise<unknown[]> | unknown[] {
  const { statement, given, isRead } = step
  if (!isRead && statement.types.includes('bytea')) {
    for (let from = 0; from < given.length; from += TOGETHER) {
      const { text, values } = valuesOf(statement, given.slice(from, from + TOGETHER))
      sent?.push(guarded(statements.run(text, values)))
    }
    return []
  }
  if (isRead || sent === undefined) return readEach(step, statements.query)
  sent.push(guarded(statements.run(arrayText(statement), arraysOf(step))))
  return []
}

/** Runs a statement for all its rows → what it returns. */
export function readEach(step: EachStep, query: Queries['query']): Promise<unknown[]> {
  return query<unknown>(arrayText(step.statement), arraysOf(step))
}

function arraysOf({ statement, given, most }: EachStep): unknown[] {
  // No column has lists.
  const values: unknown[] = statement.values.map((value) => valueArray(given.map((one) => value(one) as Item)))
  return most === null ? values : [...values, most]
}

/** Somebody awaits it later. */
function guarded<T>(promise: Promise<T>): Promise<T> {
  promise.catch(() => {})
  return promise
}

const arrayTexts = new Map<Each<unknown, unknown>, string>()
function arrayText(statement: Each<unknown, unknown>): string {
  const known = arrayTexts.get(statement)
  if (known !== undefined) return known
  const { names, types } = statement
  const arrays = types.map((type, at) => `$${at + 1}::${type}[]`).join(', ')
  const text = statement.text
    .replace(/\brows r\b/, `unnest(${arrays}) r (${names.join(', ')})`)
    .replace('$most', `$${types.length + 1}`)
  arrayTexts.set(statement, text)
  return text
}

const valueTexts = new Map<string, string>()
/** Rows are padded to a power of two, so that there are few texts. */
function valuesOf(statement: Each<unknown, unknown>, given: readonly unknown[]): { text: string; values: unknown[] } {
  const { names, types, values } = statement
  const size = 2 ** Math.ceil(Math.log2(given.length))
  const key = `${size} ${statement.text}`
  let text = valueTexts.get(key)
  if (text === undefined) {
    const rows = Array.from(
      { length: size },
      (_, row) => `(${types.map((type, at) => `$${row * types.length + at + 1}::${type}`).join(', ')})`,
    )
    const list = `(select * from (values ${rows.join(', ')}) v (${names.join(', ')}) where ${names[0]} is not null) r`
    text = statement.text.replace('rows r', list)
    valueTexts.set(key, text)
  }
  const bound = given.flatMap((one) => values.map((value) => value(one)))
  for (let missing = (size - given.length) * types.length; missing > 0; missing--) bound.push(null)
  return { text, values: bound }
}
