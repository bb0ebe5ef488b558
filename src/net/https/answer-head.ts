import { type Allowance, AnswerFault, type AnswerInput, type Steps } from './answer-input.ts'
import { ANSWER_FAULTS, ANSWER_LIMITS } from './limits.ts'

/** How the end of a response body is determined. RFC 9112 §6.3 */
export type Framing = { kind: 'length'; bytes: number } | { kind: 'chunked' } | { kind: 'close' }

/** Status line and headers of the final response. */
export interface AnswerHead {
  status: number
  headers: ReadonlyMap<string, string>
  framing: Framing
  isCoded: boolean
  /** According to its headers; a body that ends with the connection prevents reuse in any case. */
  keepsAlive: boolean
}

/** Reads heads up to that of the final response, and skips interim ones. */
export function* readHead(input: AnswerInput, heads: Allowance): Steps<AnswerHead> {
  for (let interim = 0; ; interim++) {
    const status = statusOf(yield* input.line(heads))
    if (status === null) throw new AnswerFault(ANSWER_FAULTS.notHttp)
    if (status.code === 101) throw new AnswerFault(ANSWER_FAULTS.switches)
    const fields = yield* readFields(input, heads)
    if (status.code >= 200) return finished(status, fields)
    if (interim === ANSWER_LIMITS.interimAnswers.most) throw new AnswerFault(ANSWER_LIMITS.interimAnswers.phrase)
  }
}

/** Reads headers or trailers, including the empty line behind them. */
export function* readFields(input: AnswerInput, heads: Allowance): Steps<Field[]> {
  const fields: Field[] = []
  for (let lines = 0; ; lines++) {
    const line = yield* input.line(heads)
    if (line === '') return fields
    if (lines === ANSWER_LIMITS.headerLines.most) throw new AnswerFault(ANSWER_LIMITS.headerLines.phrase)
    const last = fields.at(-1)
    const field = fieldOf(line)
    if (field !== null) fields.push(field)
    else if (last !== undefined && /^[ \t]/.test(line) && !CONTROLS.test(line)) {
      last.value = trimmed(`${last.value} ${trimmed(line)}`) // RFC 9112 §5.2
    } else throw new AnswerFault(ANSWER_FAULTS.notHttp)
  }
}

interface Status {
  code: number
  /** HTTP/1.0 */
  isOld: boolean
}

interface Field {
  name: string
  value: string
}

/** `HTTP/1.1 200 OK`; the reason and the space before it may be missing. RFC 9112 §4 */
function statusOf(line: string): Status | null {
  const [, minor, code] = /^HTTP\/1\.([01]) ([1-9]\d\d)(?: [\t\x20-\x7e\x80-\xff]*)?$/.exec(line) ?? []
  return code === undefined ? null : { code: Number(code), isOld: minor === '0' }
}

/** `Name: value`; a space before the colon is a fault (RFC 9112 §5.1). */
function fieldOf(line: string): Field | null {
  const colon = line.indexOf(':')
  if (colon <= 0 || CONTROLS.test(line)) return null
  const name = line.slice(0, colon)
  return TOKEN.test(name) ? { name: name.toLowerCase(), value: trimmed(line.slice(colon + 1)) } : null
}

const TOKEN = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/
/** Control characters except TAB, including NUL and a bare CR. */
export const CONTROLS = /[\x00-\x08\x0a-\x1f\x7f]/

/** Without spaces and tabs at either end. Two loops, since a pattern for the end is quadratic. */
function trimmed(text: string): string {
  let from = 0
  let to = text.length
  while (from < to && isBlank(text.charCodeAt(from))) from++
  while (to > from && isBlank(text.charCodeAt(to - 1))) to--
  return text.slice(from, to)
}

const isBlank = (code: number) => code === 32 || code === 9

function finished({ code: status, isOld }: Status, fields: readonly Field[]): AnswerHead {
  const headers = new Map<string, string>()
  for (const { name, value } of fields) {
    const before = headers.get(name)
    if (before === undefined) headers.set(name, value)
    else if (!FIRST_COUNTS.has(name)) headers.set(name, `${before}, ${value}`)
  }
  const framed = framingOf(status, fields)
  const connectionOptions = list(headers.get('connection'))
  const keepsAlive = isOld
    ? connectionOptions.includes('keep-alive') && framed.framing.kind !== 'chunked'
    : !connectionOptions.includes('close')
  return { status, headers, ...framed, keepsAlive }
}

/** As in Node: for these headers only the first occurrence counts. */
const FIRST_COUNTS = new Set(['content-type', 'content-length', 'etag', 'location', 'retry-after', 'server', 'expires'])

function framingOf(status: number, fields: readonly Field[]): { framing: Framing; isCoded: boolean } {
  const codings = fields.filter(({ name }) => name === 'transfer-encoding').flatMap(({ value }) => list(value))
  const lengths = fields.filter(({ name }) => name === 'content-length').flatMap(({ value }) => value.split(','))
  const [length = null, ...others] = new Set(lengths.map(trimmed)) // equal ones are one: RFC 9110 §8.6
  if (others.length > 0 || (length !== null && codings.length > 0)) throw new AnswerFault(ANSWER_FAULTS.lengths)
  if (length !== null && !/^\d{1,15}$/.test(length)) throw new AnswerFault(ANSWER_FAULTS.lengths)
  if (status === 204 || status === 304) return { framing: { kind: 'length', bytes: 0 }, isCoded: false }
  if (length !== null) return { framing: { kind: 'length', bytes: Number(length) }, isCoded: false }
  if (codings.length === 0) return { framing: { kind: 'close' }, isCoded: false }
  const isChunked = codings.at(-1) === 'chunked'
  if (codings.indexOf('chunked') !== (isChunked ? codings.length - 1 : -1)) throw new AnswerFault(ANSWER_FAULTS.lengths)
  return { framing: { kind: isChunked ? 'chunked' : 'close' }, isCoded: codings.length > (isChunked ? 1 : 0) }
}

/** A comma-separated list in lower case. ANSWER_LIMITS.headBytes bounds its length. */
function list(value: string | undefined): string[] {
  return (value ?? '')
    .toLowerCase()
    .split(',')
    .map(trimmed)
    .filter((word) => word !== '')
}
