import type { Queries } from './transactions.ts'

/** A statement whose parameters have names. */
export type NamedQuery<Row> = (queries: Queries, values: Readonly<Record<string, unknown>>) => Promise<Row[]>

const NAME = /(?<!:):([a-z]\w*)/g

/** A statement with `:name` for each parameter → what runs it. Values that it does not name are not sent. */
export function named<Row>(statement: string): NamedQuery<Row> {
  const names: string[] = []
  const text = statement.replaceAll(NAME, (_, name: string) => {
    if (!names.includes(name)) names.push(name)
    return `$${names.indexOf(name) + 1}`
  })
  return ({ query }, values) =>
    query<Row>(
      text,
      names.map((name) => values[name]),
    )
}
