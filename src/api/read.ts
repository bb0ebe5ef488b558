import type { z } from 'zod'
import { type FieldFault, invalid, Refusal } from '../model/refusal.ts'
import type { Clock } from '../os/clock.ts'
import { shapeFault } from './json-shape.ts'
import type { Operation } from './operation.ts'
import { check, unknownName } from './schema.ts'

/** Reads the request body, at most `limit` bytes. A missing body is empty. Rejects with `payload_too_large` for a
 *  longer body: before reading if Content-Length exceeds the limit, otherwise while reading. Rejects with
 *  `validation_error` if the body takes longer than five minutes or ends early. Calls `enter` before it buffers a body
 *  of more than 256 KiB, with its Content-Length, or with `limit` if there is none, and rejects with the error of
 *  `enter`. */
export async function readBytes(
  request: Request,
  limit: number,
  clock: Clock,
  enter: (sizeBytes: number) => Promise<void>,
): Promise<Uint8Array> {
  const header = request.headers.get('content-length')
  const announced = header === null ? null : Number(header)
  if (announced !== null && announced > limit) throw tooLarge(limit)
  // Most bodies are small and read without a stream. The listener's idle timeout ends slow ones.
  if (announced !== null && announced <= SMALL_BYTES) {
    const body = await request.arrayBuffer().catch(() => null)
    if (body === null) throw endedEarly()
    return new Uint8Array(body)
  }
  if (request.body === null) return NO_BYTES
  if (announced !== null) await enter(announced)
  // One buffer of the known size, because joining the chunks at the end would block the thread.
  const whole = announced === null ? null : new Uint8Array(announced)
  const chunks: Uint8Array[] = []
  const startedAt = clock.now()
  let size = 0
  const reader = request.body.getReader()
  for (;;) {
    const chunk = await reader.read().catch(() => null)
    if (chunk === null) throw endedEarly()
    if (chunk.done) break
    size += chunk.value.byteLength
    const fault = size > limit ? tooLarge(limit) : clock.now() - startedAt > LONGEST_UPLOAD_MS ? tooSlow() : null
    if (fault !== null) {
      reader.cancel().catch(() => {})
      throw fault
    }
    const isLarge = size > SMALL_BYTES && size - chunk.value.byteLength <= SMALL_BYTES
    if (announced === null && isLarge) await enter(limit)
    if (whole !== null && size <= whole.byteLength) whole.set(chunk.value, size - chunk.value.byteLength)
    else chunks.push(chunk.value)
  }
  if (whole !== null) return whole.subarray(0, size)
  const [only] = chunks
  return only !== undefined && chunks.length === 1 ? only : Buffer.concat(chunks, size)
}

/** Request and the bytes of its body → the body, parsed and validated by the operation's schema; undefined if the
 *  operation has no body. The content type must be `application/json` (or that of `textField`) and the bytes valid
 *  UTF-8. At most 64 levels of nesting, 500,000 values and 2,000 keys per object. `put` inserts values that were
 *  extracted from the bytes (extract-base64.ts). Throws `validation_error` that lists every invalid field. */
export function parseBody(
  operation: Pick<Operation, 'body' | 'bodyOptional' | 'textField'>,
  request: Request,
  bytes: Uint8Array,
  put?: (value: unknown) => void,
): unknown {
  const { body } = operation
  return body === undefined ? undefined : parseAs(body, operation, request, bytes, put)
}

/** Like parseBody, with a given schema. */
export function parseAs<T>(
  schema: z.ZodType<T>,
  { bodyOptional, textField }: Pick<Operation, 'bodyOptional' | 'textField'>,
  request: Request,
  bytes: Uint8Array,
  put?: (value: unknown) => void,
): T {
  if (bytes.byteLength === 0) {
    if (bodyOptional) return checked(schema, {}, 'body')
    throw notABody('This request needs a JSON body.')
  }
  const text = textField !== undefined && isOfType(request.headers, textField.contentType) ? textField : null
  checkHeaders(request.headers, text !== null)
  const value = text === null ? parseJson(bytes) : { [text.field]: decode(bytes) }
  put?.(value)
  return checked(schema, value, 'body')
}

/** URL → the query, parsed and validated by the operation's schema; undefined if the operation has no query parameters.
 *  Throws `validation_error` that lists every unknown, repeated and invalid parameter. */
export function parseQuery(operation: Operation, url: string): unknown {
  const start = url.indexOf('?')
  if (start < 0) return operation.query === undefined ? undefined : checked(operation.query, {}, 'query')
  const end = url.indexOf('#', start)
  const values: Record<string, string> = Object.create(null)
  const faults: FieldFault[] = []
  for (const [name, value] of new URLSearchParams(url.slice(start + 1, end < 0 ? undefined : end))) {
    if (operation.query === undefined) faults.push({ field: name, message: unknownName(name, 'query', null) })
    else if (name in values && operation.repeatable?.includes(name)) values[name] += `,${value}`
    else if (name in values) faults.push({ field: name, message: `${name} must appear only once` })
    else values[name] = value
  }
  if (operation.query !== undefined) return checked(operation.query, { ...values }, 'query', faults)
  if (faults.length > 0) throw invalid(faults.slice(0, MOST_FAULTS))
  return undefined
}

/** Throws `validation_error` unless the body is uncompressed and, if not `isText`, `application/json`. Parameters of
 *  the content type are ignored (RFC 8259 §11 defines none). */
function checkHeaders(headers: Headers, isText: boolean): void {
  if (!isText && !isOfType(headers, 'application/json'))
    throw notABody('Content-Type must be application/json', 'Content-Type')
  const encoding = headers.get('content-encoding')
  if (encoding !== null && encoding !== 'identity') {
    throw notABody(
      'Compressed request bodies are not supported. Send the body without Content-Encoding.',
      'Content-Encoding',
    )
  }
}

const NO_BYTES = new Uint8Array(0)
const UTF8 = new TextDecoder('utf-8', { fatal: true })
/** Bodies up to this size need no memory reservation (request-body.ts). */
export const SMALL_BYTES = 256 * 1024
const LONGEST_UPLOAD_MS = 300_000 // 25 MiB at 90 KB/s
const DEEPEST = 64
const MOST_VALUES = 500_000 // a full batch of 500 messages has about 100,000
/** Keys per object. Validation takes 1 µs per key and blocks the thread: 3 MB of keys took a second. */
const MOST_KEYS = 2_000
const SHAPE = { levels: DEEPEST, values: MOST_VALUES, keys: MOST_KEYS }
const TINY_BYTES = 16 * 1024
const MOST_FAULTS = 100

function parseJson(bytes: Uint8Array): unknown {
  // The parser takes 2 ms at worst for bodies of this size.
  const fault = bytes.byteLength > TINY_BYTES ? shapeFault(bytes, SHAPE) : null
  if (fault === 'deep') throw tooDeep()
  if (fault === 'wide') throw notABody(`An object in the body has more than ${MOST_KEYS} keys.`)
  if (fault === 'many') throw notABody(`The body has more than ${MOST_VALUES} values.`)
  const text = decode(bytes)
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    throw notABody('The body is not valid JSON.') // malformed, or nested deeper than the parser supports
  }
  if (isDeeperThan(value, DEEPEST)) throw tooDeep()
  return value
}

function decode(bytes: Uint8Array): string {
  try {
    return UTF8.decode(bytes)
  } catch {
    throw notABody('The body is not valid UTF-8.')
  }
}

/** True if the content type, without its parameters, is `type`. */
function isOfType(headers: Headers, type: string): boolean {
  const given = headers.get('content-type')
  return given === type || given?.replace(/;.*/s, '').trim().toLowerCase() === type
}

function isDeeperThan(value: unknown, levels: number): boolean {
  if (typeof value !== 'object' || value === null) return false
  if (levels === 0) return true
  // Object.values of an array of 120,000 numbers takes 22 ms, the array itself half a millisecond.
  for (const entry of Array.isArray(value) ? value : Object.values(value)) {
    if (isDeeperThan(entry, levels - 1)) return true
  }
  return false
}

/** Value → parsed value. Throws `validation_error` with the faults of the schema and those in `known`. */
function checked<T>(schema: z.ZodType<T>, value: unknown, root: 'body' | 'query', known: FieldFault[] = []): T {
  const result = check(schema, value, root)
  if (result.faults === null && known.length === 0) return result.value
  const faults = [...known, ...(result.faults ?? [])]
  throw invalid(faults.slice(0, MOST_FAULTS))
}

function endedEarly(): Refusal {
  return notABody('The connection ended before the body was complete.')
}

function notABody(message: string, field = 'body'): Refusal {
  return invalid([{ field, message }])
}

function tooDeep(): Refusal {
  return notABody(`The body is nested more than ${DEEPEST} levels deep.`)
}

function tooSlow(): Refusal {
  return notABody('The body took too long to arrive.')
}

function tooLarge(limit: number): Refusal {
  return new Refusal('payload_too_large', `The body is larger than ${limit} bytes.`, {
    details: { limit_bytes: limit },
  })
}
