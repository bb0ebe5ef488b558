import { z } from 'zod'
import { keyFault } from '../../model/api-key.ts'
import type { Invitation } from '../../model/invitation.ts'
import { Refusal } from '../../model/refusal.ts'
import type { Store } from '../../storage/store.ts'
import { isOperator } from '../operator.ts'
import { hashPassword } from '../password.ts'
import type { Page } from '../route-table.ts'
import { label } from '../schema.ts'
import { hashToken } from '../sessions.ts'
import { json, linkToken, newPassword, type Peer, type SignInContext } from './context.ts'
import { userOfPassword, WRONG_PASSWORD } from './user-of-password.ts'

const body = z.strictObject({ token: linkToken, password: newPassword, name: label(100) })

/** `POST /session/invitation`: accepts an invitation. */
export function invitationPages(context: SignInContext): Page[] {
  return [{ method: 'POST', path: '/session/invitation', handle: (request, _, peer) => join(context, request, peer) }]
}

/** Creates the account, or adds the role to the existing one if the password is its own. The user then signs in. */
async function join(context: SignInContext, request: Request, peer: Peer): Promise<Response> {
  const { store, clock, mintId } = context
  context.requireOwnPage(request)
  context.requirePasswords()
  const { token, name, password } = await context.bodyOf(request, body)
  const address = context.addressOf(request, peer)
  const now = clock.now()
  await context.take('link', address)
  const tokenHash = hashToken(token)
  const invitation = await store.invitations.find(tokenHash, now)
  if (invitation === null || !(await mayInvite(store, invitation, now))) throw invalidInvitation()
  const { email, organizationId } = invitation
  await context.take('password', address, email)
  const held = await store.users.findByEmail(email)
  if (held !== null && (await userOfPassword(store.users, { email, password })) === null)
    throw new Refusal('unauthorized', WRONG_PASSWORD)
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
  const facts = { action: 'invitations_accept', user, resourceId: id, address, fields: ['name'] }
  const result = await context.audited(facts, accept)
  if (result === 'too_many') throw new Refusal('conflict', 'The organization or your account has too many roles.')
  if (result !== 'accepted') throw invalidInvitation()
  return json({ id, email })
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
