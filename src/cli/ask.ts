import { createInterface } from 'node:readline/promises'
import { visibleLines } from '../net/visible-text.ts'

/** Puts a question and gives the answer, trimmed; '' when there is none. */
export type Ask = (question: string) => Promise<string>

/** A way to ask whoever sits at the terminal, by standard error, so that standard output stays for what was asked for. Null
 *  where nobody does: in scripts, behind pipes, and when told not to. */
export function terminalAsk(mayAsk: boolean): Ask | null {
  if (!mayAsk || !process.stdin.isTTY || !process.stderr.isTTY) return null
  return async (question) => {
    const terminal = createInterface({ input: process.stdin, output: process.stderr })
    const ended = new Promise<string>((resolve) => terminal.once('close', () => resolve('')))
    try {
      return (await Promise.race([terminal.question(visibleLines(question)), ended])).trim()
    } finally {
      terminal.close()
    }
  }
}
