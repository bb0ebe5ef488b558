import { z } from 'zod'
import { keyFault } from '../model/api-key.ts'
import type { AuditEntry } from '../model/audit-entry.ts'
import { iso } from '../model/event.ts'
import type { Invitation } from '../model/invitation.ts'
import type { Organization } from '../model/organization.ts'
import { invalid, Refusal } from '../model/refusal.ts'
import { type Session, sessionEnd } from '../model/session.ts'
import { foldedEmail, type User } from '../model/user.ts'
import type { ClientAddress } from '../net/client-address.ts'
import type { WallClock } from '../os/clock.ts'
import type { MintId } from '../os/ids.ts'
import type { Log } from '../os/log.ts'
import type { Random } from '../os/random.ts'
import type { Store } from '../storage/store.ts'
import { VERSION } from '../version.ts'
import { actorOf } from './authentication.ts'
import { isOperator } from './operator.ts'
import type { OwnOrigin } from './own-origin.ts'
import { hashPassword, verifyPassword } from './password.ts'
import { parseAs, readBytes } from './read.ts'
import { JSON_TYPE, PERSONAL } from './rendered-response.ts'
import type { Page } from './route-table.ts'
import { sessionRecord } from './routes/sessions.ts'
import { label } from './schema.ts'
import {
  type DashboardSessions,
  hashToken,
  isIntended,
  mintSessionToken,
  SECURE_PREFIX,
  SESSION_COOKIE,
  type SignedIn,
} from './sessions.ts'
import { createSignInLimit, type SignInLimit } from './sign-in-limit.ts'

const MOST_PASSWORD = 200
/** Maximum length of an email address (RFC 5321 §4.5.3.1). */
const MOST_EMAIL = 320
const signInBody = z.union([
  z.strictObject({ token: z.string().max(200) }),
  z.strictObject({ email: z.string().max(MOST_EMAIL).optional(), password: z.string().max(MOST_PASSWORD) }),
])
const resetBody = z.strictObject({
  token: z.string().max(200),
  password: z.string().min(12, { message: 'password must have at least 12 characters' }).max(MOST_PASSWORD),
})
const invitationBody = resetBody.extend({ name: label(100) })
const passwordBody = z.strictObject({
  password: z.string().min(12, { message: 'password must have at least 12 characters' }).max(MOST_PASSWORD),
  present: z.string().max(MOST_PASSWORD).optional(),
})

/** The pages `/session` and `/session/password`, with which the dashboard signs in, reads the session, sets the user's
 *  password and signs out.
 *
 *  A user signs in with email address and password; the password alone is enough while there is one user. The operator
 *  can also sign in with a link from the command line. All invalid links get the
 *  same response, and so do all wrong passwords. Attempts are limited (sign-in-limit.ts). One transaction stores the
 *  session, deletes its link and adds the audit entry. */
export function sessionPages(options: SessionPagesOptions): Page[] {
  const endpoints = new SessionEndpoints(options)
  return [
    { method: 'POST', path: '/session', handle: (request, _, peer) => endpoints.signIn(request, peer) },
    { method: 'GET', path: '/session', handle: (request) => endpoints.show(request) },
    { method: 'DELETE', path: '/session', handle: (request, _, peer) => endpoints.signOut(request, peer) },
    { method: 'GET', path: '/session/all', handle: (request) => endpoints.list(request) },
    { method: 'DELETE', path: '/session/all', handle: (request, _, peer) => endpoints.signOutOthers(request, peer) },
    { method: 'POST', path: '/session/invitation', handle: (request, _, peer) => endpoints.join(request, peer) },
    { method: 'POST', path: '/session/reset', handle: (request, _, peer) => endpoints.reset(request, peer) },
    { method: 'POST', path: '/session/password', handle: (request, _, peer) => endpoints.setPassword(request, peer) },
  ]
}

interface SessionPagesOptions {
  store: Pick<Store, 'sessions' | 'users' | 'invitations' | 'apiKeys' | 'organizations' | 'auditLog' | 'rates'>
  sessions: DashboardSessions
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
    await this.#take('token' in body ? 'link' : 'password', address, 'email' in body ? body.email : undefined)
    const found = 'token' in body ? await this.#ofLink() : await this.#ofPassword(body)
    const now = clock.now()
    const token = mintSessionToken(random)
    const session: Session = {
      id: mintId('ses'),
      userId: found?.user.id ?? '',
      createdAt: now,
      lastSeenAt: now,
      endsAt: sessionEnd(now, now),
      ipAddress: address || null,
      userAgent: (request.headers.get('user-agent') ?? '').slice(0, 500),
    }
    const signedIn = found === null ? null : { session, user: found.user }
    const open = async () => {
      if ('token' in body) return store.sessions.openByLink(hashToken(body.token), session, hashToken(token))
      await store.sessions.open(session, hashToken(token))
      return 'opened'
    }
    const opened =
      signedIn === null ? 'unknown' : await this.#audited('sessions_create', signedIn, address, Object.keys(body), open)
    if (signedIn === null || opened === 'unknown' || !(await this.#isCurrent(session, found?.hash))) {
      log.warn('sign-in rejected', { by: 'token' in body ? 'token' : 'password', ip_address: address })
      throw new Refusal('unauthorized', refusalOf(body))
    }
    log.info('signed in', { session_id: session.id, user_id: session.userId, ip_address: address })
    return json(
      await this.#describe(signedIn),
      { 'set-cookie': cookie(token, MOST_SECONDS, ownOrigin.isSecure(request)) },
      201,
    )
  }

  /** Sign-in links of the command line belong to the operator. */
  async #ofLink(): Promise<Found | null> {
    const user = await this.#deps.store.users.operator()
    return user === null ? null : { user, hash: undefined }
  }

  /** The user of an address, or the only one; null if the password is wrong or the account is disabled. It takes the same
   *  time for an unknown address, so that a client cannot measure which addresses have an account. */
  async #ofPassword({ email, password }: { email?: string | undefined; password: string }): Promise<Found | null> {
    const { users } = this.#deps.store
    const user = email === undefined ? await users.only() : await users.findByEmail(foldedEmail(email))
    const hash = await users.passwordHash(user?.id ?? '')
    const isRight = await verifyPassword(password, hash)
    return isRight && user !== null && user.disabledAt === null ? { user, hash } : null
  }

  /** False if the password was changed since it was verified: that ended only sessions that were open by then. */
  async #isCurrent({ id, userId }: Session, verified: string | null | undefined): Promise<boolean> {
    const { users, sessions } = this.#deps.store
    if (verified === undefined || (await users.passwordHash(userId)) === verified) return true
    await sessions.end(id)
    return false
  }

  async show(request: Request): Promise<Response> {
    return json(await this.#describe(await this.#requireSession(request)))
  }

  async setPassword(request: Request, peer: Peer): Promise<Response> {
    const { users } = this.#deps.store
    const signedIn = await this.#requireSession(request)
    const { session, user } = signedIn
    this.#requireOwnPage(request)
    const { password, present } = await this.#bodyOf(request, passwordBody)
    const address = this.#addressOf(request, peer)
    const held = await users.passwordHash(user.id)
    if (held !== null) {
      await this.#take('password', address, user.id)
      if (!(await verifyPassword(present ?? '', held))) {
        throw invalid([{ field: 'present', message: 'present does not match the current password' }])
      }
    }
    const hash = await hashPassword(password)
    await this.#audited('sessions_set_password', signedIn, address, ['password'], () =>
      users.setPassword(user.id, hash, session.id),
    )
    return json(await this.#describe(signedIn))
  }

  async signOut(request: Request, peer: Peer): Promise<Response> {
    const { store, ownOrigin } = this.#deps
    const signedIn = await this.#requireSession(request)
    this.#requireOwnPage(request)
    const { id } = signedIn.session
    await this.#audited('sessions_delete', signedIn, this.#addressOf(request, peer), [], () => store.sessions.end(id))
    return json({ id, deleted: true }, { 'set-cookie': cookie('', 0, ownOrigin.isSecure(request)) })
  }

  /** The user's own sessions. */
  async list(request: Request): Promise<Response> {
    const { store, clock } = this.#deps
    const { session, user } = await this.#requireSession(request)
    const page = { limit: 100, after: null, createdAfter: null, createdBefore: null }
    const { records } = await store.sessions.list(clock.now(), page, user.id)
    return json({ data: records.map((each) => ({ ...sessionRecord(each), is_current: each.id === session.id })) })
  }

  /** Ends the user's sessions except this one. */
  async signOutOthers(request: Request, peer: Peer): Promise<Response> {
    const signedIn = await this.#requireSession(request)
    this.#requireOwnPage(request)
    const { session, user } = signedIn
    const end = () => this.#deps.store.sessions.endOf(user.id, session.id)
    await this.#audited('users_sessions_delete', signedIn, this.#addressOf(request, peer), [], end)
    return this.list(request)
  }

  /** Sets a password with a link; the user then signs in with it. */
  async reset(request: Request, peer: Peer): Promise<Response> {
    const { store, clock, log } = this.#deps
    this.#requireOwnPage(request)
    const { token, password } = await this.#bodyOf(request, resetBody)
    const address = this.#addressOf(request, peer)
    await this.#take('link', address)
    const tokenHash = hashToken(token)
    // Hashing takes memory and time, so that only holders of a valid link may cause it.
    const user = await store.users.get((await store.users.userOfReset(tokenHash, clock.now())) ?? '')
    if (user === null) throw new Refusal('unauthorized', INVALID_RESET)
    const hash = await hashPassword(password)
    const id = await this.#audited('sessions_set_password', { session: user, user }, address, ['password'], () =>
      store.users.useReset(tokenHash, hash, clock.now()),
    )
    if (id === null) throw new Refusal('unauthorized', INVALID_RESET)
    log.info('password set by link', { user_id: id, ip_address: address })
    return json({ id })
  }

  /** Accepts an invitation: creates the account, or adds the role to the existing one if the password is its own. The user
   *  then signs in. */
  async join(request: Request, peer: Peer): Promise<Response> {
    const { store, clock, mintId } = this.#deps
    this.#requireOwnPage(request)
    const { token, name, password } = await this.#bodyOf(request, invitationBody)
    const address = this.#addressOf(request, peer)
    const now = clock.now()
    await this.#take('link', address)
    const tokenHash = hashToken(token)
    const invitation = await store.invitations.find(tokenHash, now)
    if (invitation === null || !(await mayInvite(store, invitation, now))) throw invalidInvitation()
    const { email, organizationId } = invitation
    await this.#take('password', address, email)
    const held = await store.users.findByEmail(email)
    if (held !== null && (await this.#ofPassword({ email, password })) === null)
      throw new Refusal('unauthorized', 'Wrong email address or password.')
    const hash = held === null ? await hashPassword(password) : ''
    const id = held?.id ?? mintId('usr')
    const roles = { [organizationId]: invitation.role }
    const user = held ?? {
      id,
      email,
      name,
      isOperator: false,
      roles,
      createdAt: now,
      disabledAt: null,
      lastSeenAt: null,
    }
    const accept = () =>
      held === null ? store.invitations.accept(tokenHash, user, hash) : store.invitations.join(tokenHash, id, now)
    const result = await this.#audited('invitations_accept', { session: user, user }, address, ['name'], accept)
    if (result !== 'accepted') throw invalidInvitation()
    return json({ id, email })
  }

  async #describe({ session, user }: SignedIn) {
    const [organizations, password] = await Promise.all([
      this.#organizationsOf(user),
      this.#deps.store.users.passwordHash(user.id),
    ])
    return {
      session: { id: session.id, created_at: iso(session.createdAt), ends_at: iso(session.endsAt) },
      user: { id: user.id, email: user.email, name: user.name, is_operator: user.isOperator },
      has_password: password !== null,
      organizations: organizations.records.map(({ id, name, plan }) => ({
        id,
        name,
        plan,
        role: user.isOperator ? 'operator' : user.roles[id],
      })),
      has_more_organizations: organizations.hasMore,
      version: VERSION,
    }
  }

  /** The newest organizations: all of them for an operator, else those in which the user has a role. */
  async #organizationsOf({ isOperator, roles }: User): Promise<{ records: Organization[]; hasMore: boolean }> {
    const { organizations } = this.#deps.store
    if (isOperator) return organizations.page({ limit: MOST_ORGANIZATIONS, after: null })
    const ids = Object.keys(roles).sort().reverse()
    const found = await Promise.all(ids.slice(0, MOST_ORGANIZATIONS).map((id) => organizations.get(id)))
    return { records: found.filter((each) => each !== null), hasMore: ids.length > MOST_ORGANIZATIONS }
  }

  #addressOf(request: Request, peer: Peer): string {
    return this.#deps.clientAddress(peer(), request.headers.get('x-forwarded-for'))
  }

  async #take(kind: 'link' | 'password', address: string, account?: string): Promise<void> {
    const seconds = await this.#limit.take({ kind, address, account }, this.#deps.clock.now())
    if (seconds > 0)
      throw new Refusal('rate_limited', 'Too many sign-in attempts. Wait a minute and try again.', {
        retryAfterSeconds: seconds,
      })
  }

  async #requireSession(request: Request): Promise<SignedIn> {
    const signedIn = await this.#deps.sessions.ofCookie(request, this.#deps.clock.now())
    if (signedIn === null) throw new Refusal('unauthorized', 'You are not signed in.')
    return signedIn
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
  #audited<T>(
    action: string,
    { session, user }: { session: Pick<Session, 'id'>; user: User },
    address: string,
    fields: string[],
    work: () => Promise<T>,
  ) {
    const { store, mintId, clock } = this.#deps
    const entry: AuditEntry = {
      id: mintId('aud'),
      organizationId: null,
      at: clock.now(),
      actor: actorOf(user),
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

/** A user whose sign-in is valid, and the password hash that was verified; undefined for a link. */
interface Found {
  user: User
  hash: string | null | undefined
}

/** True if the author of the invitation could still invite. An invitation must not outlive these rights, because its
 *  author could come back by it. */
async function mayInvite(
  { users, apiKeys }: Pick<Store, 'users' | 'apiKeys'>,
  { invitedBy, organizationId }: Invitation,
  now: number,
): Promise<boolean> {
  if (isOperator({ id: invitedBy })) return true
  const key = await apiKeys.get(invitedBy)
  if (key !== null) return keyFault(key, now) === null
  const user = await users.get(invitedBy)
  return user !== null && user.disabledAt === null && (user.isOperator || user.roles[organizationId] === 'owner')
}

const invalidInvitation = () => new Refusal('unauthorized', 'This invitation has expired or was already used.')

function refusalOf(body: object): string {
  if ('token' in body) return INVALID_LINK
  return 'email' in body ? 'Wrong email address or password.' : 'Wrong password, or no password is set.'
}

const MOST_ORGANIZATIONS = 100
const INVALID_LINK = 'This link has expired or was already used. Create a new one with postrider login-link.'
const INVALID_RESET = 'This link has expired or was already used. Ask for a new one.'
const MOST_BODY_BYTES = 4_096
const MOST_SECONDS = 30 * 86_400 // maximum lifetime of a session (model/session.ts)

function cookie(token: string, maxAgeSeconds: number, isSecure: boolean): string {
  const value = `${SESSION_COOKIE}=${token}; Path=/; HttpOnly; SameSite=Strict; Max-Age=${maxAgeSeconds}`
  return isSecure ? `${SECURE_PREFIX}${value}; Secure` : value
}

function json(body: unknown, headers: Record<string, string> = {}, status = 200): Response {
  return new Response(JSON.stringify(body), { status, headers: { 'content-type': JSON_TYPE, ...PERSONAL, ...headers } })
}
