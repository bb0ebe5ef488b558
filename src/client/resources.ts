import { Call, type CallOptions, type KeyedOptions, type ParsedResponse, type SendOptions } from './call.ts'
import { errorOf } from './errors.ts'
import { EventStream } from './event-stream.ts'
import { exchange } from './exchange.ts'
import { type Page, Pages } from './pages.ts'
import { queryOf } from './query.ts'
import type { Route, Routes } from './route.ts'
import type { ApiRequest, Wire } from './wire.ts'

/** Default timeout, in ms, and maximum retries of calls. */
export interface Timeouts {
  timeoutMs: number
  maxRetries: number
}

/** How requests and responses differ from those of the API. */
export interface Naming {
  asked: (input: unknown) => unknown
  shown: (data: unknown) => unknown
}

/** Table of operations → object of the same structure with a function for each operation. */
export function resourcesOf(routes: Routes, wire: Wire, timeouts: Timeouts, naming: Naming): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(routes).map(([name, route]) => [
      name,
      isRoute(route) ? operationOf(route, wire, timeouts, naming) : resourcesOf(route, wire, timeouts, naming),
    ]),
  )
}

const isRoute = (route: Route | Routes): route is Route => typeof route.path === 'string'

function operationOf(route: Route, wire: Wire, timeouts: Timeouts, { asked, shown }: Naming) {
  const count = [...route.path.matchAll(PARAMETER)].length
  return (...given: unknown[]) => {
    const ids = given.slice(0, count)
    const [input, options] = route.takes === undefined ? [undefined, given[count]] : given.slice(count)
    const requestWith = (more: object) =>
      requestOf(route, ids, { ...(asked(input) as object), ...more }, { ...timeouts, ...set(options) })
    if (route.isStream)
      return new EventStream(wire, (after) => requestWith({ after }), (input as { after?: string })?.after, shown)
    // An async function, so that invalid input rejects the call instead of throwing.
    const send = async (more = {}) => exchange<Page<unknown>>(wire, requestWith(more))
    if (route.isList) return new Pages(async (more) => withItems(await send(more), shown))
    return new Call(send().then((answer) => ({ ...answer, data: shown(answer.data) })))
  }
}

/** Response with a page → the same with converted items. One that is no page stays as it is. */
function withItems(answer: ParsedResponse<Page<unknown>>, shown: Naming['shown']): ParsedResponse<Page<unknown>> {
  const items = answer.data.data
  return Array.isArray(items) ? { ...answer, data: { ...answer.data, data: items.map(shown) } } : answer
}

/** Options of a call without those that are undefined, so that the defaults apply. */
function set(options: unknown): AllOptions {
  return Object.fromEntries(Object.entries(options ?? {}).filter(([, value]) => value !== undefined))
}

type AllOptions = CallOptions & KeyedOptions & SendOptions

function requestOf(route: Route, ids: unknown[], input: object, options: Timeouts & AllOptions): ApiRequest {
  const { method, takes, isKeyed, isRepeatable, isRaw, isStream } = route
  const { waitSeconds = 0, timeoutMs, maxRetries, signal } = options
  return {
    method,
    path: pathOf(route, ids) + (takes === 'query' ? queryOf(input) : ''),
    body: takes === 'body' ? bodyOf(input) : undefined,
    headers: {
      ...(waitSeconds > 0 ? { prefer: `wait=${waitSeconds}` } : {}),
      ...(isStream ? { accept: 'text/event-stream' } : {}),
    },
    idempotencyKey: isKeyed ? keyOf(options.idempotencyKey ?? crypto.randomUUID()) : null,
    isRepeatable: method !== 'POST' || isKeyed === true || isRepeatable === true,
    isRaw: isRaw === true,
    timeoutMs: timeoutMs + waitSeconds * 1_000,
    maxRetries,
    signal,
  }
}

/** Path with the IDs filled in. Throws a `ValidationError` for a missing or empty ID, because the path would then be
 *  that of another operation. */
function pathOf({ path }: Route, ids: unknown[]): string {
  let index = 0
  return path.replace(PARAMETER, (_, name: string) => {
    const id = ids[index++]
    const isId = typeof id === 'number' || (typeof id === 'string' && !['', '.', '..'].includes(id))
    if (!isId) throw invalid(name, 'must be a non-empty ID')
    return encodeURIComponent(id)
  })
}

function bodyOf(input: object): string {
  try {
    return JSON.stringify(input)
  } catch (error) {
    throw invalid('body', 'cannot be serialized as JSON', error)
  }
}

/** Idempotency key → the same key. Throws a `ValidationError` if it is invalid; otherwise `fetch` would fail, which
 *  looks like a connection error. */
function keyOf(key: string): string {
  if (!/^[\x20-\x7e]{1,255}$/.test(key)) throw invalid('Idempotency-Key', 'must be 1 to 255 printable ASCII characters')
  return key
}

function invalid(field: string, what: string, cause?: unknown) {
  const message = `${field} ${what}`
  return errorOf({ code: 'validation_error', message, field, errors: [{ field, message }], cause })
}

const PARAMETER = /\{(\w+)\}/g
