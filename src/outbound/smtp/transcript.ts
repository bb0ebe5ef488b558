/** What was said in one attempt, for support: `12 C: EHLO out.example`, the number being milliseconds since the
 *  attempt began. Kept as an array of strings that is joined once, because most transcripts are never read. */
export interface Transcript {
  /** A line of ours, without its line end; credentials must be struck out before. */
  client(line: string): void
  /** A line or several (joined by `\n`) of the peer. */
  server(text: string): void
  /** What no line says: whom we connect to, what the TLS handshake gave, why the connection ended. */
  note(text: string): void
  text(): string
}

/** Clock in milliseconds (any origin, only differences count) → an empty Transcript. A line is cut at 500 characters.
 *  `text()` holds at most `maxBytes` characters or so: the beginning and the end, which tell what was meant and what
 *  went wrong, and between them how many lines were left out. Nothing throws. */
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
  const cut = line.length > MAX_LINE ? `${line.slice(0, MAX_LINE)} …` : line
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
  return [...head, `… ${leftOut} lines left out …`, ...tail].join('\n')
}

function takeLines(lines: readonly string[], maxBytes: number): string[] {
  let room = maxBytes
  const end = lines.findIndex((line) => {
    room -= line.length + 1
    return room < 0
  })
  return lines.slice(0, end < 0 ? lines.length : end)
}
