import { type FieldFault, invalid } from '../../../model/refusal.ts'
import type { Operation } from '../operation.ts'
import type { Params } from '../route-table.ts'

/** Names of the path parameters, such as `['message_id']` of `/v1/messages/:message_id`. */
export function pathNames({ path }: Operation): string[] {
  return [...path.matchAll(/:(\w+)/g)].map(([, name = '']) => name)
}

/** Arguments of a tool → path parameters and the request that would make the same call under /v1. The operation's own
 *  schemas validate the rest. `signal` aborts it. Throws `validation_error` for an argument that fits in no path, URL or
 *  header. */
export function requestOf(
  operation: Operation,
  given: Readonly<Record<string, unknown>>,
  without: readonly string[],
  signal: AbortSignal,
): { params: Params; request: Request } {
  const left = new Map(Object.entries(given))
  const faults: FieldFault[] = []
  const take = (name: string, isFit: (text: string) => boolean, message: string): string => {
    const value = left.get(name)
    left.delete(name)
    if (typeof value === 'string' && isFit(value)) return value
    faults.push({ field: name, message: `${name} ${value === undefined ? 'is required' : message}` })
    return ''
  }
  const params = Object.fromEntries(
    pathNames(operation).map((name) => [
      name,
      take(name, isPathPart, `must be a text of 1 to ${LONGEST_PART} characters`),
    ]),
  )
  const headers = new Headers({ 'content-type': 'application/json' })
  if (operation.idempotent) {
    if (left.get('idempotency_key') == null) left.delete('idempotency_key')
    else
      headers.set('idempotency-key', take('idempotency_key', isKey, 'must be 1 to 255 characters of printable ASCII'))
  }
  for (const name of without) if (left.has(name)) faults.push({ field: name, message: `${name} is not supported here` })
  const query = operation.body === undefined ? queryOf(left, faults) : ''
  if (faults.length > 0) throw invalid(faults.slice(0, MOST_FAULTS))
  const body = operation.body === undefined ? null : JSON.stringify(Object.fromEntries(left))
  const request = new Request(`http://localhost${operation.path}${query}`, {
    method: operation.method,
    headers,
    body,
    signal,
  })
  return { params, request }
}

/** A query has texts only, so numbers and booleans become text. Null means absent. */
function queryOf(given: ReadonlyMap<string, unknown>, faults: FieldFault[]): string {
  const query = new URLSearchParams()
  for (const [name, value] of given) {
    for (const each of Array.isArray(value) ? value : [value]) {
      if (each === null) continue
      if (typeof each === 'object')
        faults.push({ field: name.slice(0, 100), message: 'must be a text, number or boolean' })
      else query.append(name, String(each))
    }
  }
  const text = query.toString()
  if (text.length > LONGEST_QUERY) faults.push({ field: 'arguments', message: 'arguments are too long' })
  return text === '' ? '' : `?${text}`
}

const isPathPart = ({ length }: string) => length > 0 && length <= LONGEST_PART
/** An address has at most 320 characters, an ID 30. */
const LONGEST_PART = 1000
/** About as much as the HTTP listener accepts in a URL. */
const LONGEST_QUERY = 8192
const MOST_FAULTS = 100
const isKey = (text: string) => /^[\x21-\x7e][\x20-\x7e]{0,254}$/.test(text)
