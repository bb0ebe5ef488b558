import type { Configuration, CustomFetch } from 'openid-client'
import type { Ask } from '../../../../net/https/requests.ts'
import { valuesOf } from './roles.ts'
import { CALLBACK_PATH, type SingleSignOnOptions } from './settings.ts'

/** What binds a sign-in to the browser that began it. */
export interface SignOnSecrets {
  state: string
  nonce: string
  /** PKCE (RFC 7636). */
  verifier: string
}

/** The claims of a checked ID token, with those of the provider's UserInfo endpoint if the token lacks some. */
export type Claims = Readonly<Record<string, unknown>> & { iss: string; sub: string }

/** The OpenID Connect provider. */
export interface Provider {
  /** Resolves with the address to which the browser is sent. Rejects if the provider does not answer. */
  authorizationUrl(secrets: SignOnSecrets): Promise<string>
  /** Parameters with which the browser came back → the claims of the ID token. If it lacks the address or the roles, and the
   *  provider has a UserInfo endpoint (OpenID Connect Core 1.0 §5.3), its other claims are added. Rejects with `code` if the
   *  provider does not answer, or if state, issuer, audience, authorized party, nonce, expiry or signature are wrong, or
   *  if the endpoint names another subject. */
  claimsOf(search: string, secrets: SignOnSecrets): Promise<Claims>
  /** Reads the provider's settings. Rejects if it does not answer. */
  check(): Promise<void>
}

/** The provider cannot be reached. */
export class NoAnswer extends Error {}

/** True if a rejection of a Provider has this cause. */
export function isNoAnswer(error: unknown): boolean {
  for (let at = error, depth = 0; at instanceof Error && depth < 5; at = at.cause, depth++)
    if (at instanceof NoAnswer) return true
  return false
}

const MOST_BYTES = 262_144
const TIMEOUT_MS = 10_000
/** How long the settings of the provider are kept. Its keys are read again when a token names an unknown one. */
const KEPT_MS = 10 * 60_000

/** `now`: ms, monotonic. */
export function createProvider(options: SingleSignOnOptions, now: () => number): Provider {
  const { clientId, clientSecret, scope, publicUrl } = options
  const redirectUri = () => `${publicUrl()}${CALLBACK_PATH}`
  let held: { configuration: Promise<Configuration>; until: number } | null = null

  const configuration = (): Promise<Configuration> => {
    if (held !== null && now() < held.until) return held.configuration
    const found = discover(options)
    const mine = { configuration: found, until: now() + KEPT_MS }
    held = mine
    found.catch(() => {
      if (held === mine) held = null
    })
    return found
  }

  return {
    async authorizationUrl({ state, nonce, verifier }) {
      const [client, found] = await Promise.all([import('openid-client'), configuration()])
      const url = client.buildAuthorizationUrl(found, {
        redirect_uri: redirectUri(),
        scope,
        state,
        nonce,
        code_challenge: await client.calculatePKCECodeChallenge(verifier),
        code_challenge_method: 'S256',
        client_id: clientId,
      })
      if (url.protocol !== 'https:') throw new Error('the authorization endpoint is not https')
      return url.href
    },
    async claimsOf(search, { state, nonce, verifier }) {
      const [client, found] = await Promise.all([import('openid-client'), configuration()])
      const tokens = await client.authorizationCodeGrant(found, new URL(`${redirectUri()}${search}`), {
        expectedState: state,
        expectedNonce: nonce,
        pkceCodeVerifier: verifier,
        idTokenExpected: true,
      })
      const claims = tokens.claims()
      if (claims === undefined) throw new Error('no ID token')
      requireParty(claims, clientId)
      const own = claims as Claims // the library requires issuer and subject
      const hasEndpoint = found.serverMetadata().userinfo_endpoint !== undefined
      if (!hasEndpoint || hasEnough(own, options)) return own
      const info = await client.fetchUserInfo(found, tokens.access_token, own.sub)
      return withUserInfo(own, info, options.rolesClaim)
    },
    check: async () => {
      held = null
      await configuration()
    },
  }

  async function discover({ issuer, ask }: SingleSignOnOptions): Promise<Configuration> {
    const client = await import('openid-client')
    const bySecret: typeof client.ClientSecretBasic = (secret) => (server, metadata, body, headers) => {
      const methods = server.token_endpoint_auth_methods_supported
      const isBasic = !Array.isArray(methods) || methods.includes('client_secret_basic') // the default of the standard
      const method = isBasic ? client.ClientSecretBasic : client.ClientSecretPost
      return method(secret)(server, metadata, body, headers)
    }
    const authentication = clientSecret === '' ? client.None() : bySecret(clientSecret)
    return client.discovery(new URL(issuer), clientId, {}, authentication, {
      [client.customFetch]: fetchBy(ask, options.timeoutMs ?? TIMEOUT_MS),
      // Checks signatures: the specification allows to skip that for tokens that come over TLS.
      execute: [client.enableNonRepudiationChecks],
    })
  }
}

/** True if the ID token says what a sign-in needs. Many providers send only the subject in it by default. */
function hasEnough(
  claims: Claims,
  { rolesClaim, trustEmail }: Pick<SingleSignOnOptions, 'rolesClaim' | 'trustEmail'>,
): boolean {
  if (claims.email === undefined || (claims.email_verified === undefined && !trustEmail)) return false
  return rolesClaim === '' || valuesOf(claims, rolesClaim).length > 0
}

/** Claims of the ID token and of the UserInfo endpoint → those of the token, which are signed, with what they lack: address,
 *  verification or roles. Address and verification stay together: one source never verifies the address of the other. */
export function withUserInfo(own: Claims, info: Readonly<Record<string, unknown>>, rolesClaim: string): Claims {
  const { email, email_verified, ...others } = info
  const hasRoles = rolesClaim === '' || valuesOf(own, rolesClaim).length > 0
  const all = { ...(hasRoles ? { ...others, ...own } : { ...own, ...others }), iss: own.iss, sub: own.sub }
  if (own.email === undefined) return { ...all, email, email_verified }
  const verified = own.email_verified ?? (email === own.email ? email_verified : undefined)
  return { ...all, email_verified: verified }
}

/** Throws when the token was made for another client, which may be one of several audiences. The library checks the party
 *  only of tokens with several. OpenID Connect Core 1.0 §3.1.3.7, steps 4 and 5. */
function requireParty({ aud, azp }: Readonly<Record<string, unknown>>, clientId: string): void {
  const isForSeveral = Array.isArray(aud) && aud.length > 1
  if (azp === undefined ? isForSeveral : azp !== clientId) throw new Error('the ID token is for another client')
}

/** Bounded and timed requests in the form that openid-client calls. Redirects are not followed. */
function fetchBy(ask: Ask, timeoutMs: number): CustomFetch {
  return async (url, { method, headers, body }) => {
    const text = method === 'POST' ? String(body) : null
    const answer = await ask(url, { headers, body: text, maxBytes: MOST_BYTES, timeoutMs })
    if (answer.kind !== 'answered') throw new NoAnswer(answer.kind === 'blocked' ? answer.reason : answer.error)
    if (answer.text === null) throw new NoAnswer('the answer is too long or not UTF-8')
    if (answer.status >= 500) throw new NoAnswer(`status ${answer.status}`)
    const contentType = answer.headers['content-type']
    const status = answer.status < 200 ? 500 : answer.status
    const isEmpty = status === 204 || status === 205 || status === 304
    return new Response(isEmpty ? null : answer.text, {
      status,
      headers: contentType === undefined ? {} : { 'content-type': contentType },
    })
  }
}
