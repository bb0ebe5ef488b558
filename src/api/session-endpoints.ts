import { z } from 'zod'
import type { AuditEntry } from '../model/audit-entry.ts'
import { iso } from '../model/event.ts'
import { invalid, Refusal } from '../model/refusal.ts'
import { type Session, sessionEnd } from '../model/session.ts'
import type { ClientAddress } from '../net/client-address.ts'
import type { WallClock } from '../os/clock.ts'
import type { MintId } from '../os/ids.ts'
import type { Log } from '../os/log.ts'
import type { Random } from '../os/random.ts'
import type { Store } from '../storage/store.ts'
import { VERSION } from '../version.ts'
import type { OwnOrigin } from './own-origin.ts'
import { hashPassword, verifyPassword } from './password.ts'
import { parseAs, readBytes } from './read.ts'
import { JSON_TYPE, PERSONAL } from './rendered-response.ts'
import type { Page } from './route-table.ts'
import { hashToken, isIntended, mintToken, type OperatorSessions, SECURE_PREFIX, SESSION_COOKIE } from './sessions.ts'
import { createSignInLimit } from './sign-in-limit.ts'

const MOST_PASSWORD = 200
const signInBody = z.union([
  z.strictObject({ token: z.string().max(200) }),
  z.strictObject({ password: z.string().max(MOST_PASSWORD) }),
])
const passwordBody = z.strictObject({
  password: z.string().min(12, { message: 'password must have at least 12 characters' }).max(MOST_PASSWORD),
  present: z.string().max(MOST_PASSWORD).optional(),
})

/** `/session`: how the operator's browser gets in, asks who it is, sets a password and leaves.
 *
 *  There is no password until one is set, and no way in but by a link from the command line. Whatever is wrong with a
 *  link or a password, the answer is the same; tries are limited (sign-in-limit.ts). A session opens together with the
 *  end of its link, and with its entry in the audit log. */
export function sessionPages(options: {
  store: Pick<Store, 'sessions' | 'organizations' | 'auditLog'>
  sessions: OperatorSessions
  clock: WallClock
  random: Random
  mintId: MintId
  log: Log
  clientAddress: ClientAddress
  ownOrigin: OwnOrigin
}): Page[] {
  const { store, sessions, clock, random, mintId, log, clientAddress, ownOrigin } = options
  const limit = createSignInLimit()

  const addressOf = (request: Request, peer: () => string | null) =>
    clientAddress(peer(), request.headers.get('x-forwarded-for'))
  const take = (kind: 'link' | 'password', address: string) => {
    const seconds = limit.take(kind, address, clock.now())
    if (seconds > 0)
      throw new Refusal('rate_limited', 'Too many sign-in attempts. Wait a minute and try again.', {
        retryAfterSeconds: seconds,
      })
  }
  const requireSession = (request: Request): Session => {
    const session = sessions.ofCookie(request, clock.now())
    if (session === null) throw new Refusal('unauthorized', 'You are not signed in.')
    return session
  }
  /** What changes something is asked for by our own page alone. */
  const requireOwnPage = (request: Request) => {
    ownOrigin.requireOwnPage(request)
    if (!isIntended(request.headers)) throw new Refusal('forbidden', 'X-Operator is required')
  }
  const bodyOf = async <T>(request: Request, schema: z.ZodType<T>): Promise<T> => {
    const bytes = await readBytes(request, MOST_BODY_BYTES, clock.steady, async () => {})
    return parseAs(schema, {}, request, bytes)
  }
  /** Runs `work`, and records any change in the audit log in the same transaction. */
  const audited = <T>(action: string, session: Session, address: string, fields: string[], work: () => Promise<T>) => {
    const entry: AuditEntry = {
      id: mintId('aud'),
      organizationId: null,
      at: clock.now(),
      actor: { type: 'operator', id: 'operator', name: 'dashboard' },
      action,
      resourceId: session.id,
      createdId: null,
      fields,
      ipAddress: address || null,
      outcome: 'done',
      requestId: mintId('req'),
    }
    return store.auditLog.during({ isKept: false, entry: () => entry }, work)
  }

  async function signIn(request: Request, peer: () => string | null): Promise<Response> {
    requireOwnPage(request)
    const body = await bodyOf(request, signInBody)
    const address = addressOf(request, peer)
    take('token' in body ? 'link' : 'password', address)
    const now = clock.now()
    const token = mintToken(random)
    const session: Session = {
      id: mintId('ses'),
      createdAt: now,
      lastSeenAt: now,
      endsAt: sessionEnd(now, now),
      ipAddress: address || null,
      userAgent: (request.headers.get('user-agent') ?? '').slice(0, 500),
    }
    const open = async () => {
      if ('token' in body) return store.sessions.openByLink(hashToken(body.token), session, hashToken(token))
      if (!(await verifyPassword(body.password, await store.sessions.passwordHash()))) return 'unknown'
      await store.sessions.open(session, hashToken(token))
      return 'opened'
    }
    const opened = await audited('sessions_create', session, address, Object.keys(body), open)
    if (opened === 'unknown') {
      log.warn('sign-in rejected', { by: Object.keys(body)[0], ip_address: address })
      throw new Refusal('unauthorized', 'token' in body ? INVALID_LINK : 'Wrong password, or no password is set.')
    }
    log.info('signed in', { session_id: session.id, ip_address: address })
    return json(
      await describe(session),
      { 'set-cookie': cookie(token, MOST_SECONDS, ownOrigin.isSecure(request)) },
      201,
    )
  }

  async function setPassword(request: Request, peer: () => string | null): Promise<Response> {
    const session = requireSession(request)
    requireOwnPage(request)
    const { password, present } = await bodyOf(request, passwordBody)
    const address = addressOf(request, peer)
    const held = await store.sessions.passwordHash()
    if (held !== null) {
      take('password', address)
      if (!(await verifyPassword(present ?? '', held))) {
        throw invalid([{ field: 'present', message: 'present is not the current password' }])
      }
    }
    const hash = await hashPassword(password)
    await audited('sessions_set_password', session, address, ['password'], () =>
      store.sessions.setPassword(hash, session.id, clock.now()),
    )
    return json(await describe(session))
  }

  async function signOut(request: Request, peer: () => string | null): Promise<Response> {
    const session = requireSession(request)
    requireOwnPage(request)
    const end = () => store.sessions.end(session.id)
    await audited('sessions_delete', session, addressOf(request, peer), [], end)
    return json({ id: session.id, deleted: true }, { 'set-cookie': cookie('', 0, ownOrigin.isSecure(request)) })
  }

  async function describe({ id, createdAt, endsAt }: Session) {
    const [organizations, password] = await Promise.all([
      store.organizations.page({ limit: 100, after: null }),
      store.sessions.passwordHash(),
    ])
    return {
      session: { id, created_at: iso(createdAt), ends_at: iso(endsAt) },
      has_password: password !== null,
      organizations: organizations.records.map(({ id, name, plan }) => ({ id, name, plan })),
      has_more_organizations: organizations.hasMore,
      version: VERSION,
    }
  }

  return [
    { method: 'POST', path: '/session', handle: (request, _, peer) => signIn(request, peer) },
    { method: 'GET', path: '/session', handle: async (request) => json(await describe(requireSession(request))) },
    { method: 'DELETE', path: '/session', handle: (request, _, peer) => signOut(request, peer) },
    { method: 'POST', path: '/session/password', handle: (request, _, peer) => setPassword(request, peer) },
  ]
}

const INVALID_LINK = 'This link has expired or was already used. Create a new one with postrider login-link.'
const MOST_BODY_BYTES = 4_096
const MOST_SECONDS = 30 * 86_400 // as long as a session can last (model/session.ts)

function cookie(token: string, maxAgeSeconds: number, isSecure: boolean): string {
  const value = `${SESSION_COOKIE}=${token}; Path=/; HttpOnly; SameSite=Strict; Max-Age=${maxAgeSeconds}`
  return isSecure ? `${SECURE_PREFIX}${value}; Secure` : value
}

function json(body: unknown, headers: Record<string, string> = {}, status = 200): Response {
  return new Response(JSON.stringify(body), { status, headers: { 'content-type': JSON_TYPE, ...PERSONAL, ...headers } })
}
