import { foldedEmail, type User } from '../../../model/user.ts'
import type { MintId } from '../../../os/ids.ts'
import type { Access, Store } from '../../../storage/store.ts'
import type { Claims } from './provider.ts'
import { accessOf, valuesOf } from './roles.ts'
import type { SignOnFault, SingleSignOnOptions } from './settings.ts'

interface AccountDeps {
  store: Pick<Store, 'users' | 'singleSignOn' | 'organizations'>
  mintId: MintId
}

/** Claims of a checked ID token → the user who signs in, with the roles that the claim gives. An account that signed in
 *  before is found by issuer and subject; at the first time by its address, if the provider verified it or the operator
 *  trusts it. `now`: ms UTC. */
export async function userOfClaims(
  { store, mintId }: AccountDeps,
  { rolesClaim, roles, trustEmail }: Pick<SingleSignOnOptions, 'rolesClaim' | 'roles' | 'trustEmail'>,
  claims: Claims,
  now: number,
): Promise<User | SignOnFault> {
  const { users, singleSignOn } = store
  const isMapped = rolesClaim !== ''
  const access = isMapped ? await accessOf(valuesOf(claims, rolesClaim), roles, store.organizations) : null
  const identity = { issuer: claims.iss, subject: claims.sub, createdAt: now }
  const known = await singleSignOn.userOf(identity.issuer, identity.subject)
  if (known !== null) return granted(store, known, isMapped, access)

  const email = emailOf(claims)
  const user = email === null ? null : await users.findByEmail(email)
  if (user !== null && !isOwner(claims, trustEmail)) return 'unverified'
  if (isMapped && access === null) return 'no_role'
  if (user !== null) {
    if (user.disabledAt !== null) return 'disabled'
    // Another sign-in of the same account may have linked it meanwhile.
    const isLinked = await singleSignOn.link(identity, user.id)
    return isLinked ? granted(store, user, isMapped, access) : 'invalid'
  }
  if (access === null) return 'no_account'
  if (email === null) return 'no_email'
  const created: User = {
    id: mintId('usr'),
    email,
    name: nameOf(claims, email),
    ...access,
    createdAt: now,
    disabledAt: null,
    lastSeenAt: null,
  }
  const result = await singleSignOn.create(created, identity)
  if (result === 'created') return created
  return result === 'too_many' ? 'too_many' : 'invalid'
}

/** Sets the roles of the claim, also none, so that a role that it no longer gives ends. */
async function granted(
  { users, singleSignOn }: AccountDeps['store'],
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

const MOST_EMAIL = 320
const MOST_NAME = 100

function emailOf({ email }: Claims): string | null {
  if (typeof email !== 'string' || email.length > MOST_EMAIL || !/^[^\s@]+@[^\s@]+$/.test(email)) return null
  return foldedEmail(email)
}

function nameOf({ name }: Claims, email: string): string {
  const given =
    typeof name === 'string'
      ? name
          .replace(/[\x00-\x1f\x7f]/g, ' ')
          .trim()
          .slice(0, MOST_NAME)
      : ''
  return given === '' ? (email.split('@', 1)[0] ?? email) : given
}
