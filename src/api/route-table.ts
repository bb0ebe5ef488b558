import { Refusal } from '../model/refusal.ts'
import type { Operation } from './operation.ts'

/** Something outside /v1 that needs no key: health, documents, metrics, the dashboard. */
export interface Page {
  method: 'GET' | 'POST' | 'PATCH' | 'DELETE'
  /** `/docs/:file`; may end in `/*`. Never below /v1. */
  path: string
  /** Also answered while the server is shutting down. */
  whileStopping?: boolean
  /** `peer`: the address at the other end of the connection, perhaps a proxy's; null without a socket. */
  handle: (request: Request, params: Params, peer: () => string | null) => Response | Promise<Response>
}

/** Another service's way of asking for what we do, below a root of its own: a key is needed there as below /v1, every
 *  request takes the same steps, and what is refused is said in that service's words. */
export interface CompatApi {
  /** `/compat/resend` */
  root: string
  /** Paths with the root. */
  operations: Operation[]
  /** A "no", and the request that gets it → status and JSON. */
  refuse: (refusal: Refusal, request: Request) => { status: number; body: unknown }
}

/** What a path of a route says where it has a `:name`. */
export type Params = Record<string, string>

/** One path and what may be done with it. */
export interface Route {
  path: string
  /** Needs a key before anything else is said, even whether the path exists. */
  guarded: boolean
  /** Whose words errors are said in; null = ours. */
  compatApi: CompatApi | null
  /** By method; HEAD is where GET is. */
  operations: ReadonlyMap<string, Operation>
  pages: ReadonlyMap<string, Page>
  /** For the `Allow` header; empty = there is nothing here. */
  allow: string
}

/** Operations, pages and dialects → one route per path, and one for every path that is unknown. Throws when two share
 *  path and method: a fault of the program. */
export function createRoutes(operations: Operation[], pages: Page[], compatApis: CompatApi[] = []): Route[] {
  const paths = new Map<string, Entry>()
  const at = (path: string, compatApi: CompatApi | null = null) => {
    const entry = paths.get(path) ?? { operations: new Map(), pages: new Map(), compatApi }
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
  for (const path of ['/v1', '/v1/*', '/*']) at(path)

  return [...paths].map(([path, { operations, pages, compatApi }]) => ({
    path,
    guarded: path === '/v1' || path.startsWith('/v1/') || compatApi !== null,
    compatApi,
    operations,
    pages,
    allow: [...new Set([...operations.keys(), ...pages.keys()])].join(', '),
  }))
}

/** What stands for the request's method; 404 where there is nothing at all, 405 where there is something else. */
export function requireMethod<T>(route: Route, found: T | undefined): T {
  if (found !== undefined) return found
  if (route.allow === '') throw new Refusal('not_found', 'No such path. See /docs for all paths.')
  throw new Refusal('method_not_allowed', `This path supports ${route.allow} only.`)
}

interface Entry {
  operations: Map<string, Operation>
  pages: Map<string, Page>
  compatApi: CompatApi | null
}

function put<T extends { method: string; path: string }>(methods: Map<string, T>, entry: T): void {
  if (methods.has(entry.method)) throw new Error(`${entry.method} ${entry.path} is defined twice`)
  methods.set(entry.method, entry)
  if (entry.method === 'GET') methods.set('HEAD', entry)
}
