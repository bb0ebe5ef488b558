import { createHmac } from 'node:crypto'
import { Refusal } from '../../../../model/refusal.ts'
import { errorCode } from '../../../../os/thrown.ts'
import type { Page } from '../../route-table.ts'
import { hashToken, mintSessionToken, mintToken, SECURE_PREFIX } from '../../sessions.ts'
import type { Peer, SignInContext } from '../context.ts'
import { openSession } from '../open-session.ts'
import { userOfClaims } from './account.ts'
import { type Claims, isNoAnswer, type Provider, type SignOnSecrets } from './provider.ts'
import { CALLBACK_PATH, type SignOnFault, type SingleSignOnOptions } from './settings.ts'

const COOKIE = 'postrider_sign_on'
export const REQUEST_SECONDS = 600
const MOST_SEARCH = 4_096
/** Names of claims in a line of the log. */
const MOST_NAMES = 50

/** `GET /session/oidc` sends the browser to the provider, `GET /session/oidc/callback` takes it back and opens the session.
 *
 *  `state`, nonce and PKCE verifier derive from a secret in a cookie of the browser, and the store has only hashes of state
 *  and cookie, once. So a callback works in the browser that began, one time, within ten minutes, and on any node. The
 *  cookie is SameSite=Lax, because the provider's redirect comes from another site. Every redirect leads to the provider,
 *  to our own address, or to a page of the dashboard. */
export function singleSignOnPages(context: SignInContext, options: SingleSignOnOptions, provider: Provider): Page[] {
  return [
    {
      method: 'GET',
      path: '/session/oidc',
      handle: (request, _, peer) => begin(context, options, provider, request, peer),
    },
    {
      method: 'GET',
      path: CALLBACK_PATH,
      handle: (request, _, peer) => finish(context, options, provider, request, peer),
    },
  ]
}

async function begin(
  context: SignInContext,
  { publicUrl }: SingleSignOnOptions,
  provider: Provider,
  request: Request,
  peer: Peer,
): Promise<Response> {
  const { store, clock, random, ownOrigin, log } = context
  ownOrigin.requireKnownHost(request)
  // The provider returns to the public URL, where the cookie has to be.
  const host = request.headers.get('host')
  if (host !== null && host !== URL.parse(publicUrl())?.host) return redirect(`${publicUrl()}/session/oidc`)
  if (!(await isWithinLimit(context, request, peer))) return toSignIn('limited')
  const secret = mintSessionToken(random)
  const state = mintToken(random)
  const secrets = secretsOf(secret, state)
  let url = ''
  try {
    url = await provider.authorizationUrl(secrets)
  } catch (error) {
    log.warn('single sign-on provider does not answer', { error: errorCode(error) })
    return toSignIn('unavailable')
  }
  const expiresAt = clock.now() + REQUEST_SECONDS * 1_000
  await store.singleSignOn.addRequest({ stateHash: hashToken(state), browserHash: hashToken(secret), expiresAt })
  return redirect(url, [cookie(secret, REQUEST_SECONDS, ownOrigin.isSecure(request))])
}

async function finish(
  context: SignInContext,
  options: SingleSignOnOptions,
  provider: Provider,
  request: Request,
  peer: Peer,
): Promise<Response> {
  const { store, clock, ownOrigin, log } = context
  ownOrigin.requireKnownHost(request)
  const { search, searchParams } = new URL(request.url)
  const isSecure = ownOrigin.isSecure(request)
  const secret = cookieOf(request, ownOrigin.mayBePlaintext(request))
  const state = searchParams.get('state') ?? ''
  if (secret === null || !STATE.test(state) || search.length > MOST_SEARCH) return toSignIn('expired')
  if (!(await isWithinLimit(context, request, peer))) return toSignIn('limited')
  const isTaken = await store.singleSignOn.takeRequest(hashToken(state), hashToken(secret), clock.now())
  if (!isTaken) return toSignIn('expired')
  const end = [cookie('', 0, isSecure)]
  const address = context.addressOf(request, peer)
  const fail = (fault: SignOnFault, error: string | null, claims: readonly string[] = []) => {
    const came = claims.length === 0 ? {} : { claims: claims.slice(0, MOST_NAMES).join(' ') }
    log.warn('sign-in rejected', { by: 'single sign-on', reason: fault, error, ...came, ip_address: address })
    return toSignIn(fault, end)
  }
  if (searchParams.has('error')) return fail('denied', null)
  let claims: Claims
  try {
    claims = await provider.claimsOf(search, secretsOf(secret, state))
  } catch (error) {
    return fail(isNoAnswer(error) ? 'unavailable' : 'invalid', errorCode(error))
  }
  const user = await userOfClaims(context, options, claims, { now: clock.now(), address })
  if (typeof user === 'string') return fail(user, null, Object.keys(claims))
  const opened = await openSession(context, request, address, {
    user,
    fields: ['single_sign_on'],
    overridesOnly: true,
    store: async (session, tokenHash) => {
      await store.sessions.open(session, tokenHash)
      return true
    },
  })
  return opened === null ? fail('expired', null) : redirect('/dashboard/', [...opened.headers.getSetCookie(), ...end])
}

async function isWithinLimit(context: SignInContext, request: Request, peer: Peer): Promise<boolean> {
  try {
    await context.take('link', context.addressOf(request, peer))
    return true
  } catch (error) {
    if (error instanceof Refusal && error.reason === 'rate_limited') return false
    throw error
  }
}

function secretsOf(secret: string, state: string): SignOnSecrets {
  const derive = (name: string) => createHmac('sha256', secret).update(`${name} ${state}`).digest('base64url')
  return { state, nonce: derive('nonce'), verifier: derive('verifier') }
}

const STATE = /^[0-9A-Za-z]{40}$/

const toSignIn = (fault: SignOnFault, cookies: string[] = []) => redirect(`/dashboard/sign-in?sso=${fault}`, cookies)

function redirect(location: string, cookies: string[] = []): Response {
  const headers = new Headers({ location, 'cache-control': 'no-store', 'referrer-policy': 'no-referrer' })
  for (const each of cookies) headers.append('set-cookie', each)
  return new Response(null, { status: 303, headers })
}

function cookie(secret: string, maxAgeSeconds: number, isSecure: boolean): string {
  const value = `${COOKIE}=${secret}; Path=/; HttpOnly; SameSite=Lax; Max-Age=${maxAgeSeconds}`
  return isSecure ? `${SECURE_PREFIX}${value}; Secure` : value
}

const PLAIN = /(?:^|;)[ \t]?postrider_sign_on=([0-9A-Za-z]{43})(?:;|$)/
const SECURE = /(?:^|;)[ \t]?__Host-postrider_sign_on=([0-9A-Za-z]{43})(?:;|$)/

function cookieOf(request: Request, mayBePlaintext: boolean): string | null {
  const header = request.headers.get('cookie') ?? ''
  return SECURE.exec(header)?.[1] ?? (mayBePlaintext ? (PLAIN.exec(header)?.[1] ?? null) : null)
}
