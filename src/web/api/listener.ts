import { isBadHost } from '../../net/host-header.ts'
import type { Certificate } from '../../net/tls/certificate.ts'
import type { Supply } from '../../os/descriptors.ts'
import { createTurnLimiter } from '../../os/turn-limiter.ts'
import { READ_AHEAD_BYTES } from './receive-body.ts'

/** A listening socket for HTTP or HTTPS. */
export interface Listener {
  /** Binds the address and returns the bound one; port 0 selects a free port. With a certificate the socket uses TLS
   *  1.2 or later. Throws if the address is in use. */
  open(at: Address, certificate?: Certificate): Address
  /** Uses the certificate for new TLS connections. Open connections get `Connection: close` with their next response,
   *  or end when idle for too long. Connections that Bun has not accepted yet are reset. No effect without
   *  TLS. */
  useCertificate(certificate: Certificate): void
  /** Remote address of a request's connection, even if another listener of this process accepted it; null without a
   *  socket. */
  addressOf(request: Request): string | null
  /** Stops accepting connections. Resolves when the open connections have ended. */
  close(): Promise<void>
  /** Stops accepting connections and closes the open ones immediately. */
  cut(): Promise<void>
}

/** Creates a Listener, not yet open, from a request handler and a supply of file descriptors.
 *
 *  Bun accepts every connection. If no file descriptor is free, it retries in a busy loop (1.4.5: one CPU at full load,
 *  and SQLite, SMTP and deliveries cannot open files). While descriptors are short, the listener therefore closes its
 *  socket, and the operating system refuses clients. Requests in progress finish; then idle connections are closed.
 *
 *  Bun also cannot replace the certificate of a socket, so a new socket replaces the old one. Clients of the old
 *  socket get `Connection: close` with their next response. It closes when they have disconnected or been idle for
 *  too long. */
export function createListener(options: {
  fetch: (request: Request) => Response | Promise<Response>
  /** Response to a request whose Host header is repeated or invalid, and to one with a large body while others wait; by
   *  default a line of text. */
  refuse?: (request: Request, why: 'host' | 'crowded') => Response
  maxBodyBytes: number
  /** Time after which an idle connection is closed. */
  idleSeconds: number
  /** Reports the file descriptor supply until the returned function is called. */
  watch: (onSupply: (supply: Supply) => void) => () => void
  /** Called when the socket is closed because file descriptors are short. */
  onShut: () => void
}): Listener {
  let server: Server | null = null
  let bound: Address | null = null
  let certificate: Certificate | undefined
  /** Servers that no longer listen but still have open connections. */
  const leaving = new Set<Server>()
  /** The servers in `leaving` that have an earlier certificate and whose idle connections are kept for now. */
  const replaced = new Set<Server>()
  let unwatch = () => {}

  const serve = ({ host, port }: Address, isShared = certificate !== undefined): Server => {
    const made: Server = Bun.serve({
      hostname: host,
      port,
      reusePort: isShared,
      development: false,
      maxRequestBodySize: options.maxBodyBytes,
      idleTimeout: options.idleSeconds,
      ...(certificate && { tls: { key: certificate.keyPem, cert: certificate.certificatePem } }),
      fetch: (request) => (replaced.has(made) ? answerLast(request) : answer(request)),
    })
    return made
  }

  /** Bun (1.4.5) closes the connection when further bytes arrive before a response: pipelined requests (RFC 9112 §9.3.2),
   *  trailers, a line end behind the body. One turn later it has seen all bytes of the same read. A request that changes
   *  something waits for that, so that nothing is done whose response could not be sent. Of pipelined requests over TLS,
   *  Bun reports nothing in time: the first one is done and its response is lost. */
  const handle = async (request: Request): Promise<Response> => {
    if (!READ_ONLY.has(request.method)) {
      await new Promise<void>((resolve) => setImmediate(resolve))
      if (request.signal.aborted) return new Response(null, { status: 400 }) // nobody receives it
    }
    return options.fetch(request)
  }

  const { refuse = plainRefusal } = options
  const turns = createTurnLimiter()
  const answer = (request: Request) => {
    if (!isBadHost(request.headers.get('host'))) {
      const bytes = bodyBytes(request)
      return turns.isCrowded(bytes) ? refuse(request, 'crowded') : turns.enter(bytes, () => handle(request))
    }
    const response = refuse(request, 'host')
    response.headers.set('connection', 'close') // a proxy may split the connection into requests differently
    return response
  }

  const answerLast = async (request: Request): Promise<Response> => {
    const response = await answer(request)
    response.headers.set('connection', 'close')
    return response
  }

  /** Listens on an address that no other socket uses. With SO_REUSEPORT a conflict with another program would not be an
   *  error, so a socket without it binds the address first. */
  const serveAlone = (at: Address): Server => {
    if (certificate === undefined) return serve(at)
    const probe = serve(at, false)
    const { port = at.port } = probe
    void probe.stop(true)
    return serve({ host: at.host, port })
  }

  const closeWhenIdle = async (open: Server) => {
    leaving.add(open)
    await open.stop(false)
    leaving.delete(open)
    replaced.delete(open)
  }

  const adjust = (supply: Supply) => {
    if (supply === 'short') {
      const open = server
      server = null
      if (open !== null) {
        options.onShut()
        void closeWhenIdle(open)
      }
    }
    for (const each of leaving) {
      if (each.pendingRequests === 0 && (supply === 'short' || !replaced.has(each))) void each.stop(true)
    }
    if (supply === 'ample' && server === null && bound !== null) {
      try {
        server = serveAlone(bound)
      } catch {
        // the address is still in use: retried with the next report
      }
    }
  }

  const servers = () => [...(server === null ? [] : [server]), ...leaving]

  return {
    open: (at, given) => {
      certificate = given
      server = serveAlone(at)
      bound = { host: server.hostname ?? at.host, port: server.port ?? at.port }
      unwatch = options.watch(adjust)
      return bound
    },
    useCertificate: (next) => {
      if (certificate === undefined || isSame(certificate, next)) return // not TLS, or unchanged
      certificate = next
      if (server === null || bound === null) return // not listening: closed for lack of descriptors, or stopped
      const old = server
      server = serve(bound)
      replaced.add(old)
      void closeWhenIdle(old)
      setTimeout(() => replaced.delete(old), (options.idleSeconds + 5) * 1000).unref()
    },
    addressOf: (request) => servers()[0]?.requestIP(request)?.address ?? null,
    close: async () => {
      bound = null
      unwatch()
      await Promise.all(servers().map((each) => each.stop(false)))
    },
    cut: async () => {
      await Promise.all(servers().map((each) => each.stop(true)))
    },
  }
}

const READ_ONLY = new Set(['GET', 'HEAD', 'OPTIONS'])

/** What Bun may hold of the body before anybody reads it. It discards the body of a GET or HEAD (1.4.5). */
function bodyBytes({ method, headers }: Request): number {
  if (method === 'GET' || method === 'HEAD') return 0
  const announced = Number(headers.get('content-length') ?? Number.POSITIVE_INFINITY)
  return headers.has('transfer-encoding') || headers.has('content-length') ? Math.min(announced, READ_AHEAD_BYTES) : 0
}

const plainRefusal = (_: Request, why: 'host' | 'crowded') =>
  new Response(
    why === 'host'
      ? 'Host must be sent exactly once, as host or host:port\n'
      : 'Too many requests at once. Try again in a few seconds.\n',
    {
      status: why === 'host' ? 400 : 503,
      headers: { 'content-type': 'text/plain; charset=utf-8', 'x-content-type-options': 'nosniff' },
    },
  )

const isSame = (one: Certificate, other: Certificate) =>
  one.certificatePem === other.certificatePem && one.keyPem === other.keyPem

interface Address {
  host: string
  port: number
}
type Server = ReturnType<typeof Bun.serve>
