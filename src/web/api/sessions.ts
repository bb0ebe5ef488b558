import { hash } from 'node:crypto'
import type { ApiKey } from '../../model/api-key.ts'
import type { Mode } from '../../model/message.ts'
import { invalid, type Refusal } from '../../model/refusal.ts'
import { type Session, sessionEnd } from '../../model/session.ts'
import type { User } from '../../model/user.ts'
import type { Random } from '../../os/random.ts'
import type { Store } from '../../storage/store.ts'
import { base62 } from './base62.ts'
import type { Operation } from './operation.ts'
import { operatorKey, userKey } from './operator.ts'
import type { OwnOrigin } from './own-origin.ts'

/** Dashboard sessions of users.
 *
 *  An API request belongs to a session if it has the session cookie, no `Authorization` header, and one of the headers
 *  `X-Organization` and `X-Operator`, which forms and links cannot send. Because of SameSite=Strict, browsers do not
 *  send the cookie with requests of other sites. In addition, `Host`, `Origin` and `Sec-Fetch-Site` must be those of
 *  our own pages (own-origin.ts). `now` is in ms UTC. */
export interface DashboardSessions {
  /** Resolves with the session of an API request, or null if it has none and needs an API key. Rejects with `forbidden`
   *  for a cross-site request. */
  of(request: Request, now: number): Promise<SignedIn | null>
  /** Resolves with the session of the cookie alone, for pages outside the API; null if there is none, it has ended, or
   *  its user is disabled. Rejects with `forbidden` if the host is not ours. */
  ofCookie(request: Request, now: number): Promise<SignedIn | null>
  /** The user's key (operator.ts) for the organization, domain and mode in the headers `X-Organization`, `X-Domain` and
   *  `X-Mode`. Throws `validation_error` for an invalid mode. */
  keyOf(request: Request, user: User, now: number): ApiKey
  /** Rejects with `validation_error` if the operation needs an organization and the key has none, if the organization
   *  does not exist, or if the domain belongs to another one. */
  requireTenant(key: ApiKey, operation: Operation): Promise<void>
  /** Stores when sessions were last used. If the store fails, the next call retries. Never rejects. */
  flushSeen(): Promise<void>
}

/** A session and its user, as the store has them at the time of the request. */
export interface SignedIn {
  session: Session
  user: User
}

/** Prefix of the cookie name over HTTPS. Browsers accept such a cookie only over HTTPS, with `Path=/` and from the host
 *  itself, so that no other host of the domain can replace it (RFC 6265bis §4.1.3.2). */
export const SECURE_PREFIX = '__Host-'
/** Name of the session cookie, without the prefix. */
export const SESSION_COOKIE = 'postrider_session'

/** Creates DashboardSessions from the store and the checks of origins. */
export function createSessions(
  store: Pick<Store, 'sessions' | 'users' | 'organizations' | 'domains'>,
  ownOrigin: OwnOrigin,
): DashboardSessions {
  let seen = new Map<string, { id: string; at: number; endsAt: number }>()

  const ofCookie = async (request: Request, now: number): Promise<SignedIn | null> => {
    const token = cookieToken(request.headers.get('cookie'), ownOrigin.mayBePlaintext(request))
    if (token === null) return null
    ownOrigin.requireKnownHost(request)
    const session = await store.sessions.findByToken(hashToken(token))
    if (session === null) return null
    const { id, createdAt } = session
    const endsAt = Math.max(session.endsAt, seen.get(id)?.endsAt ?? 0)
    if (endsAt <= now) return null
    const user = await store.users.get(session.userId)
    if (user === null || user.disabledAt !== null) return null
    const isFirst = (user.lastSeenAt ?? 0) < createdAt // a short visit counts too
    if (isFirst || now - session.lastSeenAt >= SEEN_EVERY_MS)
      seen.set(id, { id, at: now, endsAt: sessionEnd(createdAt, now) })
    return { session, user }
  }

  return {
    ofCookie,
    async of(request, now) {
      const { headers } = request
      if (headers.get('authorization') || !isIntended(headers)) return null
      const signedIn = await ofCookie(request, now)
      if (signedIn !== null) ownOrigin.requireOwnPage(request)
      return signedIn
    },
    keyOf: ({ headers }, user, now) => {
      const as = {
        organizationId: headers.get('x-organization') ?? '',
        domainId: headers.get('x-domain') ?? '',
        mode: modeOf(headers.get('x-mode')),
      }
      return user.isOperator ? operatorKey(as, now) : userKey(user, as, now)
    },
    async requireTenant({ organizationId, domainId }, { access, operatorWithoutOrganization }) {
      if (!(access.role === 'operator' || operatorWithoutOrganization) || organizationId !== '')
        await requireOrganization(organizationId)
      if (domainId !== '') await requireDomain(domainId, organizationId)
    },
    async flushSeen() {
      if (seen.size === 0) return
      const written = seen
      seen = new Map()
      try {
        await store.sessions.recordSeen([...written.values()])
      } catch {
        for (const [id, entry] of written) if (!seen.has(id)) seen.set(id, entry)
      }
    },
  }

  async function requireDomain(id: string, organizationId: string): Promise<void> {
    const domain = await store.domains.get(id)
    if (domain?.organizationId !== organizationId)
      throw named('X-Domain', 'X-Domain does not match any domain of the organization')
  }

  async function requireOrganization(id: string): Promise<void> {
    if (id === '') throw named('X-Organization', 'X-Organization is required: the ID of the organization to act for')
    if ((await store.organizations.get(id)) === null)
      throw named('X-Organization', 'X-Organization does not match any organization')
  }
}

/** True if a script of our own page sent the request. Forms and links cannot set custom headers, and scripts of other
 *  sites would need our permission (CORS). */
export function isIntended(headers: Headers): boolean {
  return headers.has('x-organization') || headers.has('x-operator')
}

/** A new secret for a link: 40 base62 characters, 238 random bits. */
export function mintToken(random: Random): string {
  return base62(LINK_CHARACTERS, random)
}

/** A new secret for a session cookie: 43 base62 characters, 256 random bits. */
export function mintSessionToken(random: Random): string {
  return base62(SESSION_CHARACTERS, random)
}

/** Token → its SHA-256, which the store keeps in place of the token. No salt: a token has at least 160 random bits. */
export function hashToken(token: string): Uint8Array {
  return hash('sha256', token, 'buffer')
}

/** `Cookie` header → the session token. The cookie with the prefix takes precedence; the one without it counts only if
 *  `mayBePlaintext`. Null if the cookie is missing or malformed. */
export function cookieToken(header: string | null, mayBePlaintext: boolean): string | null {
  if (header === null) return null
  return SECURELY_PRESENTED.exec(header)?.[1] ?? (mayBePlaintext ? (PRESENTED.exec(header)?.[1] ?? null) : null)
}

const LINK_CHARACTERS = 40
const SESSION_CHARACTERS = 43
const presented = (name: string) => new RegExp(`(?:^|;)[ \\t]?${name}=([0-9A-Za-z]{${SESSION_CHARACTERS}})(?:;|$)`)
const PRESENTED = presented(SESSION_COOKIE)
const SECURELY_PRESENTED = presented(SECURE_PREFIX + SESSION_COOKIE)
/** Minimum time between two updates of a session's last use. One minute is exact enough: sessions last a week. */
const SEEN_EVERY_MS = 60_000

function modeOf(header: string | null): Mode {
  if (header === null || header === 'live' || header === 'test') return header ?? 'live'
  throw named('X-Mode', 'X-Mode must be live or test')
}

function named(field: string, message: string): Refusal {
  return invalid([{ field, message }])
}
