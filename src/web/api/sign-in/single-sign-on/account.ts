import { cutText } from '../../../../mail/cut-text.ts'
import { foldedEmail, isVerified, type User, userWith } from '../../../../model/user.ts'
import type { Access, Store } from '../../../../storage/store.ts'
import type { SignInContext } from '../context.ts'
import type { Claims } from './provider.ts'
import { accessOf, valuesOf } from './roles.ts'
import type { SignOnFault, SingleSignOnOptions } from './settings.ts'

/** Claims of a checked ID token → the user who signs in, with the roles that the claim gives. An account that signed in
 *  before is found by issuer and subject; at the first time by its address, if the provider verified it or the operator
 *  trusts it. If nobody has verified the address before, whatever else signs in to the account ends first, because
 *  somebody else may have made it. `now`: ms UTC. */
export async function userOfClaims(
  { store, mintId, audited }: Pick<SignInContext, 'store' | 'mintId' | 'audited'>,
  { rolesClaim, roles, trustEmail }: Pick<SingleSignOnOptions, 'rolesClaim' | 'roles' | 'trustEmail'>,
  claims: Claims,
  { now, address }: { now: number; address: string },
): Promise<User | SignOnFault> {
  const { users, singleSignOn } = store
  if (!isSubject(claims.sub)) return 'invalid'
  const isMapped = rolesClaim !== ''
  const access = isMapped ? await accessOf(valuesOf(claims, rolesClaim), roles, store.organizations) : null
  const identity = { issuer: claims.iss, subject: claims.sub, createdAt: now }
  const email = emailOf(claims)
  /** Before the user gets more: ends what others may have set up. */
  const claimed = async (user: User): Promise<User> => {
    if (isVerified(user)) return user
    const facts = { action: 'users_clear', user, isUnproved: true, resourceId: user.id, address, fields: ['password'] }
    await audited(facts, () => users.clear(user.id, { proved: { passwordHash: null }, now }))
    return (await users.get(user.id)) ?? user
  }
  const known = await singleSignOn.userOf(identity.issuer, identity.subject)
  if (known !== null) {
    // The account of the provider is the user's, whatever it says of the address; roles may wait for that.
    const isProved = known.disabledAt === null && known.email === email && isOwner(claims, trustEmail)
    return granted(store, isProved ? await claimed(known) : known, isMapped, access)
  }

  const user = email === null ? null : await users.findByEmail(email)
  if (user !== null && !isOwner(claims, trustEmail)) return 'unverified'
  if (isMapped && access === null) return 'no_role'
  if (user !== null) {
    if (user.disabledAt !== null) return 'disabled'
    // Another account of the provider may have had the address before, and is still linked.
    const isLinked = await singleSignOn.link(identity, user.id)
    return isLinked ? granted(store, await claimed(user), isMapped, access) : 'other_account'
  }
  if (access === null) return 'no_account'
  if (email === null) return 'no_email'
  // The roles would not come into effect.
  if (!isOwner(claims, trustEmail)) return 'unverified'
  const account = {
    id: mintId('usr'),
    email,
    emailVerifiedAt: now,
    invitedTo: null,
    name: nameOf(claims, email),
    createdAt: now,
    disabledAt: null,
    lastSeenAt: null,
  }
  const created = userWith(account, access)
  const result = await singleSignOn.create(created, identity)
  if (result === 'created') return created
  return result === 'too_many' ? 'too_many' : 'invalid'
}

/** Sets the roles of the claim, also none, so that a role that it no longer gives ends. */
async function granted(
  { users, singleSignOn }: Pick<Store, 'users' | 'singleSignOn'>,
  user: User,
  isMapped: boolean,
  access: Access | null,
): Promise<User | SignOnFault> {
  if (user.disabledAt !== null) return 'disabled'
  if (!isMapped) return user
  const result = await singleSignOn.setAccess(user.id, access ?? { isOperator: false, roles: {} })
  if (result === 'last_operator' || result === 'too_many') return result
  if (access === null) return 'no_role'
  return (result === 'updated' ? await users.get(user.id) : null) ?? 'no_account'
}

/** Whether the address of the account belongs to its holder. Some providers leave `email_verified` out and let people
 *  enter any address; some send it as text (OpenID Connect Core 1.0 §5.1 has a boolean). */
function isOwner({ email_verified: verified }: Claims, trustEmail: boolean): boolean {
  if (verified === undefined) return trustEmail
  return verified === true || verified === 'true'
}

/** OpenID Connect Core 1.0 §2 has at most 255 ASCII characters. An empty subject would be everybody's. */
function isSubject(sub: unknown): boolean {
  return typeof sub === 'string' && sub.length > 0 && sub.length <= 255
}

const MOST_EMAIL = 320
const MOST_NAME = 100

function emailOf({ email }: Claims): string | null {
  if (typeof email !== 'string' || email.length > MOST_EMAIL || !/^[^\s@]+@[^\s@]+$/.test(email)) return null
  return foldedEmail(email)
}

function nameOf({ name }: Claims, email: string): string {
  const given = typeof name === 'string' ? cutText(name.replace(/[\x00-\x1f\x7f]/g, ' ').trim(), MOST_NAME) : ''
  return given === '' ? (email.split('@', 1)[0] ?? email) : given
}
