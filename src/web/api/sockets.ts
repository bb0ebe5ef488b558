import { Elysia } from 'elysia'
import type { Certificate } from '../../net/tls/certificate.ts'
import type { Supply } from '../../os/descriptors.ts'
import type { Log } from '../../os/log.ts'
import { badHost } from './errors.ts'
import type { Flow } from './flow.ts'
import { tooManyBodies } from './incoming-body.ts'
import { createListener, type Listener } from './listener.ts'
import type { Route } from './route-table.ts'

/** Options of createSockets. Fields that ApiOptions (server.ts) also has are the same. */
export interface SocketsOptions {
  flow: Flow
  routes: Route[]
  limits: { bodyBytes: number }
  hstsSeconds?: number
  watchDescriptors?: (onSupply: (supply: Supply) => void) => () => void
  /** Ends all event streams. Called when file descriptors are short. */
  endStreams: () => void
  log: Log
}

/** The HTTP and HTTPS sockets of the API, and its router. */
export interface Sockets {
  /** Binds the address and resolves with the bound one; port 0 selects a free port. With a certificate it serves HTTPS.
   *  Rejects if the address is in use. */
  listen(address: Address, certificate?: Certificate): Promise<Address>
  /** Uses the certificate for new HTTPS connections (listener.ts). */
  useCertificate(certificate: Certificate): void
  /** Serves a request without a socket. */
  fetch(request: Request): Promise<Response>
  /** Remote address of a request's connection; null without a socket. */
  peerOf(request: Request): string | null
  /** True if the request used our own TLS. */
  isTls(request: Request): boolean
  /** Stops accepting connections. Resolves when the open connections have ended. */
  close(): Promise<void>
  /** Closes all connections immediately. */
  cut(): Promise<void>
}

/** Creates Sockets from routes and the pipeline, without a listener. */
export function createSockets({ flow, routes, limits, hstsSeconds, ...options }: SocketsOptions): Sockets {
  const app = new Elysia({
    systemRouter: false, // one router for sockets and fetch()
    // By default, Elysia finds no path if the Host has fewer than four characters, such as `api` in a private network.
    handler: { standardHostname: false },
  })
  // In HTTP/1.0 without a Host, the URL is only a path, which neither the router nor `new URL` can parse.
  /** Request with an added host → the original, which Bun needs to find the connection. */
  const nameless = new WeakMap<Request, Request>()
  app.wrap((answer) => (request: Request) => {
    if (!request.url.startsWith('/')) return answer(request)
    const named = new Request(`http://localhost${request.url}`, request)
    nameless.set(named, request)
    return answer(named)
  })
  // For errors of Elysia itself: `serve` never rejects.
  app.onError(({ error, request }) => flow.fail(error, request))
  for (const route of routes) {
    app.all(route.path, ({ request, params }) => flow.serve(request, params ?? {}, route), { parse: 'none' })
  }

  const answerPlain = (request: Request) => app.fetch(request)
  const byTls = new WeakSet<Request>()
  const answerSecure = (request: Request) => {
    byTls.add(request)
    // With `standardHostname: false` the router expects a URL that starts with `http://`.
    Object.defineProperty(request, 'url', { value: request.url.replace(/^https:/, 'http:') })
    return app.fetch(request)
  }
  const answerStrictly = async (request: Request) => {
    const response = await answerSecure(request)
    response.headers.set('strict-transport-security', `max-age=${hstsSeconds}`)
    return response
  }

  const listeners: Listener[] = []
  const addListener = (answer: (request: Request) => Response | Promise<Response>) => {
    const listener = createListener({
      fetch: answer,
      refuse: (request, why) => flow.fail(why === 'host' ? badHost() : tooManyBodies(), request),
      // Larger bodies get a 413 without a body from Bun. Up to four times our limit, the client gets our 413 instead.
      maxBodyBytes: limits.bodyBytes * 4 + 1_048_576,
      idleSeconds: 60, // longer than `Prefer: wait` (at most 30 s), and enough for slow uploads
      watch: options.watchDescriptors ?? (() => () => {}),
      onShut: () => {
        options.endStreams()
        options.log.warn('file descriptors exhausted, new HTTP connections paused')
      },
    })
    listeners.push(listener)
    return listener
  }

  return {
    async listen(at, certificate) {
      app.compile()
      const answer = certificate === undefined ? answerPlain : hstsSeconds ? answerStrictly : answerSecure
      return addListener(answer).open(at, certificate)
    },
    useCertificate: (certificate) => {
      for (const listener of listeners) listener.useCertificate(certificate)
    },
    fetch: async (request) => app.handle(request),
    peerOf: (request) => {
      const known = nameless.get(request) ?? request
      return listeners.reduce<string | null>((found, listener) => found ?? listener.addressOf(known), null)
    },
    isTls: (request) => byTls.has(nameless.get(request) ?? request),
    close: async () => {
      await Promise.all(listeners.map((listener) => listener.close()))
    },
    cut: async () => {
      await Promise.all(listeners.map((listener) => listener.cut()))
    },
  }
}

interface Address {
  host: string
  port: number
}
