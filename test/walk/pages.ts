import { documentationOf } from '../support/documentation.ts'

/** A code block of the manual, with the lines as they stand there. */
export interface Block {
  lines: string
  /** Where its comment says that it runs: `the server`, `node 1`; null without a comment. */
  machine: string | null
  /** The exit code of its last line. */
  code: number
}

/** A page → its code blocks in order: fenced ones, with or without `<!-- on the server: exit 1 -->` before them, and
 *  indented ones. */
export function blocksOf(topic: string): Block[] {
  const blocks: Block[] = []
  let mark: { machine: string; code: number } | null = null
  let fence: string[] | null = null
  let indented: string[] = []
  const add = (lines: string[]) => {
    blocks.push({ lines: `${lines.join('\n')}\n`, machine: mark?.machine ?? null, code: mark?.code ?? 0 })
    mark = null
  }
  for (const line of [...documentationOf(topic).split('\n'), '']) {
    if (fence !== null) {
      if (/^ *```$/.test(line)) {
        add(fence)
        fence = null
      } else fence.push(line)
      continue
    }
    if (/^ {4}\S/.test(line) || (indented.length > 0 && /^ {4}/.test(line))) {
      indented.push(line.slice(4))
      continue
    }
    if (indented.length > 0) add(indented)
    indented = []
    if (/^ *```/.test(line)) fence = []
    const [, machine, code = '0'] = /^<!-- on ([a-z0-9 ]+?)(?:: exit (\d))? -->$/.exec(line) ?? []
    if (machine !== undefined) mark = { machine, code: Number(code) }
  }
  return blocks
}

/** The blocks of a page that its comments place on a machine, in order. */
export const blocksOn = (topic: string, machine: string) => blocksOf(topic).filter((block) => block.machine === machine)

/** The one block of a page that begins with `text` → its lines. Throws if there is none, or more than one. */
export function blockFrom(topic: string, text: string): string {
  const found = blocksOf(topic).filter(({ lines }) => lines.startsWith(text))
  if (found.length !== 1) throw new Error(`${topic} has ${found.length} blocks that begin with “${text}”`)
  return found[0]!.lines
}

/** The one line of a page’s blocks that begins with `text`. Throws likewise. */
export function lineFrom(topic: string, text: string): string {
  const found = blocksOf(topic).flatMap(({ lines }) => lines.split('\n').filter((line) => line.startsWith(text)))
  if (found.length !== 1) throw new Error(`${topic} has ${found.length} lines that begin with “${text}”`)
  return found[0]!
}
