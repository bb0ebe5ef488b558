import { writeSync } from 'node:fs'
import { visible, visibleLines } from '../net/visible-text.ts'

/** Text → standard output, whole, before this returns: the process may end right after. A reader that went away
 *  (`| head`) is no failure of ours. Characters that would act on the terminal are written as escapes, so that JSON keeps
 *  its values (visible-text.ts). */
export function print(text: string): void {
  write(1, `${visibleLines(text)}\n`)
}

/** Text → standard error. */
export function complain(text: string): void {
  write(2, `${visibleLines(text)}\n`)
}

/** A record → one line of JSON, for machines. */
export function printJson(record: unknown): void {
  print(JSON.stringify(record))
}

/** Rows → columns of equal width, two spaces between; `heads` on top. No rows give ''. Cells are cleaned as by
 *  harmless. */
export function table(heads: readonly string[], rows: readonly (readonly string[])[]): string {
  if (rows.length === 0) return ''
  const all = [heads.map((head) => head.toUpperCase()), ...rows.map((row) => row.map(visible))]
  const widths = heads.map((_, column) => Math.max(...all.map((row) => row[column]?.length ?? 0)))
  return all
    .map((row) =>
      row.map((cell, column) => (column === row.length - 1 ? cell : cell.padEnd(widths[column]!))).join('  '),
    )
    .join('\n')
}

/** Text of strangers, such as a record found in DNS → the same for a terminal, in one line: what could move the cursor,
 *  rewrite what stands above or turn the direction of writing is written as an escape. */
export const harmless = visible

/** Colours for people at a terminal. */
export interface Paint {
  bold(text: string): string
  dim(text: string): string
  good(text: string): string
  wary(text: string): string
  bad(text: string): string
  accent(text: string): string
}

/** Environment and whether somebody looks at a terminal → colours, or none (no-color.org; TERM=dumb). */
export function paintFor(env: Record<string, string | undefined>, isTerminal: boolean): Paint {
  const isPlain = !isTerminal || Boolean(env.NO_COLOR) || env.TERM === 'dumb'
  const paint = (code: number) => (text: string) =>
    isPlain ? text : `\x1b[${code}m${text}\x1b[${code === 1 || code === 2 ? 22 : 39}m`
  return { bold: paint(1), dim: paint(2), good: paint(32), wary: paint(33), bad: paint(31), accent: paint(36) }
}

function write(to: 1 | 2, text: string): void {
  let rest = Buffer.from(text)
  while (rest.length > 0) {
    try {
      rest = rest.subarray(writeSync(to, rest))
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'EAGAIN') continue // a full pipe that does not block
      if ((error as NodeJS.ErrnoException).code === 'EPIPE') return
      throw error
    }
  }
}
