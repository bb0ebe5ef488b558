import { createHash, createPublicKey, randomBytes, verify } from 'node:crypto'
import { request as httpRequest, type IncomingMessage, type ServerResponse } from 'node:http'
import { createServer, type Server } from 'node:https'
import type { AddressInfo } from 'node:net'
import { type Certificate, selfSignedCertificate } from '../../src/net/tls/certificate.ts'
import { createTestCa } from './test-ca.ts'

/** How an authority can misbehave. */
export interface Mischief {
  /** The next signed requests get badNonce this many times. */
  badNonces?: number
  /** Names whose validation fails. */
  refused?: string[]
  /** newOrder is 429 with this Retry-After. */
  limitedSeconds?: number
  /** Stays in this state forever. */
  stuck?: 'authorization' | 'order'
  /** Steps (`directory`, `order`, …) whose next requests are cut off, or answered with nonsense, this many times. */
  cut?: Record<string, number>
  garbage?: string
  /** Sent in place of the certificate. */
  certificate?: 'of other names' | 'of another key' | 'ended' | 'none' | 'among other text' | 'too many'
  /** Each authorization is in the order so many times. */
  authorizations?: number
  /** The finalize URL of the order. */
  finalizeAt?: string
}

/** An authority with RFC 8555 on loopback by HTTPS. It verifies everything: each nonce once, signatures by the
 *  account key, the HTTP-01 token, and exactly the names of the order in a request signed with its key. */
export interface AcmeAuthority {
  directoryUrl: string
  /** To trust its HTTPS server, PEM. */
  ca: string
  /** To trust its certificates, PEM. */
  root: string
  mischief: Mischief
  /** Steps in order, as `step` or `step name`. */
  asked: string[]
  /** Names of each order. */
  orders: string[][]
  contacts: (string | undefined)[]
  issued: string[]
  /** The certificates that orders replace. */
  replaced: (string | undefined)[]
  /** The suggested window for every certificate (RFC 9773); null: not supported. */
  window: { start: string; end: string } | null
  /** Identifiers of certificates with a renewal query. */
  askedFor: string[]
  /** Its Retry-After for pending states. */
  retryAfter: string | null
  stop(): Promise<void>
}

/** `askAt`: the port for validation requests, all on 127.0.0.1. `now`: the start of its certificates (ms UTC). */
export async function startAcmeAuthority(options: AuthorityOptions): Promise<AcmeAuthority> {
  const tls = await selfSignedCertificate({ names: ['127.0.0.1'], now: Date.now() })
  const server = createServer({ key: tls.keyPem, cert: tls.certificatePem }, (incoming, outgoing) =>
    authority.handle(incoming, outgoing),
  )
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const authority = new Authority(server, tls, options)
  return authority
}

interface AuthorityOptions {
  askAt: () => number
  now: () => number
  days?: number
}

class Authority implements AcmeAuthority {
  readonly directoryUrl: string
  readonly ca: string
  readonly root: string
  mischief: Mischief = {}
  asked: string[] = []
  orders: string[][] = []
  contacts: (string | undefined)[] = []
  issued: string[] = []
  replaced: (string | undefined)[] = []
  window: { start: string; end: string } | null = null
  askedFor: string[] = []
  retryAfter: string | null = null
  readonly #options: AuthorityOptions
  readonly #server: Server
  readonly #tls: Certificate
  readonly #ca = createTestCa()
  readonly #base: string
  readonly #nonces = new Set<string>()
  readonly #accounts = new Map<string, Jwk>()
  readonly #orders = new Map<string, Order>()
  readonly #authorizations = new Map<string, Authorization>()
  readonly #proved = new Set<string>()

  constructor(server: Server, tls: Certificate, options: AuthorityOptions) {
    this.#server = server
    this.#tls = tls
    this.#options = options
    this.#base = `https://127.0.0.1:${(server.address() as AddressInfo).port}`
    this.directoryUrl = `${this.#base}/directory`
    this.ca = tls.certificatePem
    this.root = this.#ca.certificatePem
  }

  async stop(): Promise<void> {
    this.#server.closeAllConnections()
    this.#server.close()
    this.#ca.remove()
  }

  async handle(incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> {
    const chunks: Buffer[] = []
    for await (const chunk of incoming) chunks.push(chunk)
    const [step = '', id = ''] = incoming.url!.slice(1).split('/')
    this.asked.push(step)
    const { cut = {}, garbage } = this.mischief
    if ((cut[step] ?? 0) > 0) {
      cut[step]!--
      incoming.socket.destroy()
      return
    }
    const asked = {
      url: this.#base + incoming.url,
      type: incoming.headers['content-type'],
      text: Buffer.concat(chunks).toString(),
    }
    const answered = await (garbage === step
      ? new Response('<html>502</html>', { headers: { 'replay-nonce': this.#newNonce() } })
      : this.#answer(step, id, asked).catch((thrown) =>
          thrown instanceof Response ? thrown : this.#problem(500, 'serverInternal', String(thrown)),
        ))
    outgoing.writeHead(answered.status, Object.fromEntries(answered.headers))
    outgoing.end(Buffer.from(await answered.arrayBuffer()))
  }

  async #answer(step: string, id: string, request: Asked): Promise<Response> {
    if (step === 'directory')
      return this.#json(200, {
        newNonce: `${this.#base}/nonce`,
        newAccount: `${this.#base}/account`,
        newOrder: `${this.#base}/new-order`,
        ...(this.window !== null && { renewalInfo: `${this.#base}/renewal-info` }),
      })
    if (step === 'renewal-info') {
      this.askedFor.push(id)
      return Response.json({ suggestedWindow: this.window }, { headers: { 'retry-after': '21600' } })
    }
    if (step === 'nonce') return new Response(null, { status: 204, headers: { 'replay-nonce': this.#newNonce() } })
    const { payload, account } = await this.#opened(request, step === 'account')
    if (step === 'account') {
      if (payload.termsOfServiceAgreed !== true) return this.#problem(403, 'userActionRequired', 'agree first')
      this.contacts.push(payload.contact?.[0])
      return this.#json(201, { status: 'valid' }, { location: account })
    }
    if (step === 'new-order') {
      this.replaced.push(payload.replaces)
      return this.#newOrder(payload.identifiers)
    }
    if (step === 'authorization')
      return this.#json(
        200,
        this.#shownAuthorization(id),
        this.#waiting(this.#authorizations.get(id)!.status === 'pending'),
      )
    if (step === 'challenge') {
      const authorization = this.#authorizations.get(id)!
      void this.#prove(authorization, this.#accounts.get(account)!)
      return this.#json(200, {
        type: 'http-01',
        status: 'processing',
        url: `${this.#base}/challenge/${id}`,
        token: authorization.token,
      })
    }
    const order = this.#orders.get(id)!
    if (step === 'order')
      return this.#json(
        200,
        this.#shownOrder(order),
        this.#waiting(order.status === 'pending' || order.status === 'processing'),
      )
    if (step === 'finalize') return this.#finalize(order, Buffer.from(payload.csr, 'base64url'))
    if (step === 'certificate')
      return new Response(order.certificate, { headers: { 'replay-nonce': this.#newNonce() } })
    return this.#problem(404, 'malformed', step)
  }

  #newOrder(identifiers: { type: string; value: string }[]): Response {
    const { limitedSeconds } = this.mischief
    if (limitedSeconds !== undefined)
      return this.#problem(429, 'rateLimited', 'too many', { 'retry-after': String(limitedSeconds) })
    const names = identifiers.map(({ value }) => value)
    const order: Order = { id: idOf(), names, authorizations: [], status: 'pending', certificate: null }
    for (const name of names) {
      const authorization: Authorization = {
        id: idOf(),
        name,
        token: idOf(),
        status: this.#proved.has(name) ? 'valid' : 'pending',
        detail: null,
      }
      this.#authorizations.set(authorization.id, authorization)
      order.authorizations.push(authorization)
    }
    this.#orders.set(order.id, order)
    this.orders.push(names)
    return this.#json(201, this.#shownOrder(order), { location: `${this.#base}/order/${order.id}` })
  }

  /** Fetches the HTTP-01 token. RFC 8555 §8.3 */
  async #prove(authorization: Authorization, jwk: Jwk): Promise<void> {
    const { name, token } = authorization
    if (this.mischief.stuck === 'authorization') return
    const found = await getText(this.#options.askAt(), name, `/.well-known/acme-challenge/${token}`)
    const isRefused = this.mischief.refused?.includes(name) === true
    if (found === `${token}.${thumbprintOf(jwk)}` && !isRefused) {
      authorization.status = 'valid'
      this.#proved.add(name)
      return
    }
    authorization.status = 'invalid'
    authorization.detail = isRefused ? `Fetching http://${name}/: connection refused` : `found ${found}`
  }

  #finalize(order: Order, csr: Buffer): Response {
    if (this.#shownOrder(order).status !== 'ready') return this.#problem(403, 'orderNotReady', 'not yet')
    if (this.#ca.namesIn(csr).toSorted().join() !== order.names.toSorted().join())
      return this.#problem(400, 'badCSR', 'other names')
    order.status = 'processing'
    if (this.mischief.stuck !== 'order') setImmediate(() => this.#issue(order, csr))
    return this.#json(200, this.#shownOrder(order))
  }

  #issue(order: Order, csr: Buffer): void {
    const startsAt = this.#options.now() - 3_600_000
    const time = { startsAt, endsAt: startsAt + (this.#options.days ?? 90) * 86_400_000 }
    const ended = { startsAt: startsAt - 90 * 86_400_000, endsAt: startsAt }
    const certificate = {
      'of other names': () => this.issued.at(-1)!,
      'of another key': () => this.#tls.certificatePem,
      ended: () => this.#ca.sign(csr, ended),
      none: () => 'no certificate',
      'among other text': () => `<html>${PRIVATE}${this.#ca.sign(csr, time)}${PRIVATE}`,
      'too many': () => this.#ca.sign(csr, time) + this.root.repeat(20),
    }
    const { certificate: mischief } = this.mischief
    order.certificate = mischief === undefined ? this.#ca.sign(csr, time) : certificate[mischief]()
    this.issued.push(order.certificate)
    order.status = 'valid'
  }

  /** A signed request, verified → its payload and account. Throws the Response that refuses it. RFC 8555 §6.2–6.5 */
  async #opened(request: Asked, isNew: boolean) {
    if (request.type !== 'application/jose+json') throw this.#problem(415, 'malformed', 'content type')
    const jws = JSON.parse(request.text) as { protected: string; payload: string; signature: string }
    const header = JSON.parse(text(jws.protected)) as {
      alg: string
      nonce: string
      url: string
      kid?: string
      jwk?: Jwk
    }
    const isLiked = this.#nonces.delete(header.nonce)
    if (!isLiked || (this.mischief.badNonces ?? 0) > 0) {
      if (isLiked) this.mischief.badNonces!--
      throw this.#problem(400, 'badNonce', 'not this nonce')
    }
    if (header.url !== request.url) throw this.#problem(401, 'unauthorized', `signed for ${header.url}`)
    if ((header.jwk === undefined) === isNew || (header.kid === undefined) !== isNew)
      throw this.#problem(400, 'malformed', 'jwk or kid')
    const jwk = header.jwk ?? this.#accounts.get(header.kid!)
    if (jwk === undefined) throw this.#problem(400, 'accountDoesNotExist', 'who is that?')
    const key = createPublicKey({ key: jwk as never, format: 'jwk' })
    const signed = Buffer.from(`${jws.protected}.${jws.payload}`)
    const signature = Buffer.from(jws.signature, 'base64url')
    const isGenuine = header.alg === 'ES256' && verify('sha256', signed, { key, dsaEncoding: 'ieee-p1363' }, signature)
    if (!isGenuine) throw this.#problem(401, 'malformed', 'the signature is not by that key')
    const account = header.kid ?? `${this.#base}/accounts/${thumbprintOf(jwk)}`
    this.#accounts.set(account, jwk)
    return { payload: jws.payload === '' ? null : JSON.parse(text(jws.payload)), account }
  }

  #shownAuthorization(id: string) {
    const { name, token, status, detail } = this.#authorizations.get(id)!
    const error = detail === null ? {} : { error: { type: 'urn:ietf:params:acme:error:connection', detail } }
    const http = { type: 'http-01', url: `${this.#base}/challenge/${id}`, token, status, ...error }
    const dns = { type: 'dns-01', url: `${this.#base}/challenge/dns`, token, status: 'pending' }
    return { status, identifier: { type: 'dns', value: name }, challenges: [dns, http] }
  }

  #shownOrder(order: Order) {
    if (order.status === 'pending' && order.authorizations.every(({ status }) => status === 'valid'))
      order.status = 'ready'
    if (order.authorizations.some(({ status }) => status === 'invalid')) order.status = 'invalid'
    return {
      status: order.status,
      identifiers: order.names.map((value) => ({ type: 'dns', value })),
      authorizations: Array.from({ length: this.mischief.authorizations ?? 1 }, () =>
        order.authorizations.map(({ id }) => `${this.#base}/authorization/${id}`),
      ).flat(),
      finalize: this.mischief.finalizeAt ?? `${this.#base}/finalize/${order.id}`,
      ...(order.certificate !== null && { certificate: `${this.#base}/certificate/${order.id}` }),
    }
  }

  #newNonce() {
    const nonce = idOf()
    this.#nonces.add(nonce)
    return nonce
  }

  #waiting(isUnderWay: boolean): Record<string, string> {
    return isUnderWay && this.retryAfter !== null ? { 'retry-after': this.retryAfter } : {}
  }

  #json(status: number, body: object, headers: Record<string, string> = {}): Response {
    return Response.json(body, { status, headers: { 'replay-nonce': this.#newNonce(), ...headers } })
  }

  #problem(status: number, type: string, detail: string, headers: Record<string, string> = {}): Response {
    return this.#json(status, { type: `urn:ietf:params:acme:error:${type}`, detail }, headers)
  }
}

interface Asked {
  url: string
  type: string | undefined
  text: string
}
interface Jwk {
  crv: string
  kty: string
  x: string
  y: string
}
interface Order {
  id: string
  names: string[]
  authorizations: Authorization[]
  status: string
  certificate: string | null
}
interface Authorization {
  id: string
  name: string
  token: string
  status: string
  detail: string | null
}

const PRIVATE = '-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n'
const idOf = () => randomBytes(18).toString('base64url')
const text = (part: string) => Buffer.from(part, 'base64url').toString()
const thumbprintOf = ({ crv, kty, x, y }: Jwk) =>
  createHash('sha256').update(JSON.stringify({ crv, kty, x, y })).digest('base64url')

function getText(port: number, host: string, path: string): Promise<string> {
  return new Promise((resolve) => {
    const asked = httpRequest({ host: '127.0.0.1', port, path, headers: { host }, agent: false }, (answer) => {
      let found = ''
      answer.on('data', (bytes) => {
        found += bytes
      })
      answer.on('end', () => resolve(found))
    })
    asked.on('error', (error) => resolve(String(error)))
    asked.end()
  })
}
