import type { Value } from './sql.ts'

/** Condition with `?` for its value. A null or missing value leaves it out. */
export type Condition = readonly [sql: string, value: Value | undefined]

/** Conditions → the text after `where` and its parameters, numbered from $1. */
export function where(conditions: readonly Condition[]): { sql: string; values: Value[] } {
  const given = conditions.flatMap(([sql, value]) => (value === null || value === undefined ? [] : [{ sql, value }]))
  return {
    sql: given.map(({ sql }, at) => sql.replace('?', `$${at + 1}`)).join(' and '),
    values: given.map(({ value }) => value),
  }
}
