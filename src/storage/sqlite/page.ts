/** Conditions of a list query that apply only if their value is given. */
export interface Condition {
  sql: string
  values: unknown[]
}

/** Value and condition → the condition, or nothing if the value is null. */
export function when(value: unknown, sql: string): Condition[] {
  return value === null || value === undefined ? [] : [{ sql, values: [value] }]
}

/** Yields to the event loop: long work runs in pieces of some milliseconds. */
export function nextTurn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve))
}

/** Numbers of records, from `low` to before `high`. */
export interface Numbers {
  low: number
  high: number
}
