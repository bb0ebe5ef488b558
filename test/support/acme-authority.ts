import { createHash, createPublicKey, randomBytes, verify } from 'node:crypto'
import { request as httpRequest } from 'node:http'
import { createServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { selfSignedCertificate } from '../../src/net/tls/certificate.ts'
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
  certificate?: 'of other names' | 'of another key' | 'ended' | 'none'
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
export async function startAcmeAuthority(options: {
  askAt: () => number
  now: () => number
  days?: number
}): Promise<AcmeAuthority> {
  const ca = createTestCa()
  const tls = await selfSignedCertificate({ names: ['127.0.0.1'], now: Date.now() })
  const nonces = new Set<string>()
  const accounts = new Map<string, Jwk>()
  const orders = new Map<string, Order>()
  const authorizations = new Map<string, Authorization>()
  const proved = new Set<string>()

  const server = createServer({ key: tls.keyPem, cert: tls.certificatePem }, async (incoming, outgoing) => {
    const chunks: Buffer[] = []
    for await (const chunk of incoming) chunks.push(chunk)
    const [step = '', id = ''] = incoming.url!.slice(1).split('/')
    authority.asked.push(step)
    const { cut = {}, garbage } = authority.mischief
    if ((cut[step] ?? 0) > 0) {
      cut[step]!--
      return incoming.socket.destroy()
    }
    const asked = {
      url: base + incoming.url,
      type: incoming.headers['content-type'],
      text: Buffer.concat(chunks).toString(),
    }
    const answered = await (garbage === step
      ? new Response('<html>502</html>', { headers: { 'replay-nonce': newNonce() } })
      : answer(step, id, asked).catch((thrown) =>
          thrown instanceof Response ? thrown : problem(500, 'serverInternal', String(thrown)),
        ))
    outgoing.writeHead(answered.status, Object.fromEntries(answered.headers))
    outgoing.end(Buffer.from(await answered.arrayBuffer()))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const base = `https://127.0.0.1:${(server.address() as AddressInfo).port}`

  const answer = async (step: string, id: string, request: Asked): Promise<Response> => {
    if (step === 'directory')
      return json(200, {
        newNonce: `${base}/nonce`,
        newAccount: `${base}/account`,
        newOrder: `${base}/new-order`,
        ...(authority.window !== null && { renewalInfo: `${base}/renewal-info` }),
      })
    if (step === 'renewal-info') {
      authority.askedFor.push(id)
      return Response.json({ suggestedWindow: authority.window }, { headers: { 'retry-after': '21600' } })
    }
    if (step === 'nonce') return new Response(null, { status: 204, headers: { 'replay-nonce': newNonce() } })
    const { payload, account } = await opened(request, step === 'account')
    if (step === 'account') {
      if (payload.termsOfServiceAgreed !== true) return problem(403, 'userActionRequired', 'agree first')
      authority.contacts.push(payload.contact?.[0])
      return json(201, { status: 'valid' }, { location: account })
    }
    if (step === 'new-order') {
      authority.replaced.push(payload.replaces)
      return newOrder(payload.identifiers)
    }
    if (step === 'authorization')
      return json(200, shownAuthorization(id), waiting(authorizations.get(id)!.status === 'pending'))
    if (step === 'challenge') {
      const authorization = authorizations.get(id)!
      void prove(authorization, accounts.get(account)!)
      return json(200, {
        type: 'http-01',
        status: 'processing',
        url: `${base}/challenge/${id}`,
        token: authorization.token,
      })
    }
    const order = orders.get(id)!
    if (step === 'order')
      return json(200, shownOrder(order), waiting(order.status === 'pending' || order.status === 'processing'))
    if (step === 'finalize') return finalize(order, Buffer.from(payload.csr, 'base64url'))
    if (step === 'certificate') return new Response(order.certificate, { headers: { 'replay-nonce': newNonce() } })
    return problem(404, 'malformed', step)
  }

  const newOrder = (identifiers: { type: string; value: string }[]): Response => {
    const { limitedSeconds } = authority.mischief
    if (limitedSeconds !== undefined)
      return problem(429, 'rateLimited', 'too many', { 'retry-after': String(limitedSeconds) })
    const names = identifiers.map(({ value }) => value)
    const order: Order = { id: idOf(), names, authorizations: [], status: 'pending', certificate: null }
    for (const name of names) {
      const authorization: Authorization = {
        id: idOf(),
        name,
        token: idOf(),
        status: proved.has(name) ? 'valid' : 'pending',
        detail: null,
      }
      authorizations.set(authorization.id, authorization)
      order.authorizations.push(authorization)
    }
    orders.set(order.id, order)
    authority.orders.push(names)
    return json(201, shownOrder(order), { location: `${base}/order/${order.id}` })
  }

  /** Fetches the HTTP-01 token. RFC 8555 §8.3 */
  const prove = async (authorization: Authorization, jwk: Jwk): Promise<void> => {
    const { name, token } = authorization
    if (authority.mischief.stuck === 'authorization') return
    const found = await getText(options.askAt(), name, `/.well-known/acme-challenge/${token}`)
    const isRefused = authority.mischief.refused?.includes(name) === true
    if (found === `${token}.${thumbprintOf(jwk)}` && !isRefused) {
      authorization.status = 'valid'
      proved.add(name)
      return
    }
    authorization.status = 'invalid'
    authorization.detail = isRefused ? `Fetching http://${name}/: connection refused` : `found ${found}`
  }

  const finalize = (order: Order, csr: Buffer): Response => {
    if (shownOrder(order).status !== 'ready') return problem(403, 'orderNotReady', 'not yet')
    if (ca.namesIn(csr).toSorted().join() !== order.names.toSorted().join())
      return problem(400, 'badCSR', 'other names')
    order.status = 'processing'
    if (authority.mischief.stuck !== 'order') setImmediate(() => issue(order, csr))
    return json(200, shownOrder(order))
  }

  const issue = (order: Order, csr: Buffer): void => {
    const startsAt = options.now() - 3_600_000
    const time = { startsAt, endsAt: startsAt + (options.days ?? 90) * 86_400_000 }
    const ended = { startsAt: startsAt - 90 * 86_400_000, endsAt: startsAt }
    const certificate = {
      'of other names': () => authority.issued.at(-1)!,
      'of another key': () => tls.certificatePem,
      ended: () => ca.sign(csr, ended),
      none: () => 'no certificate',
    }
    const { certificate: mischief } = authority.mischief
    order.certificate = mischief === undefined ? ca.sign(csr, time) : certificate[mischief]()
    authority.issued.push(order.certificate)
    order.status = 'valid'
  }

  /** A signed request, verified → its payload and account. Throws the Response that refuses it. RFC 8555 §6.2–6.5 */
  const opened = async (request: Asked, isNew: boolean) => {
    if (request.type !== 'application/jose+json') throw problem(415, 'malformed', 'content type')
    const jws = JSON.parse(request.text) as { protected: string; payload: string; signature: string }
    const header = JSON.parse(text(jws.protected)) as {
      alg: string
      nonce: string
      url: string
      kid?: string
      jwk?: Jwk
    }
    const isLiked = nonces.delete(header.nonce)
    if (!isLiked || (authority.mischief.badNonces ?? 0) > 0) {
      if (isLiked) authority.mischief.badNonces!--
      throw problem(400, 'badNonce', 'not this nonce')
    }
    if (header.url !== request.url) throw problem(401, 'unauthorized', `signed for ${header.url}`)
    if ((header.jwk === undefined) === isNew || (header.kid === undefined) !== isNew)
      throw problem(400, 'malformed', 'jwk or kid')
    const jwk = header.jwk ?? accounts.get(header.kid!)
    if (jwk === undefined) throw problem(400, 'accountDoesNotExist', 'who is that?')
    const key = createPublicKey({ key: jwk as never, format: 'jwk' })
    const signed = Buffer.from(`${jws.protected}.${jws.payload}`)
    const signature = Buffer.from(jws.signature, 'base64url')
    const isGenuine = header.alg === 'ES256' && verify('sha256', signed, { key, dsaEncoding: 'ieee-p1363' }, signature)
    if (!isGenuine) throw problem(401, 'malformed', 'the signature is not by that key')
    const account = header.kid ?? `${base}/accounts/${thumbprintOf(jwk)}`
    accounts.set(account, jwk)
    return { payload: jws.payload === '' ? null : JSON.parse(text(jws.payload)), account }
  }

  const shownAuthorization = (id: string) => {
    const { name, token, status, detail } = authorizations.get(id)!
    const error = detail === null ? {} : { error: { type: 'urn:ietf:params:acme:error:connection', detail } }
    const http = { type: 'http-01', url: `${base}/challenge/${id}`, token, status, ...error }
    const dns = { type: 'dns-01', url: `${base}/challenge/dns`, token, status: 'pending' }
    return { status, identifier: { type: 'dns', value: name }, challenges: [dns, http] }
  }

  const shownOrder = (order: Order) => {
    if (order.status === 'pending' && order.authorizations.every(({ status }) => status === 'valid'))
      order.status = 'ready'
    if (order.authorizations.some(({ status }) => status === 'invalid')) order.status = 'invalid'
    return {
      status: order.status,
      identifiers: order.names.map((value) => ({ type: 'dns', value })),
      authorizations: order.authorizations.map(({ id }) => `${base}/authorization/${id}`),
      finalize: authority.mischief.finalizeAt ?? `${base}/finalize/${order.id}`,
      ...(order.certificate !== null && { certificate: `${base}/certificate/${order.id}` }),
    }
  }

  const newNonce = () => {
    const nonce = idOf()
    nonces.add(nonce)
    return nonce
  }
  const waiting = (isUnderWay: boolean): Record<string, string> =>
    isUnderWay && authority.retryAfter !== null ? { 'retry-after': authority.retryAfter } : {}
  const json = (status: number, body: object, headers: Record<string, string> = {}) =>
    Response.json(body, { status, headers: { 'replay-nonce': newNonce(), ...headers } })
  const problem = (status: number, type: string, detail: string, headers: Record<string, string> = {}) =>
    json(status, { type: `urn:ietf:params:acme:error:${type}`, detail }, headers)

  const authority: AcmeAuthority = {
    directoryUrl: `${base}/directory`,
    ca: tls.certificatePem,
    root: ca.certificatePem,
    mischief: {},
    asked: [],
    orders: [],
    contacts: [],
    issued: [],
    replaced: [],
    window: null,
    askedFor: [],
    retryAfter: null,
    stop: async () => {
      server.closeAllConnections()
      server.close()
      ca.remove()
    },
  }
  return authority
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
