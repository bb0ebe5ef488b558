import { createServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import Provider from 'oidc-provider'
import { selfSignedCertificate } from '../../src/net/tls/certificate.ts'
import { systemClock } from '../../src/os/clock.ts'

/** A real OpenID Connect provider on loopback, over HTTPS. Its accounts sign in without a page: `current` is who sits
 *  before the browser. */
export interface TestProvider {
  issuer: string
  /** The certificate to trust, PEM. */
  ca: string
  clientId: string
  clientSecret: string
  /** Claims of the account that signs in next; `sub` is its ID. */
  current: Account
  /** Changes the body of the token response before it is sent; undefined = as it is. */
  rewrite: ((idToken: string) => Promise<string>) | undefined
  /** Signs an ID token with the provider's key. */
  sign(claims: Record<string, unknown>): Promise<string>
  /** Number of requests to each path. */
  requests: string[]
  /** While true, it answers every request with 503. */
  isDown: boolean
  stop(): Promise<void>
}

/** A host of its own in place of a free port on loopback. */
export interface ProviderPlace {
  issuer: string
  address: string
  keyPem: string
  certificatePem: string
}

export interface Account {
  sub: string
  email?: string
  /** Some providers send text. */
  email_verified?: boolean | 'true' | 'false'
  name?: string
  groups?: string[]
}

const CLIENT = { client_id: 'postrider', client_secret: 'a secret: of+the client' }

/** Starts it with one client that may return to these addresses. With `hasThinTokens`, ID tokens have only the subject,
 *  which is the default of this provider and of others; the UserInfo endpoint has the rest. */
export async function startOidcProvider(
  redirectUris: string[],
  applicationType: 'web' | 'native' = 'web',
  hasThinTokens = false,
  place?: ProviderPlace,
): Promise<TestProvider> {
  const { keyPem, certificatePem } =
    place ?? (await selfSignedCertificate({ names: ['127.0.0.1'], now: systemClock.now() }))
  const keys = await crypto.subtle.generateKey(
    { name: 'RSASSA-PKCS1-v1_5', modulusLength: 2048, publicExponent: new Uint8Array([1, 0, 1]), hash: 'SHA-256' },
    true,
    ['sign', 'verify'],
  )
  const { key_ops: _, ext: __, ...exported } = await crypto.subtle.exportKey('jwk', keys.privateKey)
  const jwk = { ...exported, kid: 'one', use: 'sig', alg: 'RS256' }
  const server = createServer({ key: keyPem, cert: certificatePem })
  const [port, address] = place === undefined ? [0, '127.0.0.1'] : [443, place.address]
  await new Promise<void>((resolve) => server.listen(port, address, resolve))
  const issuer = place?.issuer ?? `https://127.0.0.1:${(server.address() as AddressInfo).port}`
  const path = new URL(issuer).pathname.replace(/\/$/, '')

  const provider = new Provider(issuer, {
    clients: [
      {
        ...CLIENT,
        application_type: applicationType,
        redirect_uris: redirectUris,
        grant_types: ['authorization_code'],
        response_types: ['code'],
      },
    ],
    jwks: { keys: [jwk] } as never,
    cookies: { keys: ['a key of the test'] },
    claims: { openid: ['sub'], email: ['email', 'email_verified'], profile: ['name', 'groups'] },
    conformIdTokenClaims: hasThinTokens,
    features: { devInteractions: { enabled: false } },
    findAccount: (_, sub) => ({ accountId: sub, claims: async () => ({ ...made.current, sub }) }),
    interactions: { url: (_, interaction) => `${path}/interaction/${interaction.uid}` },
    pkce: { required: () => true },
  })
  provider.use(async (context, next) => {
    made.requests.push(context.path)
    if (made.isDown) {
      context.status = 503
      return
    }
    if (context.path.startsWith('/interaction/')) {
      const grant = new provider.Grant({ accountId: made.current.sub, clientId: CLIENT.client_id })
      grant.addOIDCScope('openid email profile')
      const result = { login: { accountId: made.current.sub }, consent: { grantId: await grant.save() } }
      await provider.interactionFinished(context.req, context.res, result)
      context.respond = false
      return
    }
    await next()
    if (context.path === '/token' && made.rewrite !== undefined && context.status === 200) {
      const body = context.body as { id_token: string }
      context.body = { ...body, id_token: await made.rewrite(body.id_token) }
    }
  })
  const answer = provider.callback()
  server.on('request', (request, response) => {
    // As a framework that mounts it below a path.
    const mounted = Object.assign(request, { originalUrl: request.url, url: request.url?.replace(path, '') })
    return answer(mounted, response)
  })

  const made: TestProvider = {
    issuer,
    ca: certificatePem,
    clientId: CLIENT.client_id,
    clientSecret: CLIENT.client_secret,
    current: { sub: 'ann', email: 'ann@a.example', email_verified: true, name: 'Ann', groups: [] },
    rewrite: undefined,
    async sign(claims) {
      const encode = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url')
      const input = `${encode({ alg: 'RS256', kid: 'one', typ: 'JWT' })}.${encode(claims)}`
      const signature = await crypto.subtle.sign('RSASSA-PKCS1-v1_5', keys.privateKey, Buffer.from(input))
      return `${input}.${Buffer.from(signature).toString('base64url')}`
    },
    requests: [],
    isDown: false,
    stop: () =>
      new Promise((resolve) => {
        server.closeAllConnections()
        server.close(() => resolve())
      }),
  }
  return made
}

/** ID token → its claims, unchecked. */
export function claimsIn(idToken: string): Record<string, unknown> {
  return JSON.parse(Buffer.from(idToken.split('.')[1]!, 'base64url').toString())
}
