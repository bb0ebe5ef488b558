/** Conditions of a list query that apply only if their value is given. */
export interface Condition {
  sql: string
  values: unknown[]
}

/** Value and condition → the condition, or nothing if the value is null. */
export function when(value: unknown, sql: string): Condition[] {
  return value === null || value === undefined ? [] : [{ sql, values: [value] }]
}

/** Yields to the event loop: long reads run in pieces of some milliseconds. */
export function nextTurn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve))
}

/** Maximum time between a record's own time and its commit, which limits how exactly a time is found in the order of
 *  commits. (A clock set back by more hides what was written meanwhile from lists by time only.) */
export const SLACK_MS = 60_000

/** Numbers of records, from `low` to before `high`. */
export interface Numbers {
  low: number
  high: number
}
