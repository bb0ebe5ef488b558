import { createInterface } from 'node:readline/promises'
import { visibleLines } from '../net/visible-text.ts'

/** Asks a question and returns the trimmed answer; '' without an answer. */
export type Prompt = (question: string) => Promise<string>

/** A prompt on standard error, so that standard output contains only results. Null without a terminal or if
 *  `mayAsk` is false. */
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
