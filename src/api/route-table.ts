import { Refusal } from '../model/refusal.ts'
import type { Operation } from './operation.ts'

/** A page outside /v1 that needs no key: health, documents, metrics, the dashboard. */
export interface Page {
  method: 'GET' | 'POST' | 'PATCH' | 'DELETE'
  /** `/docs/:file`; may end in `/*`. Never under /v1. */
  path: string
  /** Also served during shutdown. */
  whileStopping?: boolean
  /** `peer`: address of the other end of the connection, possibly a proxy; null without a socket. */
  handle: (request: Request, params: Params, peer: () => string | null) => Response | Promise<Response>
}

/** Another service's API on top of our operations, under its own root. It requires a key as /v1 does and uses the same
 *  pipeline; errors have that service's format. */
export interface CompatApi {
  /** `/compat/resend` */
  root: string
  /** Their paths include the root. */
  operations: Operation[]
  /** Refusal and its request → status and JSON. */
  refuse: (refusal: Refusal, request: Request) => { status: number; body: unknown }
}

/** The values of `:name` segments. */
export type Params = Record<string, string>

/** One path and its methods. */
export interface Route {
  path: string
  /** Requires a key before anything is revealed, even whether the path exists. */
  guarded: boolean
  /** The API that formats errors; null = ours. */
  compatApi: CompatApi | null
  /** By method; HEAD uses GET. */
  operations: ReadonlyMap<string, Operation>
  pages: ReadonlyMap<string, Page>
  /** Value of the `Allow` header; empty = nothing at this path. */
  allow: string
}

/** Operations, pages and compat APIs → one route per path, and one for unknown paths. Throws if two share path and
 *  method: a programming error. */
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

/** Entry for the request's method; 404 if the path has none at all, 405 if it has others. */
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
