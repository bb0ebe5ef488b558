import { createInterface } from 'node:readline/promises'
import { visibleLines } from '../net/visible-text.ts'

/** Asks a question and returns the trimmed answer; '' if there is none. */
export type Prompt = (question: string) => Promise<string>

/** Prompts on standard error, so that standard output carries only results. Null in scripts, behind pipes and with
 *  `--no-input`. */
export function terminalPrompt(mayAsk: boolean): Prompt | null {
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
