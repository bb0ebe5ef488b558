import { hash } from 'node:crypto'
import type { ApiKey } from '../model/api-key.ts'
import type { Mode } from '../model/message.ts'
import { invalid, type Refusal } from '../model/refusal.ts'
import { type Session, sessionEnd } from '../model/session.ts'
import type { Random } from '../os/random.ts'
import type { Store } from '../storage/store.ts'
import { base62 } from './base62.ts'
import type { Operation } from './operation.ts'
import { operatorKey } from './operator.ts'
import type { OwnOrigin } from './own-origin.ts'

/** The operator's browser sessions. A request belongs to a session if it has the cookie, no `Authorization`, and one
 *  of the headers `X-Organization` and `X-Operator`, which forms and links cannot send. SameSite=Strict keeps the
 *  cookie from other sites' requests, and host, `Origin` and `Sec-Fetch-Site` must be those of our own pages
 *  (own-origin.ts). */
export interface OperatorSessions {
  /** The session of a request; null if it belongs to none and therefore needs a key. Throws 403 for a cross-site
   *  request. */
  of(request: Request, now: number): Promise<Session | null>
  /** Session by the cookie alone, for pages outside the API; null if there is none. Throws 403 for a host that is
   *  not ours. */
  ofCookie(request: Request, now: number): Promise<Session | null>
  /** The operator's key, restricted by the headers `X-Organization`, `X-Domain` and `X-Mode`. Throws 400 for invalid
   *  headers. */
  keyOf(request: Request, now: number): ApiKey
  /** Throws 400 if the operation belongs to an organization and the request names none, or one that does not exist,
   *  or a domain of another organization. */
  requireTenant(key: ApiKey, operation: Operation): Promise<void>
  /** Writes down when sessions were last seen. Kept for the next call when it fails; never rejects. */
  flushSeen(): Promise<void>
}

/** Prefix of the cookie's name with HTTPS. Browsers accept such a cookie only from the host itself, for all its
 *  paths and over HTTPS, so that no other host of the domain can replace the session (RFC 6265bis §4.1.3.2). */
export const SECURE_PREFIX = '__Host-'
export const SESSION_COOKIE = 'postrider_session'

/** Store and ownOrigin → its sessions. */
export function createSessions(
  store: Pick<Store, 'sessions' | 'organizations' | 'domains'>,
  ownOrigin: OwnOrigin,
): OperatorSessions {
  let seen = new Map<string, { id: string; at: number; endsAt: number }>()

  const ofCookie = async (request: Request, now: number): Promise<Session | null> => {
    const token = cookieToken(request.headers.get('cookie'), ownOrigin.isMaybeClear(request))
    if (token === null) return null
    ownOrigin.requireKnownHost(request)
    const session = await store.sessions.findByToken(hashToken(token))
    if (session === null) return null
    const { id, createdAt } = session
    const endsAt = Math.max(session.endsAt, seen.get(id)?.endsAt ?? 0)
    if (endsAt <= now) return null
    if (now - session.lastSeenAt >= SEEN_EVERY_MS) seen.set(id, { id, at: now, endsAt: sessionEnd(createdAt, now) })
    return session
  }

  return {
    ofCookie,
    async of(request, now) {
      const { headers } = request
      if (headers.get('authorization') || !isIntended(headers)) return null
      const session = await ofCookie(request, now)
      if (session !== null) ownOrigin.requireOwnPage(request)
      return session
    },
    keyOf: ({ headers }, now) =>
      operatorKey(
        {
          organizationId: headers.get('x-organization') ?? '',
          domainId: headers.get('x-domain') ?? '',
          mode: modeOf(headers.get('x-mode')),
        },
        now,
      ),
    async requireTenant({ organizationId, domainId }, { forOperator }) {
      if (!forOperator || organizationId !== '') await requireOrganization(organizationId)
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

/** True if the header shows that our own page sent the request. */
export function isIntended(headers: Headers): boolean {
  return headers.has('x-organization') || headers.has('x-operator')
}

/** A new token, for a session or a link: 238 random bits. */
export function mintToken(random: Random): string {
  return base62(TOKEN_CHARACTERS, random)
}

/** Token → its stored form. The token is random enough to need no salt. */
export function hashToken(token: string): Uint8Array {
  return hash('sha256', token, 'buffer')
}

/** `Cookie` header → the token in it: from the cookie for HTTPS, or from the plain one if that is allowed; null if
 *  missing or malformed. */
export function cookieToken(header: string | null, mayBeClear: boolean): string | null {
  if (header === null) return null
  return SECURELY_PRESENTED.exec(header)?.[1] ?? (mayBeClear ? (PRESENTED.exec(header)?.[1] ?? null) : null)
}

const TOKEN_CHARACTERS = 40
const presented = (name: string) => new RegExp(`(?:^|;)[ \\t]?${name}=([0-9A-Za-z]{${TOKEN_CHARACTERS}})(?:;|$)`)
const PRESENTED = presented(SESSION_COOKIE)
const SECURELY_PRESENTED = presented(SECURE_PREFIX + SESSION_COOKIE)
/** Not at every request: a row a minute is exact enough for a week. */
const SEEN_EVERY_MS = 60_000

function modeOf(header: string | null): Mode {
  if (header === null || header === 'live' || header === 'test') return header ?? 'live'
  throw named('X-Mode', 'X-Mode must be live or test')
}

function named(field: string, message: string): Refusal {
  return invalid([{ field, message }])
}
