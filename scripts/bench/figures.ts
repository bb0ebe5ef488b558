import { readFileSync, writeFileSync } from 'node:fs'
import { cpus, totalmem } from 'node:os'

/** A measured value, in words; two parts never use the same ones. */
export interface Figure {
  what: string
  /** The unit after the value: `ms`, `MB`; nothing for rates and ratios. */
  unit?: string
  /** The goal. */
  goal?: { atLeast: number } | { atMost: number }
  /** The columns of a side-by-side comparison, in place of the binaries. */
  columns?: string[]
}

/** The values of a figure, round by round, for each binary or column; `machine` for those without either. */
export interface Row extends Figure {
  values: Record<string, number[] | undefined>
}
type Who = 'this' | 'against' | 'machine'

/** All values of a run, and its tables. */
export interface Figures {
  note(who: string, figure: Figure, value: number): void
  latest(who: Who, figure: Figure): number | undefined
  /** Lines of median (min–max), with an earlier binary also their ratio; then the table of those with columns. */
  asText(): string
  /** The table of the manual's page `performance`: this binary's figures with their goals; then the table of those
   *  with columns. */
  asMarkdown(): string
  /** Writes the values to a file that `createFigures` reads. */
  keep(file: string): void
}

/** A file of an earlier run, or null → the figures, to be added to. Throws when the file is of another machine,
 *  because such figures are not comparable. */
export function createFigures(file: string | null): Figures {
  const known = file === null ? null : readKept(file)
  if (known !== null && known.machine !== machine()) throw new Error(`${file} was measured on ${known.machine}`)
  const rows = new Map<string, Row>((known?.rows ?? []).map((row) => [row.what, row]))

  return {
    note: (who, figure, value) => {
      const row = { ...figure, values: rows.get(figure.what)?.values ?? {} }
      rows.set(figure.what, { ...row, values: { ...row.values, [who]: [...(row.values[who] ?? []), value] } })
      console.error(`${who}: ${figure.what}: ${format(value)}`)
    },
    latest: (who, figure) => rows.get(figure.what)?.values[who]?.at(-1),
    asText: () => [machine(), ...[...rows.values()].flatMap(lines), ...sideBySide([...rows.values()])].join('\n'),
    asMarkdown: () => {
      const known = [...rows.values()]
      const own = known.flatMap(markdown)
      const head = ['', '| What | Median (min–max) | Goal | |', '|---|---|---|---|']
      return [`Measured on ${machine()}:`, ...(own.length === 0 ? [] : [...head, ...own]), ...sideBySide(known)].join(
        '\n',
      )
    },
    keep: (target) => writeFileSync(target, JSON.stringify({ machine: machine(), rows: [...rows.values()] }, null, 1)),
  }
}

function readKept(file: string): { machine: string; rows: Row[] } | null {
  try {
    return JSON.parse(readFileSync(file, 'utf8'))
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null
    throw error
  }
}

/** `2 × AMD EPYC 7B13, 24 GiB`. */
export function machine(): string {
  return `${cpus().length} × ${cpus()[0]!.model.trim()}, ${Math.round(totalmem() / 2 ** 30)} GiB`
}

function lines(row: Row): string[] {
  const { this: own, against } = row.values
  const shown = (['this', 'against', 'machine'] as const).flatMap((who) => {
    const values = row.values[who]
    return values === undefined ? [] : [`${named(row, who).padEnd(78)} ${spread(values)}${verdict(row, who, values)}`]
  })
  if (own === undefined || against === undefined) return shown
  return [...shown, `${'  this ÷ against'.padEnd(78)} ${(median(own) / median(against)).toFixed(3)}`]
}

function named({ what, unit }: Figure, who: Who): string {
  return `${who === 'against' ? '  against: ' : ''}${what}${unit === undefined ? '' : `, ${unit}`}`
}

function markdown(row: Row): string[] {
  const values = row.values.this ?? row.values.machine
  if (values === undefined) return []
  const unit = row.unit === undefined ? '' : ` ${row.unit}`
  const goal = row.goal === undefined ? '' : `${goalOf(row.goal)}${unit}`
  return [`| ${row.what} | ${spread(values)}${unit} | ${goal} | ${isMet(row, values) === false ? 'missed' : ''} |`]
}

/** The rows with columns → the lines of one table, after an empty line; none without such rows. A column without a
 *  value in any row is left out. */
export function sideBySide(rows: Row[]): string[] {
  const shown = rows.filter(({ columns }) => columns !== undefined)
  const names = [...new Set(shown.flatMap(({ columns }) => columns!))]
  const columns = names.filter((name) => shown.some(({ values }) => values[name] !== undefined))
  if (columns.length === 0) return []
  const cell = (values: number[] | undefined) => (values === undefined ? '–' : spread(values))
  return [
    '',
    `| What | ${columns.join(' | ')} |`,
    `|${'---|'.repeat(columns.length + 1)}`,
    ...shown.map(({ what, values }) => `| ${what} | ${columns.map((name) => cell(values[name])).join(' | ')} |`),
  ]
}

function verdict(row: Row, who: Who, values: number[]): string {
  const met = who === 'against' ? null : isMet(row, values)
  return met === null ? '' : `  ${met ? 'met' : 'MISSED'}: ${goalOf(row.goal!)}`
}

function isMet({ goal }: Figure, values: number[]): boolean | null {
  if (goal === undefined) return null
  return 'atLeast' in goal ? median(values) >= goal.atLeast : median(values) <= goal.atMost
}

function goalOf(goal: NonNullable<Figure['goal']>): string {
  return 'atLeast' in goal ? `≥ ${format(goal.atLeast)}` : `≤ ${format(goal.atMost)}`
}

function spread(values: number[]): string {
  if (values.length === 1) return format(values[0]!)
  return `${format(median(values))} (${format(Math.min(...values))}–${format(Math.max(...values))})`
}

export function median(values: number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN
}

/** Three digits: more are not significant. */
function format(value: number): string {
  if (value >= 100) return Number(value.toPrecision(3)).toLocaleString('en')
  return String(Number(value.toPrecision(3)))
}
