import type { Operation } from './operation.ts'

/** Something outside /v1 that needs no key: health, documents, metrics, the dashboard. */
export interface Page {
  method: 'GET' | 'POST' | 'PATCH' | 'DELETE'
  /** `/docs/:file`; may end in `/*`. Never below /v1. */
  path: string
  /** Also answered while the server is shutting down. */
  whileStopping?: boolean
  /** `peer`: the address at the other end of the connection, perhaps a proxy's; null without a socket. */
  handle: (request: Request, params: Record<string, string>, peer: () => string | null) => Response | Promise<Response>
}

/** One path and what may be done with it. */
export interface Route {
  path: string
  /** Needs a key before anything else is said, even whether the path exists. */
  guarded: boolean
  /** By method; HEAD is where GET is. */
  operations: ReadonlyMap<string, Operation>
  pages: ReadonlyMap<string, Page>
  /** For the `Allow` header; empty = there is nothing here. */
  allow: string
}

/** Operations and pages → one route per path, and one for every path that is unknown. Throws when two share path and
 *  method: a fault of the program. */
export function createRoutes(operations: Operation[], pages: Page[]): Route[] {
  const paths = new Map<string, { operations: Map<string, Operation>; pages: Map<string, Page> }>()
  const at = (path: string) => {
    const entry = paths.get(path) ?? { operations: new Map(), pages: new Map() }
    paths.set(path, entry)
    return entry
  }
  for (const operation of operations) {
    if (!operation.path.startsWith('/v1/')) throw new Error(`${operation.id} is not below /v1`)
    put(at(operation.path).operations, operation)
  }
  for (const page of pages) {
    if (/^\/v1(?:\/|$)/.test(page.path)) throw new Error(`${page.path} would need a key`)
    put(at(page.path).pages, page)
  }
  for (const path of ['/v1', '/v1/*', '/*']) at(path)

  return [...paths].map(([path, { operations, pages }]) => ({
    path,
    guarded: path === '/v1' || path.startsWith('/v1/'),
    operations,
    pages,
    allow: [...new Set([...operations.keys(), ...pages.keys()])].join(', '),
  }))
}

function put<T extends { method: string; path: string }>(methods: Map<string, T>, entry: T): void {
  if (methods.has(entry.method)) throw new Error(`${entry.method} ${entry.path} is there twice`)
  methods.set(entry.method, entry)
  if (entry.method === 'GET') methods.set('HEAD', entry)
}
