import { writeSync } from 'node:fs'
import { visible, visibleLines } from '../net/visible-text.ts'
import { errorCode } from '../os/thrown.ts'

/** Writes to standard output synchronously, since the process may exit right after. A closed pipe (`| head`) is not an
 *  error. Control characters are escaped so that they cannot act on the terminal; JSON keeps its values
 *  (visible-text.ts). */
export function print(text: string): void {
  write(1, `${visibleLines(text)}\n`)
}

/** Writes to standard error. */
export function printError(text: string): void {
  write(2, `${visibleLines(text)}\n`)
}

/** Prints a record as one line of JSON. */
export function printJson(record: unknown): void {
  print(JSON.stringify(record))
}

/** Formats rows as aligned columns under `heads`; '' without rows. Cells are sanitized. */
export function table(heads: readonly string[], rows: readonly (readonly string[])[]): string {
  if (rows.length === 0) return ''
  const all = [heads.map((head) => head.toUpperCase()), ...rows.map((row) => row.map(visible))]
  const widths = heads.map((_, column) => Math.max(...all.map((row) => row[column]?.length ?? 0)))
  return all
    .map((row) =>
      row.map((cell, column) => (column === row.length - 1 ? cell : cell.padEnd(widths[column] ?? 0))).join('  '),
    )
    .join('\n')
}

/** Makes untrusted text (such as a DNS record) safe for a terminal, on one line: escapes control characters and changes
 *  of writing direction. */
export const sanitize = visible

/** Terminal colours. */
export interface Colors {
  bold(text: string): string
  dim(text: string): string
  good(text: string): string
  wary(text: string): string
  bad(text: string): string
  accent(text: string): string
}

/** Colours for a terminal; plain text with NO_COLOR (no-color.org), TERM=dumb or no terminal. */
export function colorsFor(env: Record<string, string | undefined>, isTerminal: boolean): Colors {
  const isPlain = !isTerminal || Boolean(env.NO_COLOR) || env.TERM === 'dumb'
  const colors = (code: number) => (text: string) =>
    isPlain ? text : `\x1b[${code}m${text}\x1b[${code === 1 || code === 2 ? 22 : 39}m`
  return { bold: colors(1), dim: colors(2), good: colors(32), wary: colors(33), bad: colors(31), accent: colors(36) }
}

function write(to: 1 | 2, text: string): void {
  let rest = Buffer.from(text)
  while (rest.length > 0) {
    try {
      rest = rest.subarray(writeSync(to, rest))
    } catch (error) {
      const code = errorCode(error)
      if (code === 'EAGAIN') continue // a full non-blocking pipe
      if (code === 'EPIPE') return
      throw error
    }
  }
}
