import type { Supply } from '../platform/descriptors.ts'

/** The socket that HTTP comes through. */
export interface Listener {
  /** Binds, port 0 included → what was bound. Throws when the address is taken. */
  open(at: { host: string; port: number }): { host: string; port: number }
  /** Whom a request comes from; null without a socket. */
  addressOf(request: Request): string | null
  /** Takes no more connections; resolves when those that stand have ended. */
  close(): Promise<void>
  /** Cuts them. */
  cut(): Promise<void>
}

/** How to answer, and who tells of the supply of file descriptors → a Listener that is not open yet.
 *
 *  Bun takes every connection it is offered, and once there is no descriptor left it asks for the next one without a
 *  pause (1.4.5: one processor at full load, and SQLite, SMTP and deliveries without files). So while they are short no
 *  connection is taken: the socket is closed, clients are refused by the system. Requests under way are answered; then
 *  what is left, which is connections that say nothing, is cut. */
export function createListener(options: {
  fetch: (request: Request) => Response | Promise<Response>
  maxBodyBytes: number
  watch: (tell: (supply: Supply) => void) => () => void
  onShut: () => void
}): Listener {
  let server: Server | null = null
  let bound: { host: string; port: number } | null = null
  /** No longer listening, with connections that have not ended. */
  const leaving = new Set<Server>()
  let unwatch = () => {}

  const serve = ({ host, port }: { host: string; port: number }) =>
    Bun.serve({
      hostname: host,
      port,
      reusePort: false,
      development: false,
      maxRequestBodySize: options.maxBodyBytes,
      idleTimeout: 60, // slow uploads, and `Prefer: wait` of up to 30 s
      fetch: (request) => options.fetch(request),
    })

  const shut = async (open: Server) => {
    server = null
    leaving.add(open)
    await open.stop(false)
    leaving.delete(open)
  }

  const look = (supply: Supply) => {
    if (supply === 'short' && server !== null) {
      options.onShut()
      void shut(server)
    }
    for (const each of leaving) if (each.pendingRequests === 0) void each.stop(true)
    if (supply === 'ample' && server === null && bound !== null) {
      try {
        server = serve(bound)
      } catch {
        // somebody else has the address for the moment: the next look tries again
      }
    }
  }

  return {
    open: (at) => {
      server = serve(at)
      bound = { host: server.hostname ?? at.host, port: server.port ?? at.port }
      unwatch = options.watch(look)
      return bound
    },
    addressOf: (request) => (server ?? [...leaving][0])?.requestIP(request)?.address ?? null,
    close: async () => {
      bound = null
      unwatch()
      await Promise.all([server?.stop(false), ...[...leaving].map((each) => each.stop(false))])
    },
    cut: async () => {
      await Promise.all([server?.stop(true), ...[...leaving].map((each) => each.stop(true))])
    },
  }
}

type Server = ReturnType<typeof Bun.serve>
