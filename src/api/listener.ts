import { isBadHost } from '../net/host-header.ts'
import type { Certificate } from '../net/tls/certificate.ts'
import type { Supply } from '../os/descriptors.ts'
import { createTurnLimiter } from '../os/turn-limiter.ts'

/** The HTTP or HTTPS listening socket. */
export interface Listener {
  /** Binds (port 0 allowed) → the bound address; with a certificate it uses TLS 1.2 or later. Throws if the address is
   *  in use. */
  open(at: Address, certificate?: Certificate): Address
  /** Applies to new TLS connections. Accepted ones stay until they are idle for too long, and are asked to reconnect with
   *  their next response. Connections that wait to be accepted at that moment are reset. */
  useCertificate(certificate: Certificate): void
  /** Peer address of a request, also for another listener of this process; null without a socket. */
  addressOf(request: Request): string | null
  /** Stops accepting connections; resolves when the open ones have ended. */
  close(): Promise<void>
  /** Closes all connections. */
  cut(): Promise<void>
}

/** Request handler and file descriptor supply → a Listener that is not yet open.
 *
 *  Bun accepts every connection. Without free file descriptors it retries in a busy loop (1.4.5: one CPU at full load,
 *  and SQLite, SMTP and deliveries without files). While descriptors are short, the socket is therefore closed and the
 *  system refuses clients. Requests in progress finish; then the remaining idle connections are closed.
 *
 *  Bun also cannot replace the certificate of a socket, so a new socket takes over. Clients on the old one get
 *  `Connection: close` with their next response. It is closed when they have left or been idle for too long. */
export function createListener(options: {
  fetch: (request: Request) => Response | Promise<Response>
  /** Response to a request whose Host header is repeated or invalid; by default one line of text. */
  refuseHost?: (request: Request) => Response
  maxBodyBytes: number
  idleSeconds: number
  watch: (onSupply: (supply: Supply) => void) => () => void
  onShut: () => void
}): Listener {
  let server: Server | null = null
  let bound: Address | null = null
  let certificate: Certificate | undefined
  /** Not listening, with open connections. */
  const leaving = new Set<Server>()
  /** Of those, the ones with an earlier certificate whose idle connections stay for now. */
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

  const { refuseHost = plainRefusal } = options
  const turns = createTurnLimiter()
  const answer = (request: Request) => {
    if (!isBadHost(request.headers.get('host'))) return turns.enter(() => options.fetch(request))
    const response = refuseHost(request)
    response.headers.set('connection', 'close') // an attacker on the network may have read it
    return response
  }

  const answerLast = async (request: Request): Promise<Response> => {
    const response = await answer(request)
    response.headers.set('connection', 'close')
    return response
  }

  /** The first socket of an address is exclusive: with SO_REUSEPORT, a conflict with another program would go
   *  unnoticed. */
  const serveAlone = (at: Address): Server => {
    if (certificate === undefined) return serve(at)
    const probe = serve(at, false)
    const { port = at.port } = probe
    void probe.stop(true)
    return serve({ host: at.host, port })
  }

  const shut = async (open: Server) => {
    leaving.add(open)
    await open.stop(false)
    leaving.delete(open)
    replaced.delete(open)
  }

  const look = (supply: Supply) => {
    if (supply === 'short') {
      const open = server
      server = null
      if (open !== null) {
        options.onShut()
        void shut(open)
      }
    }
    for (const each of leaving) {
      if (each.pendingRequests === 0 && (supply === 'short' || !replaced.has(each))) void each.stop(true)
    }
    if (supply === 'ample' && server === null && bound !== null) {
      try {
        server = serveAlone(bound)
      } catch {
        // the address is in use for the moment: retried with the next check
      }
    }
  }

  const servers = () => [...(server === null ? [] : [server]), ...leaving]

  return {
    open: (at, given) => {
      certificate = given
      server = serveAlone(at)
      bound = { host: server.hostname ?? at.host, port: server.port ?? at.port }
      unwatch = options.watch(look)
      return bound
    },
    useCertificate: (next) => {
      if (certificate === undefined || isSame(certificate, next)) return // no TLS, or no change
      certificate = next
      if (server === null || bound === null) return // temporarily closed, or stopped
      const old = server
      server = serve(bound)
      replaced.add(old)
      void shut(old)
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

const plainRefusal = () =>
  new Response('Host must be sent exactly once, as host or host:port\n', {
    status: 400,
    headers: { 'content-type': 'text/plain; charset=utf-8', 'x-content-type-options': 'nosniff' },
  })

const isSame = (one: Certificate, other: Certificate) =>
  one.certificatePem === other.certificatePem && one.keyPem === other.keyPem

interface Address {
  host: string
  port: number
}
type Server = ReturnType<typeof Bun.serve>
