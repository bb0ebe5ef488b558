/** Preload of every test run (bunfig.toml): no test may look up a name or connect outside of the loopback. An
 *  attempt throws at once, and fails its test even if the code under test swallows the error. Patched: node:dns,
 *  node:net (and so tls, http, https), node:dgram, fetch, WebSocket, Bun.connect, Bun.udpSocket. Not covered: worker
 *  threads and Bun.fetch. */
import { afterEach, mock } from 'bun:test'
import dgram from 'node:dgram'
import dns from 'node:dns'
import { isIP, Socket } from 'node:net'

type Call = (...parameters: never[]) => unknown
type Patchable = Record<string, unknown>

const denials: string[] = []

/** What was denied since the last call, which resets it. Only for the test of this file. */
export function takeDenials(): string[] {
  return denials.splice(0)
}

/** `localhost` and its subdomains, 127.0.0.0/8, ::1 (also mapped IPv4), and the unspecified addresses, which connect
 *  to this machine. No host means localhost for every connect function. */
export function isLoopback(host: unknown): boolean {
  if (host === undefined || host === null || host === '') return true
  const name = String(host)
    .toLowerCase()
    .replace(/^\[|\]$/g, '')
    .replace(/^::ffff:(?=\d+\.)/, '')
  if (isIP(name) === 4) return name.startsWith('127.') || name === '0.0.0.0'
  if (isIP(name) === 6) return name === '::1' || name === '::' || name.startsWith('::ffff:7f')
  return /^(.+\.)?localhost\.?$/.test(name)
}

for (const name of Object.keys(process.env)) {
  if (/^(https?|all)_proxy$/i.test(name)) delete process.env[name]
}
denyLookups()
denyConnections()
afterEach(() => {
  const denied = takeDenials()
  if (denied.length > 0) throw new Error(`this test left the machine: ${denied.join(', ')}`)
})

function denyLookups(): void {
  const isLookup = (name: string) => /^(lookup|lookupService|resolve\w*|reverse)$/.test(name)
  const guarded = (target: Patchable, prefix: string) => {
    const copy: Patchable = {}
    for (const name of namesOf(target).filter(isLookup))
      copy[name] = before(target[name] as Call, target, (asked) => checkName(asked, `${prefix}${name}`))
    return copy
  }
  for (const resolver of [dns.Resolver, dns.promises.Resolver]) {
    const prototype = resolver.prototype as unknown as Patchable
    for (const name of namesOf(prototype).filter(isLookup)) {
      const real = prototype[name] as Call
      prototype[name] = function (this: unknown, ...parameters: never[]) {
        checkName(parameters[0], `Resolver.${name}`)
        return real.apply(this, parameters)
      }
    }
  }
  const promises = Object.assign(dns.promises, guarded(dns.promises as unknown as Patchable, 'dns.promises.'))
  const whole = Object.assign(dns, guarded(dns as unknown as Patchable, 'dns.'))
  // Named imports do not see assignments to the module object.
  mock.module('node:dns', () => ({ ...whole, default: whole }))
  mock.module('node:dns/promises', () => ({ ...promises, default: promises }))
}

function denyConnections(): void {
  patch(Socket.prototype, 'connect', (...given) => checkHost(hostOfConnect(given), 'connect'))
  // send(message, port, host), send(message, offset, length, port, host), each with an optional callback.
  patch(dgram.Socket.prototype, 'send', (...given) => {
    const host = given.findLast((one, index) => index >= 2 && typeof one === 'string')
    checkHost(host, 'datagram')
  })
  patch(dgram.Socket.prototype, 'connect', (_port, host) => checkHost(typeof host === 'string' ? host : '', 'datagram'))
  patch(globalThis, 'fetch', (asked, options) => {
    if (!(options as { unix?: string } | undefined)?.unix) checkUrl(asked, 'fetch')
  })
  patch(Bun, 'connect', (options) => checkHost((options as { hostname?: string }).hostname, 'Bun.connect'))
  patch(Bun, 'udpSocket', (options) =>
    checkHost((options as { connect?: { hostname?: string } }).connect?.hostname, 'Bun.udpSocket'),
  )
  const Guarded = class extends WebSocket {
    constructor(url: string | URL, options?: never) {
      checkUrl(url, 'WebSocket')
      super(url, options)
    }
  }
  globalThis.WebSocket = Guarded as typeof WebSocket
}

/** The forms of net.connect: (options), (port, host), (path), and the array that node passes internally. */
function hostOfConnect(given: unknown[]): unknown {
  const [first, second] = Array.isArray(given[0]) ? given[0] : given
  if (typeof first !== 'object' || first === null) return typeof second === 'string' ? second : undefined
  const { host, path, lookup } = first as { host?: string; path?: string; lookup?: Call }
  if (path) return undefined
  // A custom lookup may resolve the name; node connects to its result.
  if (typeof lookup === 'function' && isIP(host ?? '') === 0) {
    ;(first as Patchable).lookup = (name: string, options: unknown, done: (...answer: unknown[]) => void) =>
      (lookup as (...parameters: unknown[]) => void)(
        name,
        options,
        (error: unknown, found: unknown, family: unknown) => {
          const addresses = Array.isArray(found) ? found.map(({ address }) => address) : [found]
          for (const address of error ? [] : addresses) checkHost(address, 'connect')
          done(error, found, family)
        },
      )
    return undefined
  }
  return host
}

function checkUrl(asked: unknown, how: string): void {
  const url = URL.parse(asked instanceof Request ? asked.url : String(asked))
  if (url && /^(https?|wss?):$/.test(url.protocol)) checkHost(url.hostname, how)
}

/** A name that is an address requires no lookup. */
function checkName(name: unknown, how: string): void {
  if (how.endsWith('lookup') && isIP(String(name)) !== 0) return
  checkHost(name, how)
}

function checkHost(host: unknown, how: string): void {
  if (isLoopback(host)) return
  const denied = `${how} ${String(host)}`
  denials.push(denied)
  throw new Error(`the outside network is denied to tests: ${denied}`)
}

function patch(target: object, name: string, check: (...parameters: unknown[]) => void): void {
  const real = (target as Patchable)[name] as Call
  ;(target as Patchable)[name] = function (this: unknown, ...parameters: never[]) {
    check(...parameters)
    return real.apply(this, parameters)
  }
}

function before(real: Call, self: unknown, check: (asked: unknown) => void): Call {
  return (...parameters) => {
    check(parameters[0])
    return real.apply(self, parameters)
  }
}

function namesOf(target: object): string[] {
  return Object.getOwnPropertyNames(target).filter((name) => typeof (target as Patchable)[name] === 'function')
}
