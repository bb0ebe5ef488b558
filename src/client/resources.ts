import { Call, type CallOptions, type KeyedOptions, type SendOptions } from './call.ts'
import { EventStream } from './event-stream.ts'
import { type Ask, exchange, type Wire } from './exchange.ts'
import { type Page, Pages } from './pages.ts'
import { queryOf } from './query.ts'

/** One operation of the API, as routes.ts has it. */
export interface Route {
  method: 'GET' | 'POST' | 'PATCH' | 'DELETE'
  /** `/v1/messages/{message_id}`: each parameter is an argument. */
  path: string
  /** What the argument behind them is; none = the options come next. */
  takes?: 'body' | 'query'
  /** Understands Idempotency-Key. */
  isKeyed?: true
  /** A POST that may be made twice without a key. */
  isRepeatable?: true
  /** A list with cursors. */
  isList?: true
  /** Its answer may be something else than JSON. */
  isRaw?: true
  /** Events as they happen. */
  isStream?: true
}

export interface Routes {
  readonly [name: string]: Route | Routes
}

/** How patient a client is. */
export interface Patience {
  timeoutMs: number
  maxRetries: number
}

/** The table of operations → an object of the same shape, with a function for each. */
export function resourcesOf(routes: Routes, wire: Wire, patience: Patience): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(routes).map(([name, route]) => [
      name,
      isRoute(route) ? operationOf(route, wire, patience) : resourcesOf(route, wire, patience),
    ]),
  )
}

const isRoute = (route: Route | Routes): route is Route => typeof route.path === 'string'

function operationOf(route: Route, wire: Wire, patience: Patience) {
  const count = [...route.path.matchAll(PARAMETER)].length
  return (...given: unknown[]) => {
    const path = pathOf(route, given.slice(0, count))
    const [input, last] = route.takes === undefined ? [undefined, given[count]] : given.slice(count)
    const ask = askOf(route, path, input, { ...patience, ...(last as CallOptions | undefined) })
    if (route.isStream) return streamOf(route, wire, ask, input as { after?: string } | undefined)
    if (route.isList === undefined) return new Call(exchange(wire, ask))
    return new Pages((cursor) =>
      exchange<Page<unknown>>(wire, cursor === undefined ? ask : { ...ask, path: pathAt(path, input, cursor) }),
    )
  }
}

function streamOf({ path }: Route, wire: Wire, ask: Ask, query: { after?: string } | undefined): EventStream {
  const headers = { accept: 'text/event-stream' }
  const behind = (after: string): Ask => ({ ...ask, path: path + queryOf({ ...query, after }), headers })
  return new EventStream(wire, behind, query?.after)
}

function askOf(
  { method, takes, isKeyed, isRepeatable, isRaw }: Route,
  path: string,
  input: unknown,
  options: Patience & CallOptions & KeyedOptions & SendOptions,
): Ask {
  const { waitSeconds = 0, timeoutMs, maxRetries, signal } = options
  return {
    method,
    path: takes === 'query' ? path + queryOf(input) : path,
    body: takes === 'body' ? JSON.stringify(input ?? {}) : undefined,
    headers: waitSeconds > 0 ? { prefer: `wait=${waitSeconds}` } : {},
    idempotencyKey: isKeyed ? (options.idempotencyKey ?? crypto.randomUUID()) : null,
    isRepeatable: method !== 'POST' || isKeyed === true || isRepeatable === true,
    isRaw: isRaw === true,
    timeoutMs: timeoutMs + waitSeconds * 1_000,
    maxRetries,
    signal,
  }
}

/** Throws a TypeError where an id is missing: without it the path is that of another operation. */
function pathOf({ path }: Route, ids: unknown[]): string {
  let index = 0
  return path.replace(PARAMETER, (_, name: string) => {
    const id = ids[index++]
    if (typeof id === 'number') return String(id)
    if (typeof id !== 'string' || id === '' || id === '.' || id === '..')
      throw new TypeError(`${name} must be the id of something`)
    return encodeURIComponent(id)
  })
}

const pathAt = (path: string, query: unknown, cursor: string) => path + queryOf({ ...(query as object), cursor })

const PARAMETER = /\{(\w+)\}/g
