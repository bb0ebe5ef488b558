/** Reads comma-separated values (RFC 4180) piece by piece in bounded memory, and writes them. */

/** One record with its first line, from 1; or what is wrong with the line. */
export type CsvRecord = { line: number; fields: string[] } | { line: number; fault: string }

export interface CsvReader {
  /** The next piece of the text → the records completed by it. */
  push(text: string): CsvRecord[]
  /** Ends the text. */
  end(): CsvRecord[]
}

/** A reader whose first record is the header, which determines the separator (comma, semicolon or tab) and the number
 *  of fields. Lines end with LF or CRLF; a byte order mark and empty lines are skipped; a quoted field may contain line
 *  ends. A record that is invalid over several lines, or longer than 16 KiB, is dropped at its first line and reading
 *  continues with the next line, so that one stray quote does not swallow the file. Never throws. */
export function createCsvReader(): CsvReader {
  let rest = ''
  let lines = 0
  let separator = ''
  let width = 0
  let open: { number: number; text: string }[] = []
  let isQuoted = false
  let size = 0

  const begin = () => {
    open = []
    isQuoted = false
    size = 0
  }

  /** Reads the queued lines; `isOver` when no more follow. */
  const take = (queue: string[], isOver: boolean): CsvRecord[] => {
    const records: CsvRecord[] = []
    const again: { number: number; text: string }[] = []
    const giveUp = (fault: string) => {
      records.push({ line: open[0]!.number, fault })
      again.unshift(...open.slice(1))
      begin()
    }
    for (let at = 0; ; ) {
      const line = again.shift() ?? (at < queue.length ? { number: ++lines, text: queue[at++]! } : null)
      if (line === null) {
        if (!isOver || open.length === 0) return records
        giveUp('has a quote that is never closed')
        continue
      }
      if (open.length === 0 && line.text.trim() === '') continue
      open.push(line)
      size += line.text.length + 1 // with its line end, so that empty lines count
      if (oddQuotes(line.text)) isQuoted = !isQuoted
      if (isQuoted && size <= MAX_CHARACTERS) continue
      if (separator === '') separator = separatorOf(line.text)
      const fields = isQuoted ? null : split(open.map(({ text }) => text).join('\n'), separator)
      if (fields === null)
        giveUp(isQuoted ? 'has a quote that is never closed' : 'has a quote inside an unquoted field')
      else if (width > 0 && fields.length !== width) giveUp(`has ${fields.length} fields; the header has ${width}`)
      else {
        width = fields.length
        records.push({ line: open[0]!.number, fields })
        begin()
      }
    }
  }

  return {
    push(text) {
      const pieces = (rest + text).split('\n')
      rest = pieces.pop() ?? ''
      if (rest.length > MAX_CHARACTERS) {
        pieces.push(rest)
        rest = ''
      }
      return take(pieces.map(plain), false)
    },
    end() {
      const last = rest
      rest = ''
      return take(last === '' ? [] : [plain(last)], true)
    },
  }
}

/** Fields → one line with CRLF. */
export function csvLine(fields: readonly string[]): string {
  return `${fields.map((field) => (/[",;\t\r\n]/.test(field) ? `"${field.replaceAll('"', '""')}"` : field)).join(',')}\r\n`
}

const MAX_CHARACTERS = 16_384

const plain = (line: string) => line.replace(/^\ufeff|\r$/g, '')

function oddQuotes(text: string): boolean {
  let isOdd = false
  for (let at = text.indexOf('"'); at >= 0; at = text.indexOf('"', at + 1)) isOdd = !isOdd
  return isOdd
}

function separatorOf(header: string): string {
  const count = (character: string) => header.split(character).length
  const [most = ','] = [',', ';', '\t'].toSorted((a, b) => count(b) - count(a))
  return most
}

/** Null if text follows a closing quote. */
function split(text: string, separator: string): string[] | null {
  const fields: string[] = []
  for (let at = 0; ; at++) {
    if (text[at] !== '"') {
      const end = text.indexOf(separator, at)
      fields.push(text.slice(at, end < 0 ? undefined : end))
      if (end < 0) return fields
      at = end
      continue
    }
    let value = ''
    for (at++; ; ) {
      const end = text.indexOf('"', at)
      value += text.slice(at, end)
      at = end + 1
      if (text[at] !== '"') break
      value += '"'
      at++
    }
    fields.push(value)
    if (at === text.length) return fields
    if (text[at] !== separator) return null
  }
}
