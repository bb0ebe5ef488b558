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
import { createSignInLimit, type SignInLimit } from './sign-in-limit.ts'

const MOST_PASSWORD = 200
const signInBody = z.union([
  z.strictObject({ token: z.string().max(200) }),
  z.strictObject({ password: z.string().max(MOST_PASSWORD) }),
])
const passwordBody = z.strictObject({
  password: z.string().min(12, { message: 'password must have at least 12 characters' }).max(MOST_PASSWORD),
  present: z.string().max(MOST_PASSWORD).optional(),
})

/** The pages `/session` and `/session/password`, with which the dashboard signs in, reads the session, sets the
 *  operator's password and signs out.
 *
 *  Until a password is set, the operator can only sign in with a link from the command line. All invalid links get the
 *  same response, and so do all wrong passwords. Attempts are limited (sign-in-limit.ts). One transaction stores the
 *  session, deletes its link and adds the audit entry. */
export function sessionPages(options: SessionPagesOptions): Page[] {
  const endpoints = new SessionEndpoints(options)
  return [
    { method: 'POST', path: '/session', handle: (request, _, peer) => endpoints.signIn(request, peer) },
    { method: 'GET', path: '/session', handle: (request) => endpoints.show(request) },
    { method: 'DELETE', path: '/session', handle: (request, _, peer) => endpoints.signOut(request, peer) },
    { method: 'POST', path: '/session/password', handle: (request, _, peer) => endpoints.setPassword(request, peer) },
  ]
}

interface SessionPagesOptions {
  store: Pick<Store, 'sessions' | 'organizations' | 'auditLog' | 'rates'>
  sessions: OperatorSessions
  clock: WallClock
  random: Random
  mintId: MintId
  log: Log
  clientAddress: ClientAddress
  ownOrigin: OwnOrigin
}

/** Remote address of the connection; null without a socket. */
type Peer = () => string | null

class SessionEndpoints {
  readonly #deps: SessionPagesOptions
  readonly #limit: SignInLimit

  constructor(deps: SessionPagesOptions) {
    this.#deps = deps
    this.#limit = createSignInLimit(deps.store.rates)
  }

  async signIn(request: Request, peer: Peer): Promise<Response> {
    const { store, clock, random, mintId, log, ownOrigin } = this.#deps
    this.#requireOwnPage(request)
    const body = await this.#bodyOf(request, signInBody)
    const address = this.#addressOf(request, peer)
    await this.#take('token' in body ? 'link' : 'password', address)
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
    const opened = await this.#audited('sessions_create', session, address, Object.keys(body), open)
    if (opened === 'unknown') {
      log.warn('sign-in rejected', { by: Object.keys(body)[0], ip_address: address })
      throw new Refusal('unauthorized', 'token' in body ? INVALID_LINK : 'Wrong password, or no password is set.')
    }
    log.info('signed in', { session_id: session.id, ip_address: address })
    return json(
      await this.#describe(session),
      { 'set-cookie': cookie(token, MOST_SECONDS, ownOrigin.isSecure(request)) },
      201,
    )
  }

  async show(request: Request): Promise<Response> {
    return json(await this.#describe(await this.#requireSession(request)))
  }

  async setPassword(request: Request, peer: Peer): Promise<Response> {
    const { store, clock } = this.#deps
    const session = await this.#requireSession(request)
    this.#requireOwnPage(request)
    const { password, present } = await this.#bodyOf(request, passwordBody)
    const address = this.#addressOf(request, peer)
    const held = await store.sessions.passwordHash()
    if (held !== null) {
      await this.#take('password', address)
      if (!(await verifyPassword(present ?? '', held))) {
        throw invalid([{ field: 'present', message: 'present does not match the current password' }])
      }
    }
    const hash = await hashPassword(password)
    await this.#audited('sessions_set_password', session, address, ['password'], () =>
      store.sessions.setPassword(hash, session.id, clock.now()),
    )
    return json(await this.#describe(session))
  }

  async signOut(request: Request, peer: Peer): Promise<Response> {
    const { store, ownOrigin } = this.#deps
    const session = await this.#requireSession(request)
    this.#requireOwnPage(request)
    const end = () => store.sessions.end(session.id)
    await this.#audited('sessions_delete', session, this.#addressOf(request, peer), [], end)
    return json({ id: session.id, deleted: true }, { 'set-cookie': cookie('', 0, ownOrigin.isSecure(request)) })
  }

  async #describe({ id, createdAt, endsAt }: Session) {
    const { store } = this.#deps
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

  #addressOf(request: Request, peer: Peer): string {
    return this.#deps.clientAddress(peer(), request.headers.get('x-forwarded-for'))
  }

  async #take(kind: 'link' | 'password', address: string): Promise<void> {
    const seconds = await this.#limit.take(kind, address, this.#deps.clock.now())
    if (seconds > 0)
      throw new Refusal('rate_limited', 'Too many sign-in attempts. Wait a minute and try again.', {
        retryAfterSeconds: seconds,
      })
  }

  async #requireSession(request: Request): Promise<Session> {
    const session = await this.#deps.sessions.ofCookie(request, this.#deps.clock.now())
    if (session === null) throw new Refusal('unauthorized', 'You are not signed in.')
    return session
  }

  /** Throws `forbidden` unless the request comes from our own page. */
  #requireOwnPage(request: Request): void {
    this.#deps.ownOrigin.requireOwnPage(request)
    if (!isIntended(request.headers)) throw new Refusal('forbidden', 'X-Operator is required')
  }

  async #bodyOf<T>(request: Request, schema: z.ZodType<T>): Promise<T> {
    const bytes = await readBytes(request, MOST_BODY_BYTES, this.#deps.clock.steady, async () => {})
    return parseAs(schema, {}, request, bytes)
  }

  /** Runs `work`. The transaction of its change also adds an audit entry. */
  #audited<T>(action: string, session: Session, address: string, fields: string[], work: () => Promise<T>) {
    const { store, mintId, clock } = this.#deps
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
}

const INVALID_LINK = 'This link has expired or was already used. Create a new one with postrider login-link.'
const MOST_BODY_BYTES = 4_096
const MOST_SECONDS = 30 * 86_400 // maximum lifetime of a session (model/session.ts)

function cookie(token: string, maxAgeSeconds: number, isSecure: boolean): string {
  const value = `${SESSION_COOKIE}=${token}; Path=/; HttpOnly; SameSite=Strict; Max-Age=${maxAgeSeconds}`
  return isSecure ? `${SECURE_PREFIX}${value}; Secure` : value
}

function json(body: unknown, headers: Record<string, string> = {}, status = 200): Response {
  return new Response(JSON.stringify(body), { status, headers: { 'content-type': JSON_TYPE, ...PERSONAL, ...headers } })
}
