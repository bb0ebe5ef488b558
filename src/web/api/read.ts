import type { z } from 'zod'
import { type FieldFault, invalid, type Refusal } from '../../model/refusal.ts'
import { isDeeperThan, shapeFault } from './json-shape.ts'
import type { Operation } from './operation.ts'
import { check, MOST_FAULTS, unknownName } from './schema.ts'

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

const UTF8 = new TextDecoder('utf-8', { fatal: true })
const DEEPEST = 64
const MOST_VALUES = 500_000 // a full batch of 500 messages has about 100,000
/** Keys per object. Validation takes 1 µs per key and blocks the thread: 3 MB of keys took a second. */
const MOST_KEYS = 2_000
const SHAPE = { levels: DEEPEST, values: MOST_VALUES, keys: MOST_KEYS }
const TINY_BYTES = 16 * 1024

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

/** Value → parsed value. Throws `validation_error` with the faults of the schema and those in `known`. */
function checked<T>(schema: z.ZodType<T>, value: unknown, root: 'body' | 'query', known: FieldFault[] = []): T {
  const result = check(schema, value, root)
  if (result.faults === null && known.length === 0) return result.value
  const faults = [...known, ...(result.faults ?? [])]
  throw invalid(faults.slice(0, MOST_FAULTS))
}

/** Message → the refusal (400) of a body that is unusable. */
export function notABody(message: string, field = 'body'): Refusal {
  return invalid([{ field, message }])
}

function tooDeep(): Refusal {
  return notABody(`The body is nested more than ${DEEPEST} levels deep.`)
}
