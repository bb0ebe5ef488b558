import type { Certificate } from '../platform/certificate.ts'
import type { Supply } from '../platform/descriptors.ts'

/** The socket that HTTP or HTTPS comes through. */
export interface Listener {
  /** Binds, port 0 included → what was bound; with a certificate it speaks TLS (1.2 or later). Throws when the address is
   *  taken. */
  open(at: { host: string; port: number }, certificate?: Certificate): { host: string; port: number }
  /** For every TLS connection from now on. Those that stand go on, and none is lost meanwhile. */
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
 *  Nor can it give a socket another certificate: a second socket takes over, and the first is closed a little later. */
export function createListener(options: {
  fetch: (request: Request) => Response | Promise<Response>
  maxBodyBytes: number
  idleSeconds: number
  /** How long a TCP handshake takes at most: so long a socket that was relieved still listens. */
  handshakeMs?: number
  watch: (tell: (supply: Supply) => void) => () => void
  onShut: () => void
}): Listener {
  let server: Server | null = null
  let bound: { host: string; port: number } | null = null
  let certificate: Certificate | undefined
  /** No longer listening, with connections that have not ended; cut as soon as they are idle. */
  const leaving = new Set<Server>()
  /** With an earlier certificate; they end by themselves. */
  const relieved = new Set<Server>()
  let isChanging = false
  let unwatch = () => {}

  const serve = ({ host, port }: { host: string; port: number }, isShared = certificate !== undefined) =>
    Bun.serve({
      hostname: host,
      port,
      reusePort: isShared,
      development: false,
      maxRequestBodySize: options.maxBodyBytes,
      idleTimeout: options.idleSeconds,
      ...(certificate && { tls: { key: certificate.keyPem, cert: certificate.certificatePem } }),
      fetch: (request) => options.fetch(request),
    })

  /** The first socket of an address is alone: with SO_REUSEPORT another program's would not be noticed. */
  const serveAlone = (at: { host: string; port: number }) => {
    if (certificate === undefined) return serve(at)
    const probe = serve(at, false)
    const { port = at.port } = probe
    void probe.stop(true)
    const first = serve({ host: at.host, port })
    void preferNewest(port)
    return first
  }

  const shut = async (open: Server) => {
    server = null
    leaving.add(open)
    await open.stop(false)
    leaving.delete(open)
  }

  const look = (supply: Supply) => {
    if (supply === 'short') {
      for (const each of relieved) leaving.add(each)
      if (server !== null) {
        options.onShut()
        void shut(server)
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

  /** One at a time: of three sockets the kernel would not take the newest. */
  const relieve = async (old: Server) => {
    isChanging = true
    const shown = certificate
    relieved.add(old)
    await new Promise((resolve) => setTimeout(resolve, options.handshakeMs ?? HANDSHAKE_MS).unref())
    void old.stop(false).then(() => {
      relieved.delete(old)
      leaving.delete(old)
    })
    isChanging = false
    if (certificate !== shown) change()
  }

  const change = () => {
    if (isChanging || server === null || bound === null) return // later, or at the next opening, or never again
    const old = server
    server = serve(bound)
    void relieve(old)
  }

  const standing = () => [...(server === null ? [] : [server]), ...leaving, ...relieved]

  return {
    open: (at, given) => {
      certificate = given
      server = serveAlone(at)
      bound = { host: server.hostname ?? at.host, port: server.port ?? at.port }
      unwatch = options.watch(look)
      return bound
    },
    useCertificate: (next) => {
      if (certificate === undefined) return // it speaks no TLS
      certificate = next
      change()
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

/** Loaded only where there is TLS. */
async function preferNewest(port: number): Promise<void> {
  const { preferNewestListener } = await import('../platform/newest-listener.ts')
  preferNewestListener(port)
}

/** A SYN-ACK that was lost is sent again after one second, and after two more; whose handshake had begun with the old
 *  socket is still let in. */
const HANDSHAKE_MS = 3_000

type Server = ReturnType<typeof Bun.serve>
