import { Elysia } from 'elysia'
import type { Certificate } from '../net/tls/certificate.ts'
import type { Supply } from '../os/descriptors.ts'
import type { Log } from '../os/log.ts'
import { badHost } from './errors.ts'
import type { Flow } from './flow.ts'
import { createListener, type Listener } from './listener.ts'
import type { Route } from './route-table.ts'

export interface SocketsOptions extends Pick<Flow, 'serve' | 'fail'> {
  routes: Route[]
  limits: { bodyBytes: number }
  hstsSeconds?: number
  watchDescriptors?: (onSupply: (supply: Supply) => void) => () => void
  /** Called when file descriptors are short. */
  endStreams: () => void
  log: Log
}

export interface Sockets {
  /** Binds (port 0 allowed) → the bound address; with a certificate for HTTPS. Rejects if the address is in use. */
  listen(address: Address, certificate?: Certificate): Promise<Address>
  /** Applies to new HTTPS connections. */
  useCertificate(certificate: Certificate): void
  /** Handles a request without a socket. */
  fetch(request: Request): Promise<Response>
  /** The address at the other end of a request's connection; null without a socket. */
  peerOf(request: Request): string | null
  /** True if a request used HTTPS. */
  isTls(request: Request): boolean
  /** Stops accepting connections; resolves when the open ones have ended. */
  close(): Promise<void>
  /** Closes all connections. */
  cut(): Promise<void>
}

/** The HTTP and HTTPS sockets and the router. */
export function createSockets({ routes, serve, fail, limits, hstsSeconds, ...options }: SocketsOptions): Sockets {
  const app = new Elysia({
    systemRouter: false, // one router for sockets and fetch()
    // Otherwise every path is unknown for a Host of fewer than four characters, such as `api` in a private network.
    handler: { standardHostname: false },
  })
  // HTTP/1.0 without a Host: the URL is only a path, which neither the router nor `new URL` can parse.
  const nameless = new WeakMap<Request, Request>()
  app.wrap((answer) => (request: Request) => {
    if (!request.url.startsWith('/')) return answer(request)
    const named = new Request(`http://localhost${request.url}`, request)
    nameless.set(named, request)
    return answer(named)
  })
  // Fallback for errors inside Elysia.
  app.onError(({ error, request }) => fail(error, request))
  for (const route of routes) {
    app.all(route.path, ({ request, params }) => serve(request, params ?? {}, route), { parse: 'none' })
  }

  const answerPlain = (request: Request) => app.fetch(request)
  const byTls = new WeakSet<Request>()
  const answerSecure = (request: Request) => {
    byTls.add(request)
    // The router expects the path after `http://` (standardHostname above); `https://` is one character longer.
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
      refuseHost: (request) => fail(badHost(), request),
      // Bun's own 413 has no body; ours applies to everything up to four times the limit.
      maxBodyBytes: limits.bodyBytes * 4 + 1_048_576,
      idleSeconds: 60, // slow uploads, and `Prefer: wait` of up to 30 s
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
