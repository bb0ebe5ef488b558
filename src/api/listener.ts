import { isBadHost } from '../net/host-header.ts'
import type { Certificate } from '../net/tls/certificate.ts'
import type { Supply } from '../os/descriptors.ts'
import { createTurnGate } from '../os/turn-gate.ts'

/** The socket that HTTP or HTTPS comes through. */
export interface Listener {
  /** Binds, port 0 included → what was bound; with a certificate it speaks TLS (1.2 or later). Throws when the address is
   *  taken. */
  open(at: Address, certificate?: Certificate): Address
  /** For every TLS connection from now on. Those that stand are answered and asked to come anew; none is lost. */
  useCertificate(certificate: Certificate): void
  /** Whom a request comes from, be it through another listener of this process; null without a socket. */
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
 *  what is left, which is connections that say nothing, is cut.
 *
 *  Bun cannot change the certificate of a socket either: a new socket replaces it. Connections to the old one get
 *  `Connection: close` with their next response. Connections that the old socket has not accepted yet are reset: 1 to 3
 *  per change at 1,500 connections per second. */
export function createListener(options: {
  fetch: (request: Request) => Response | Promise<Response>
  /** The answer to a request whose Host header is there twice or names no host; one line of text unless said. */
  refuseHost?: (request: Request) => Response
  maxBodyBytes: number
  idleSeconds: number
  watch: (tell: (supply: Supply) => void) => () => void
  onShut: () => void
}): Listener {
  let server: Server | null = null
  let bound: Address | null = null
  let certificate: Certificate | undefined
  /** No longer listening, with connections that have not ended; cut as soon as they are idle. */
  const leaving = new Set<Server>()
  /** Of those, the ones with an earlier certificate. */
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
  const gate = createTurnGate()
  const answer = (request: Request) => {
    if (!isBadHost(request.headers.get('host'))) return gate.enter(() => options.fetch(request))
    const response = refuseHost(request)
    response.headers.set('connection', 'close') // somebody on the way may have read it otherwise
    return response
  }

  const answerLast = async (request: Request): Promise<Response> => {
    const response = await answer(request)
    response.headers.set('connection', 'close')
    return response
  }

  /** The first socket of an address is alone: with SO_REUSEPORT another program's would not be noticed. */
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
    for (const each of leaving) if (each.pendingRequests === 0) void each.stop(true)
    if (supply === 'ample' && server === null && bound !== null) {
      try {
        server = serveAlone(bound)
      } catch {
        // somebody else has the address for the moment: the next look tries again
      }
    }
  }

  const standing = () => [...(server === null ? [] : [server]), ...leaving]

  return {
    open: (at, given) => {
      certificate = given
      server = serveAlone(at)
      bound = { host: server.hostname ?? at.host, port: server.port ?? at.port }
      unwatch = options.watch(look)
      return bound
    },
    useCertificate: (next) => {
      if (certificate === undefined || isSame(certificate, next)) return // it speaks no TLS, or nothing changes
      certificate = next
      if (server === null || bound === null) return // shut for the moment, or closed
      const old = server
      server = serve(bound)
      replaced.add(old)
      void shut(old)
    },
    addressOf: (request) => standing()[0]?.requestIP(request)?.address ?? null,
    close: async () => {
      bound = null
      unwatch()
      await Promise.all(standing().map((each) => each.stop(false)))
    },
    cut: async () => {
      await Promise.all(standing().map((each) => each.stop(true)))
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
