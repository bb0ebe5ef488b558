import { z } from 'zod'
import { iso } from '../../../model/event.ts'
import { doubtfulSince } from '../../../model/factors.ts'
import { invalid, Refusal } from '../../../model/refusal.ts'
import type { User } from '../../../model/user.ts'
import { hashPassword, verifyPassword } from '../password.ts'
import type { Page } from '../route-table.ts'
import { hashToken } from '../sessions.ts'
import { requireRecent } from './confirm.ts'
import { givenPassword, json, linkToken, newPassword, type Peer, type SignInContext } from './context.ts'
import { describeSession } from './describe.ts'

const changeBody = z.strictObject({ password: newPassword, present: givenPassword.optional() })
const resetBody = z.strictObject({
  token: linkToken,
  password: newPassword,
  factors: z.enum(['keep', 'remove']).optional(),
})

/** The pages with which users set their password: signed in, or with a link. */
export function passwordPages(context: SignInContext): Page[] {
  return [
    { method: 'POST', path: '/session/password', handle: (request, _, peer) => change(context, request, peer) },
    { method: 'POST', path: '/session/reset', handle: (request, _, peer) => reset(context, request, peer) },
  ]
}

async function change(context: SignInContext, request: Request, peer: Peer): Promise<Response> {
  const { users } = context.store
  const signedIn = await context.requireSession(request)
  const { session, user } = signedIn
  context.requireOwnPage(request)
  context.requirePasswords()
  const { password, present } = await context.bodyOf(request, changeBody)
  const address = context.addressOf(request, peer)
  const held = await users.passwordHash(user.id)
  if (held === null) requireRecent(context, signedIn)
  else {
    await context.take('password', address, user.id)
    if (!(await verifyPassword(present ?? '', held, true))) {
      throw invalid([{ field: 'present', message: 'present does not match the current password' }])
    }
  }
  const hash = await hashPassword(password, true)
  const facts = { action: 'sessions_set_password', user, resourceId: session.id, address, fields: ['password'] }
  const change = { from: held, to: hash, sessionId: session.id }
  // Hashing takes time, in which the account may have got another owner.
  if (!(await context.audited(facts, () => users.changePassword(user.id, change))))
    throw new Refusal('unauthorized', 'Your session has ended. Sign in again.')
  if (held !== null) await notify(context, user)
  return json(await describeSession(context, signedIn))
}

/** Sets a password with a link; the user then signs in with it. If passkeys or a second factor may be somebody else's, the
 *  first request gets `conflict` with a list of them, and the user says in a second one what to do with them. Before more
 *  rights come into effect with the link, they all end. */
async function reset(context: SignInContext, request: Request, peer: Peer): Promise<Response> {
  const { store, clock, log } = context
  context.requireOwnPage(request)
  context.requirePasswords()
  const { token, password, factors } = await context.bodyOf(request, resetBody)
  const address = context.addressOf(request, peer)
  await context.take('link', address)
  const tokenHash = hashToken(token)
  // Hashing takes memory and time, so that only holders of a valid link may cause it.
  const now = clock.now()
  const link = await store.users.reset(tokenHash, now)
  const user = await store.users.get(link?.userId ?? '')
  if (link === null || user === null) throw new Refusal('unauthorized', INVALID_RESET)
  const since = doubtfulSince(user, now)
  const isMoreToCome = link.isProof && (user.awaiting.isOperator || Object.keys(user.awaiting.roles).length > 0)
  const doubtful = isMoreToCome || factors !== undefined ? [] : await factorsSince(context, user.id, since)
  if (doubtful.length > 0) throw new Refusal('conflict', ASK, { details: { factors: doubtful } })
  const isFirst = (await store.users.passwordHash(user.id)) === null
  const hash = await hashPassword(password, true)
  const removesSince = factors === 'remove' || isMoreToCome ? since : null
  const facts = { action: 'sessions_set_password', user, resourceId: user.id, address, fields: ['password'] }
  const id = await context.audited(facts, () => store.users.useReset(tokenHash, { hash, removesSince, now }))
  if (id === null) throw new Refusal('unauthorized', INVALID_RESET)
  log.info('password set by link', { user_id: id, ip_address: address })
  if (!isFirst) await notify(context, user)
  return json({ id })
}

/** What the user signs in with besides a password and added at `since` or later. */
async function factorsSince({ store: { factors } }: SignInContext, userId: string, since: number) {
  const [app, passkeys] = await Promise.all([factors.totp(userId), factors.passkeys(userId)])
  const apps = app?.isEnabled ? [{ kind: 'app', name: 'Codes of an app', createdAt: app.createdAt }] : []
  return [...apps, ...passkeys.map(({ name, createdAt }) => ({ kind: 'passkey', name, createdAt }))]
    .filter(({ createdAt }) => createdAt >= since)
    .map(({ kind, name, createdAt }) => ({ kind, name, created_at: iso(createdAt) }))
}

/** Tells the user that the password was replaced. It is replaced, so a failure is only logged. */
async function notify({ userMail, clock, log }: SignInContext, { id, email }: User): Promise<void> {
  const now = clock.now()
  const text = { kind: 'password_changed', email: email ?? '', at: now } as const
  await userMail
    .send({ to: email, text, expiresAt: now + NOTICE_MS }, now)
    .catch((error) => log.error('notice of a new password not sent', { user_id: id, error }))
}

const NOTICE_MS = 86_400_000
const ASK = 'Passkeys or a second factor were added to this account. Decide whether to keep them.'
const INVALID_RESET = 'This link has expired or was already used. Ask for a new one.'
