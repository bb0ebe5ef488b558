import { z } from 'zod'
import type { AuditActor, AuditEntry } from '../../../model/audit-entry.ts'
import { Refusal } from '../../../model/refusal.ts'
import type { User } from '../../../model/user.ts'
import type { ClientAddress } from '../../../net/client-address.ts'
import type { WallClock } from '../../../os/clock.ts'
import type { MintId } from '../../../os/ids.ts'
import type { Log } from '../../../os/log.ts'
import type { Random } from '../../../os/random.ts'
import type { UserMail } from '../../../sending/submission/user-mail.ts'
import type { Store } from '../../../storage/store.ts'
import { actorOf } from '../authentication.ts'
import type { IncomingBodies } from '../incoming-body.ts'
import type { Operation } from '../operation.ts'
import type { OwnOrigin } from '../own-origin.ts'
import { parseAs } from '../read.ts'
import { JSON_TYPE, PERSONAL } from '../rendered-response.ts'
import { type DashboardSessions, isIntended, type SignedIn } from '../sessions.ts'
import { createSignInLimit, type SignInAttempt } from './limit.ts'
import type { SingleSignOnOptions } from './single-sign-on/settings.ts'

export interface SignInDeps {
  store: Pick<
    Store,
    | 'sessions'
    | 'users'
    | 'factors'
    | 'singleSignOn'
    | 'invitations'
    | 'apiKeys'
    | 'organizations'
    | 'auditLog'
    | 'rates'
    | 'secret'
  >
  sessions: DashboardSessions
  operations: readonly Operation[]
  clock: WallClock
  random: Random
  mintId: MintId
  log: Log
  clientAddress: ClientAddress
  incoming: IncomingBodies
  ownOrigin: OwnOrigin
  userMail: Pick<UserMail, 'obstacle' | 'mintLink' | 'send'>
  /** Absent without a provider. */
  singleSignOn?: SingleSignOnOptions
}

/** Remote address of the connection; null without a socket. */
export type Peer = () => string | null

/** What the pages under `/session` share: checks of a request, and the audit entry of its change. */
export interface SignInContext extends SignInDeps {
  /** Client address, '' if unknown. */
  addressOf(request: Request, peer: Peer): string
  /** Counts an attempt (limit.ts). Rejects with `rate_limited` beyond the limits. */
  take(kind: SignInAttempt['kind'], address: string, account?: string, isKnown?: boolean): Promise<void>
  /** Rejects with `unauthorized` without a session. */
  requireSession(request: Request): Promise<SignedIn>
  /** Throws `forbidden` unless the request comes from our own page. */
  requireOwnPage(request: Request): void
  /** Throws `forbidden` if users sign in with single sign-on only. */
  requirePasswords(): void
  bodyOf<T>(request: Request, schema: z.ZodType<T>, mostBytes?: number): Promise<T>
  /** Runs `work`. The transaction of its change also adds an audit entry. */
  audited<T>(facts: AuditFacts, work: () => Promise<T>): Promise<T>
}

export interface AuditFacts {
  action: string
  user: User
  /** Nobody has proved to be the user: the entry names the server as actor. */
  isUnproved?: boolean
  /** ID of what changes. */
  resourceId: string
  address: string
  /** Names of the changed fields, without values. */
  fields?: string[]
}

const MOST_BODY_BYTES = 4_096
const MOST_PASSWORD = 200
/** Maximum length of an email address (RFC 5321 §4.5.3.1). */
export const MOST_EMAIL = 320

export const givenPassword = z.string().max(MOST_PASSWORD)
export const newPassword = z
  .string()
  .min(12, { message: 'password must have at least 12 characters' })
  .max(MOST_PASSWORD)
export const linkToken = z.string().max(200)

export function createSignInContext(deps: SignInDeps): SignInContext {
  const { store, sessions, clock, mintId, clientAddress, incoming, ownOrigin } = deps
  const limit = createSignInLimit(store.rates)
  return {
    ...deps,
    addressOf: (request, peer) => clientAddress(peer(), request.headers.get('x-forwarded-for')),
    async take(kind, address, account, isKnown) {
      const seconds = await limit.take({ kind, address, account, isKnown }, clock.now())
      if (seconds > 0)
        throw new Refusal('rate_limited', 'Too many sign-in attempts. Wait a minute and try again.', {
          retryAfterSeconds: seconds,
        })
    },
    async requireSession(request) {
      const signedIn = await sessions.ofCookie(request, clock.now())
      if (signedIn === null) throw new Refusal('unauthorized', 'You are not signed in.')
      return signedIn
    },
    requireOwnPage(request) {
      ownOrigin.requireOwnPage(request)
      if (!isIntended(request.headers)) throw new Refusal('forbidden', 'X-Operator is required')
    },
    requirePasswords() {
      if (deps.singleSignOn?.only)
        throw new Refusal('forbidden', 'This server accepts single sign-on only. Continue with single sign-on.')
    },
    async bodyOf(request, schema, mostBytes = MOST_BODY_BYTES) {
      const bytes = await incoming.readOnce(request, mostBytes, null)
      return parseAs(schema, {}, request, bytes)
    },
    audited({ action, user, isUnproved = false, resourceId, address, fields = [] }, work) {
      const entry: AuditEntry = {
        id: mintId('aud'),
        organizationId: null,
        at: clock.now(),
        actor: isUnproved ? SERVER : actorOf(user),
        action,
        resourceId,
        createdId: null,
        fields,
        ipAddress: address || null,
        outcome: 'done',
        requestId: mintId('req'),
      }
      return store.auditLog.during({ isKept: false, entry: () => entry }, work)
    },
  }
}

const SERVER: AuditActor = { type: 'server', id: 'server', name: 'sign-in page' }

export function json(body: unknown, headers: Record<string, string> = {}, status = 200): Response {
  return new Response(JSON.stringify(body), { status, headers: { 'content-type': JSON_TYPE, ...PERSONAL, ...headers } })
}
