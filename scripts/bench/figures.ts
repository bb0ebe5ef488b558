import { cpus, totalmem } from 'node:os'

/** A measured value, in words; two parts never use the same ones. */
export interface Figure {
  what: string
  /** The unit after the value: `ms`, `MB`; nothing for rates and ratios. */
  unit?: string
  goal?: { atLeast: number } | { atMost: number }
  /** The columns of a side-by-side comparison, in place of the executables. */
  columns?: string[]
}

/** A figure with the values of each column, round by round. */
export interface Row extends Figure {
  values: Record<string, number[] | undefined>
}

const EXECUTABLES = ['this', 'against']

/** `2 × AMD EPYC 7B13, 24 GiB`. */
export function machine(): string {
  return `${cpus().length} × ${cpus()[0]!.model.trim()}, ${Math.round(totalmem() / 2 ** 30)} GiB`
}

/** Rows → a Markdown table for each set of columns: median (lowest–highest), and the goal with what the first column misses.
 *  A column without any value is left out. */
export function tablesOf(rows: Row[]): string {
  const groups = Map.groupBy(rows, ({ columns = EXECUTABLES }) => columns.join())
  const tables = [...groups.values()].map((group) => {
    const columns = (group[0]!.columns ?? EXECUTABLES).filter((name) => group.some(({ values }) => values[name]))
    const cells = (row: Row) => columns.map((name) => spread(row.values[name] ?? []))
    const named = ({ what, unit }: Figure) => (unit === undefined ? what : `${what}, ${unit}`)
    const lines = group.map((row) => [named(row), ...cells(row), goalOf(row, row.values[columns[0]!] ?? [])])
    return table(['What', ...columns, ...(group.some(({ goal }) => goal) ? ['Goal'] : [])], lines)
  })
  return tables.join('\n\n')
}

/** A head and rows of as many cells, or fewer → an aligned Markdown table. */
export function table(head: string[], rows: string[][]): string {
  const lines = [head, head.map(() => '---'), ...rows]
  const widths = head.map((_, column) => Math.max(...lines.map((line) => (line[column] ?? '').length)))
  return lines.map((line) => `| ${widths.map((width, at) => (line[at] ?? '').padEnd(width)).join(' | ')} |`).join('\n')
}

/** NaN of none. */
export function median(values: number[]): number {
  return quantile(values, 0.5)
}

/** `median (lower–upper quartile)`. */
export function quartiles(values: number[]): string {
  return `${format(median(values))} (${format(quantile(values, 0.25))}–${format(quantile(values, 0.75))})`
}

/** `median (lowest–highest)`; `–` of none. */
function spread(values: number[]): string {
  if (values.length < 2) return values.length === 0 ? '–' : format(values[0]!)
  return `${format(median(values))} (${format(Math.min(...values))}–${format(Math.max(...values))})`
}

function goalOf({ goal }: Figure, values: number[]): string {
  if (goal === undefined) return ''
  const isMet = 'atLeast' in goal ? median(values) >= goal.atLeast : median(values) <= goal.atMost
  return `${'atLeast' in goal ? `≥ ${format(goal.atLeast)}` : `≤ ${format(goal.atMost)}`}${isMet ? '' : ': missed'}`
}

/** The value below which that share of them is; NaN of none. */
export function quantile(values: number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b)
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN
}

/** Three digits: more are not significant. */
export function format(value: number): string {
  const rounded = Number(value.toPrecision(3))
  return rounded >= 100 ? rounded.toLocaleString('en') : String(rounded)
}
