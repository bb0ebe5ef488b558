import { cutText } from '../../../mail/cut-text.ts'

/** The dialogue of one attempt, for support: `12 C: EHLO out.example`, with milliseconds since the attempt started.
 *  Lines are joined only on demand, because most transcripts are never read. */
export interface Transcript {
  /** A line that we sent, without line end; credentials must already be removed. */
  client(line: string): void
  /** One or more lines of the peer (joined by `\n`). */
  server(text: string): void
  /** Other facts: the address, the TLS handshake, why the connection ended. */
  note(text: string): void
  text(): string
}

/** Clock in milliseconds (any origin) → an empty Transcript. Lines are cut at 500 characters. `text()` holds about
 *  `maxBytes` characters: the start and the end, and between them the number of omitted lines. Nothing throws. */
export function createTranscript(nowMs: () => number, maxBytes = 16_384): Transcript {
  const startedMs = nowMs()
  const lines: string[] = []
  const add = (mark: string, line: string) => {
    lines.push(`${Math.round(nowMs() - startedMs)} ${mark} ${printable(line)}`)
  }
  return {
    client: (line) => add('C:', line),
    server: (text) => {
      if (!text.includes('\n')) return add('S:', text)
      for (const line of text.split('\n')) add('S:', line)
    },
    note: (text) => add('--', text),
    text: () => joinBounded(lines, maxBytes),
  }
}

const MAX_LINE = 500

function printable(line: string): string {
  const cut = line.length > MAX_LINE ? `${cutText(line, MAX_LINE)} …` : line
  return CONTROL.test(cut) ? cut.replace(CONTROLS, '?') : cut
}

const CONTROL = /[\x00-\x08\x0b-\x1f\x7f]/
const CONTROLS = /[\x00-\x08\x0b-\x1f\x7f]/g

function joinBounded(lines: readonly string[], maxBytes: number): string {
  const whole = lines.join('\n')
  if (whole.length <= maxBytes) return whole
  const head = takeLines(lines, maxBytes / 2)
  const tail = takeLines(lines.slice(head.length).reverse(), maxBytes / 2).reverse()
  const leftOut = lines.length - head.length - tail.length
  return [...head, `… ${leftOut} lines omitted …`, ...tail].join('\n')
}

function takeLines(lines: readonly string[], maxBytes: number): string[] {
  let capacity = maxBytes
  const end = lines.findIndex((line) => {
    capacity -= line.length + 1
    return capacity < 0
  })
  return lines.slice(0, end < 0 ? lines.length : end)
}
