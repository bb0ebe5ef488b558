import { parseMailbox } from '../../mail/address.ts'
import { cutText } from '../../mail/cut-text.ts'
import { type SuppressionReason, suppressionKey } from '../../model/suppression.ts'
import { createCsvReader } from './csv.ts'
import { createJsonListReader } from './json-list.ts'
import { isOwn, readOwn, unguarded } from './own-list.ts'
import { type ListKind, PROVIDERS, type ProviderName, type Row, type Said, UNTOLD } from './providers.ts'

/** One address to suppress. */
export interface Entry {
  email: string
  reason: SuppressionReason
  /** Null for the whole organization. */
  domainId: string | null
  /** Null for every stream. */
  stream: string | null
  /** When it was suppressed elsewhere, ms UTC; null if unknown. */
  at: number | null
  evidence: string | null
}

/** One record of a list with its line (CSV) or number (JSON), from 1. */
export type Reading = { number: number } & ({ entry: Entry } | { passedOver: string } | { fault: string })

export interface ListFormat {
  /** The exporting service; null: determined by the columns. */
  provider: ProviderName | null
  /** The kind of list; null: determined by the records. */
  kind: ListKind | null
  /** For entries that name none, except hard bounces: such an address takes mail of no stream. Null: every stream. */
  stream: string | null
}

/** Text of a whole list → the result of `readList` for an organization, in a separate thread where available. */
export type ReadList = (text: string, format: ListFormat, mostRefused: number, owner: string) => Promise<WholeList>

/** A whole list, with the first of its refused records; the others are counted. */
export interface WholeList {
  readings: Reading[]
  leftOut: { bad: number; passedOver: number }
}

export function readList(text: string, format: ListFormat, mostRefused: number): WholeList {
  const reader = createListReader(format)
  const list: WholeList = { readings: [], leftOut: { bad: 0, passedOver: 0 } }
  let refused = 0
  const take = (readings: readonly Reading[]) => {
    for (const reading of readings) {
      if ('entry' in reading || ++refused <= mostRefused) list.readings.push(reading)
      else if ('fault' in reading) list.leftOut.bad++
      else list.leftOut.passedOver++
    }
  }
  for (let at = 0; at < text.length; at += PIECE) take(reader.push(text.slice(at, at + PIECE)))
  take(reader.end())
  return list
}

const PIECE = 65_536

export interface ListReader {
  push(text: string): Reading[]
  end(): Reading[]
  /** The unit of its numbers. */
  readonly noun: 'line' | 'record'
}

/** Reads lists of suppressed addresses, ours and those of other services, as CSV or JSON, detected by the first
 *  character, and plain lists with an address on each line. Piece by piece, in bounded memory; an invalid record does not stop the rest. Never throws. */
export function createListReader(format: ListFormat): ListReader {
  let reader: { push(text: string): Reading[]; end(): Reading[] } | null = null
  let noun: ListReader['noun'] = 'line'
  let lead = ''
  return {
    push(text) {
      if (reader === null) {
        lead += text
        const first = lead.replace(/^[\ufeff\s]+/, '')[0]
        if (first === undefined && lead.length < MAX_BLANKS) return []
        noun = first === '[' || first === '{' ? 'record' : 'line'
        reader = noun === 'record' ? jsonReadings(format) : csvReadings(format)
        return reader.push(lead)
      }
      return reader.push(text)
    },
    end: () => reader?.end() ?? [],
    get noun() {
      return noun
    },
  }
}

function csvReadings(format: ListFormat) {
  const csv = createCsvReader()
  let columns: string[] | null = null
  let readRow: Read = readOwn
  let plain = (field: string) => field
  let isHopeless = false
  const read = (record: ReturnType<typeof csv.push>[number]): Reading[] => {
    const { line: number } = record
    if (isHopeless) return []
    if ('fault' in record) return [{ number, fault: record.fault }]
    if (columns === null && isBareAddress(record.fields)) columns = ['email']
    if (columns !== null) {
      const row: Row = Object.create(null)
      for (const [at, name] of columns.entries()) row[name] = plain(record.fields[at]!)
      const reading = readingOf(readRow(row, format.kind), row, format)
      isHopeless = 'fault' in reading && reading.fault === UNTOLD
      return [{ number, ...reading }]
    }
    columns = record.fields.map(plainName)
    const known = readerFor(new Set(columns), format)
    isHopeless = typeof known === 'string'
    if (typeof known === 'string') return [{ number, fault: known }]
    readRow = known
    if (known === readOwn) plain = unguarded
    return []
  }
  return { push: (text: string) => csv.push(text).flatMap(read), end: () => csv.end().flatMap(read) }
}

function jsonReadings(format: ListFormat) {
  const json = createJsonListReader()
  const read = (record: ReturnType<typeof json.push>[number]): Reading => {
    const { number } = record
    if ('fault' in record) return { number, fault: record.fault }
    const row: Row = Object.create(null)
    for (const [name, value] of Object.entries(record.value)) row[plainName(name)] = textOf(value)
    const known = readerFor(new Set(Object.keys(row)), format)
    if (typeof known === 'string') return { number, fault: known }
    return { number, ...readingOf(known(row, format.kind), row, format) }
  }
  return { push: (text: string) => json.push(text).map(read), end: () => json.end().map(read) }
}

/** The first line of a list of addresses without a line of column names. */
const isBareAddress = (fields: readonly string[]) => fields.length === 1 && parseMailbox(fields[0]!)?.name === null

const plainName = (name: string) => name.toLowerCase().replace(/[^a-z]/g, '')

function textOf(value: unknown): string {
  if (value === null || value === undefined) return ''
  if (Array.isArray(value)) return value.map(textOf).join(', ')
  return typeof value === 'object' ? JSON.stringify(value) : String(value)
}

type Read = (row: Row, kind: ListKind | null) => Said

/** Columns → how to read a record, or why that is impossible. */
function readerFor(columns: ReadonlySet<string>, { provider }: ListFormat): Read | string {
  const found = PROVIDERS.find(({ name, recognizes }) => (provider === null ? recognizes(columns) : name === provider))
  if (found?.recognizes(columns)) return found.read
  if (provider !== null) return `The columns do not match an export of ${provider}: ${[...columns].join(', ')}`
  return isOwn(columns) ? readOwn : `No column with addresses found among ${[...columns].join(', ')}. Name it email.`
}

function readingOf(
  said: Said,
  row: Row,
  format: ListFormat,
): { entry: Entry } | { passedOver: string } | { fault: string } {
  if (!('email' in said)) return said
  const mailbox = parseMailbox(said.email)
  if (mailbox === null || mailbox.name !== null) return { fault: 'has no email address' }
  const { reason, at, group } = said
  const stream = said.stream ?? (reason === 'hard_bounce' ? null : format.stream)
  if (group !== undefined && stream === null)
    return { passedOver: `unsubscribed from ${cut(group)} only. Set stream to import it.` }
  const evidence = cut(said.evidence)
  const domainId = row.domainid || null
  return { entry: { email: suppressionKey(mailbox.address), reason, domainId, stream, at, evidence } }
}

/** A remote server's text as one line, without characters that affect a terminal or a page. */
function cut(evidence: string): string | null {
  const line = evidence.replace(/[\p{Cc}\u2028\u2029]+/gu, ' ').trim()
  return cutText(line, MAX_EVIDENCE) || null
}

const MAX_BLANKS = 65_536
const MAX_EVIDENCE = 500 // a server's reply and some text
