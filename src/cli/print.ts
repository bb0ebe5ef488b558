import { writeSync } from 'node:fs'
import { visible, visibleLines } from '../net/visible-text.ts'
import { errorCode } from '../os/thrown.ts'

/** Writes text and a newline to standard output, synchronously, since the process may exit right after. Ignores a
 *  closed pipe (`| head`). Escapes control characters, which could act on the terminal; JSON keeps its values
 *  (visible-text.ts). Throws other system errors. */
export function print(text: string): void {
  write(1, `${visibleLines(text)}\n`)
}

/** Writes text and a newline to standard error, like `print`. */
export function printError(text: string): void {
  write(2, `${visibleLines(text)}\n`)
}

/** Prints a record as one line of JSON. */
export function printJson(record: unknown): void {
  print(JSON.stringify(record))
}

/** Formats rows as aligned columns under upper-case `heads`; '' without rows. Sanitizes the cells. */
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

/** Makes untrusted text (such as a DNS record) safe for one line of a terminal: escapes control characters and changes
 *  of writing direction. */
export const sanitize = visible

/** Functions that add a terminal colour to text, or return it unchanged. */
export interface Colors {
  bold(text: string): string
  dim(text: string): string
  good(text: string): string
  wary(text: string): string
  bad(text: string): string
  accent(text: string): string
}

/** Colours for a terminal, by default standard output. Plain text if NO_COLOR is set (no-color.org), for TERM=dumb, or
 *  without a terminal. */
export function colorsFor(env = process.env, isTerminal = process.stdout.isTTY): Colors {
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
      if (code === 'EAGAIN') continue // the non-blocking pipe is full
      if (code === 'EPIPE') return
      throw error
    }
  }
}
