import { Refusal } from '../../model/refusal.ts'
import type { ErrorBody } from './errors.ts'
import type { Operation } from './operation.ts'
import type { Rendered } from './rendered-response.ts'
import type { Holder } from './rights.ts'

/** A page outside /v1 that needs no API key, such as health checks, documentation, metrics or the dashboard. */
export interface Page {
  method: 'GET' | 'POST' | 'PATCH' | 'DELETE'
  /** `/docs/:file`; may end in `/*`. Must not be under /v1. */
  path: string
  /** Also served during shutdown. */
  whileStopping?: boolean
  /** Returns the response, or throws a Refusal. `peer` returns the remote address of the connection, possibly that of a
   *  proxy; null without a socket. `readBody` reads a body of at most so many bytes (incoming-body.ts). */
  handle: (
    request: Request,
    params: Params,
    peer: () => string | null,
    readBody: (limit: number) => Promise<Uint8Array>,
  ) => Response | Promise<Response>
}

/** A compatible API: the API of another service, implemented with our operations under its own root path. It requires a
 *  key and uses the same pipeline as /v1. Errors have the format of the other service. */
export interface CompatApi {
  /** `/compat/resend` */
  root: string
  /** Their paths include the root. */
  operations: Operation[]
  /** Refusal and its request → HTTP status and JSON body in the other service's format. */
  refuse: (refusal: Refusal, request: Request) => { status: number; body: unknown }
}

/** An API with one path, to which each request is a POST whose body says which operation it calls. It requires an API
 *  key and uses the same pipeline as /v1. */
export interface RpcApi {
  /** `/mcp` */
  path: string
  /** Request and its caller → the operation that it calls, or the response if it calls none. Rejects with a Refusal. */
  read(request: Request, caller: Holder): Promise<RpcCall | Rendered>
  /** Refusal of a request that calls no operation → HTTP status and JSON body. */
  refuse: CompatApi['refuse']
}

/** One call of an operation. */
export interface RpcCall {
  operation: Operation
  /** Path parameters, and the request that would make the same call under /v1, but without its key. Throws
   *  `validation_error`. */
  open(): { params: Params; request: Request }
  /** JSON body of the operation's response, or of its error → the response. */
  answer(body: unknown): Rendered
  refuse(body: ErrorBody): Rendered
}

/** Values of the path parameters (`:name`) by name. */
export type Params = Record<string, string>

/** One path pattern and its methods. */
export interface Route {
  path: string
  /** True if every response requires a key, even 404. */
  guarded: boolean
  /** The compatible API to which the path belongs; null for /v1 and pages. */
  compatApi: CompatApi | null
  /** The RPC API at this path; null for any other. */
  rpcApi: RpcApi | null
  /** Operations by HTTP method. HEAD has the entry of GET. */
  operations: ReadonlyMap<string, Operation>
  /** Pages by HTTP method. HEAD has the entry of GET. */
  pages: ReadonlyMap<string, Page>
  /** Value of the `Allow` header. Empty if the path does not exist. */
  allow: string
}

/** Operations, pages, compatible and RPC APIs → one route per path, and routes for unknown paths. Throws an Error, a
 *  programming error, if two entries have the same path and method, an operation is not under /v1, or a page is. */
export function createRoutes(
  operations: Operation[],
  pages: Page[],
  compatApis: CompatApi[] = [],
  rpcApis: RpcApi[] = [],
): Route[] {
  const paths = new Map<string, Entry>()
  const at = (path: string, compatApi: CompatApi | null = null) => {
    const entry = paths.get(path) ?? { operations: new Map(), pages: new Map(), compatApi, rpcApi: null }
    paths.set(path, entry)
    return entry
  }
  for (const operation of operations) {
    if (!operation.path.startsWith('/v1/')) throw new Error(`${operation.id} is not under /v1`)
    put(at(operation.path).operations, operation)
  }
  for (const page of pages) {
    if (/^\/v1(?:\/|$)/.test(page.path)) throw new Error(`${page.path} would need a key`)
    put(at(page.path).pages, page)
  }
  for (const compatApi of compatApis) {
    for (const operation of compatApi.operations) put(at(operation.path, compatApi).operations, operation)
    for (const path of [compatApi.root, `${compatApi.root}/*`]) at(path, compatApi)
  }
  for (const rpcApi of rpcApis) at(rpcApi.path).rpcApi = rpcApi
  for (const path of ['/v1', '/v1/*', '/*']) at(path)

  return [...paths].map(([path, { operations, pages, compatApi, rpcApi }]) => ({
    path,
    guarded: path === '/v1' || path.startsWith('/v1/') || compatApi !== null || rpcApi !== null,
    compatApi,
    rpcApi,
    operations,
    pages,
    allow: rpcApi === null ? [...new Set([...operations.keys(), ...pages.keys()])].join(', ') : 'POST',
  }))
}

/** Route and its entry for the request's method → the same entry. If it is undefined, throws `not_found` for an unknown
 *  path, and `method_not_allowed` for a path with other methods. */
export function requireMethod<T>(
  route: Route,
  found: T | undefined,
  { method, url }: Pick<Request, 'method' | 'url'>,
): T {
  if (found !== undefined) return found
  const isToSend = method === 'POST' && route.compatApi === null && SENDS_ELSEWHERE.test(URL.parse(url)?.pathname ?? '')
  if (route.allow === '') {
    throw new Refusal('not_found', isToSend ? `No such path. ${HOW_TO_SEND}` : 'No such path. See /docs for all paths.')
  }
  const message = `This path supports ${route.allow} only.`
  throw new Refusal('method_not_allowed', isToSend ? `${message} ${HOW_TO_SEND}` : message)
}

/** Paths with which other services send a message, and the one that people guess. */
const SENDS_ELSEWHERE = /^\/(?:v1\/)?(?:messages|emails?|mail\/send|email\/batch)\/?$/
const HOW_TO_SEND = 'To send a message, use POST /v1/messages/send.'

interface Entry {
  operations: Map<string, Operation>
  pages: Map<string, Page>
  compatApi: CompatApi | null
  rpcApi: RpcApi | null
}

function put<T extends { method: string; path: string }>(methods: Map<string, T>, entry: T): void {
  if (methods.has(entry.method)) throw new Error(`${entry.method} ${entry.path} is defined twice`)
  methods.set(entry.method, entry)
  if (entry.method === 'GET') methods.set('HEAD', entry)
}
