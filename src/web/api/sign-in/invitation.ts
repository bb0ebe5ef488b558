import { z } from 'zod'
import { keyFault } from '../../../model/api-key.ts'
import type { Invitation } from '../../../model/invitation.ts'
import { Refusal } from '../../../model/refusal.ts'
import { isVerified, userWith } from '../../../model/user.ts'
import type { Store } from '../../../storage/store.ts'
import { INVITE } from '../access.ts'
import { makerNow } from '../makers.ts'
import { isOperator } from '../operator.ts'
import { hashPassword } from '../password.ts'
import { personMay, refusalOf } from '../rights.ts'
import type { Page } from '../route-table.ts'
import { label } from '../schema.ts'
import { hashToken } from '../sessions.ts'
import { json, linkToken, newPassword, type Peer, type SignInContext } from './context.ts'
import { mailAccount } from './limit.ts'
import { userOfPassword, WRONG_PASSWORD } from './user-of-password.ts'

const body = z.strictObject({ token: linkToken, password: newPassword, name: label(100) })

/** `POST /session/invitation`: accepts an invitation. */
export function invitationPages(context: SignInContext): Page[] {
  return [{ method: 'POST', path: '/session/invitation', handle: (request, _, peer) => join(context, request, peer) }]
}

/** Creates the account, or adds the role to the existing one if the password is its own. The user then signs in.
 *
 *  The link in the mail of the server shows that the address is the user's: then the account is verified, and if it was not
 *  before, whatever else signs in to it ends and the password is its new one. The link that was shown to whoever invited
 *  shows nothing: an account that it makes belongs to that organization only, and another organization gets no unverified
 *  account. */
async function join(context: SignInContext, request: Request, peer: Peer): Promise<Response> {
  const { store, clock, mintId } = context
  context.requireOwnPage(request)
  context.requirePasswords()
  const { token, name, password } = await context.bodyOf(request, body)
  const address = context.addressOf(request, peer)
  const now = clock.now()
  await context.take('link', address)
  const tokenHash = hashToken(token)
  const link = await store.invitations.find(tokenHash, now)
  if (link === null || !(await mayInvite(store, link.invitation, now))) throw invalidInvitation()
  const { email, organizationId, role } = link.invitation
  await context.take('password', address, mailAccount(email))
  const held = await store.users.findByEmail(email)
  const claims = held !== null && held.disabledAt === null && !isVerified(held) && link.isProof
  if (held !== null && !claims) {
    if ((await userOfPassword(store.users, { email, password })) === null)
      throw new Refusal('unauthorized', WRONG_PASSWORD)
    if (!isVerified(held) && held.invitedTo !== organizationId) throw new Refusal('conflict', UNVERIFIED)
  }
  const passwordHash = held === null || claims ? await hashPassword(password, true) : ''
  const id = held?.id ?? mintId('usr')
  const account = {
    id,
    email,
    emailVerifiedAt: link.isProof ? now : null,
    invitedTo: organizationId,
    name,
    createdAt: now,
    disabledAt: null,
    lastSeenAt: null,
  }
  const user = held ?? userWith(account, { isOperator: false, roles: { [organizationId]: role } })
  const accept = async () => {
    if (held === null) return store.invitations.accept(tokenHash, user, passwordHash)
    // The role waits until the account is verified, so that nobody else has it in between.
    const joined = await store.invitations.join(tokenHash, id, now)
    if (joined === 'accepted' && claims) await store.users.clear(id, { proved: { passwordHash }, now })
    return joined
  }
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
  if (key === null) {
    const user = await users.get(invitedBy)
    return user !== null && personMay(user, organizationId, INVITE)
  }
  const maker = await makerNow(users, key)
  return keyFault(key, now) === null && refusalOf({ key, maker }, INVITE) === null
}

const UNVERIFIED =
  'The address of your account is not verified yet. Choose “Forgot password?” on the sign-in page, then open this invitation again. Without mail from this server, ask its operator.'
const invalidInvitation = () => new Refusal('unauthorized', 'This invitation has expired or was already used.')
