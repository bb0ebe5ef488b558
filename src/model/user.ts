/** A person who signs in to the dashboard. */
export interface User {
  /** `usr_…`, or FIRST_USER. */
  id: string
  /** Folded (foldedEmail); unique. Null for the first user until an address is set. */
  email: string | null
  /** When the mailbox, the console of the server, or a single sign-on provider proved that the address is the user's.
   *  Null: whoever was shown a link may have made the account. */
  emailVerifiedAt: number | null
  /** The organization that invited the user: the only one in which a role is in effect while the address is not verified.
   *  Null: none. */
  invitedTo: string | null
  name: string
  /** Operator of the installation: all operations on all organizations. */
  isOperator: boolean
  /** Roles in organizations, by organization ID. An operator needs none. */
  roles: Readonly<Record<string, Role>>
  /** Granted, and in effect once the address is verified. */
  awaiting: Grants
  createdAt: number
  /** When the account was disabled; null while it can be used. */
  disabledAt: number | null
  lastSeenAt: number | null
}

export interface Grants {
  isOperator: boolean
  /** By organization ID. */
  roles: Readonly<Record<string, Role>>
}

export const NO_GRANTS: Grants = { isOperator: false, roles: {} }

/** An account with what was granted to it → the user with what of that is in effect. FIRST_USER was made at the console,
 *  so that an address which the operator enters later needs no proof. */
export function userWith(account: Omit<User, 'isOperator' | 'roles' | 'awaiting'>, granted: Grants): User {
  if (isVerified(account)) {
    return { ...account, ...granted, awaiting: NO_GRANTS }
  }
  const isHome = ([organizationId]: [string, Role]) => organizationId === account.invitedTo
  const roles = Object.entries(granted.roles)
  return {
    ...account,
    isOperator: false,
    roles: Object.fromEntries(roles.filter(isHome)),
    awaiting: {
      isOperator: granted.isOperator,
      roles: Object.fromEntries(roles.filter((each) => !isHome(each))),
    },
  }
}

/** True unless somebody else may have made the account. */
export function isVerified({ id, emailVerifiedAt }: Pick<User, 'id' | 'emailVerifiedAt'>): boolean {
  return emailVerifiedAt !== null || id === FIRST_USER
}

/** All that was granted to a user, in effect or not. */
export function grantsOf({ isOperator, roles, awaiting }: Pick<User, 'isOperator' | 'roles' | 'awaiting'>): Grants {
  return { isOperator: isOperator || awaiting.isOperator, roles: { ...awaiting.roles, ...roles } }
}

/** The user that every installation begins with: the operator. */
export const FIRST_USER = 'usr_00000000000000000000000000'

/** Roles in an organization, from most to fewest rights. The `access` of an operation names the least one. */
export const ROLES = ['owner', 'admin', 'developer', 'support', 'viewer'] as const
export type Role = (typeof ROLES)[number]

/** A user after a change of the account. A new address is not verified, unless the change says so. */
export function userAfter(present: User, change: UserChange): User {
  const { isOperator, roles } = grantsOf(present)
  const isNewAddress = change.email !== undefined && change.email !== present.email
  const emailVerifiedAt = change.emailVerifiedAt ?? (isNewAddress ? null : present.emailVerifiedAt)
  return userWith({ ...present, ...change, emailVerifiedAt }, { isOperator: change.isOperator ?? isOperator, roles })
}

export type UserChange = Partial<Pick<User, 'email' | 'emailVerifiedAt' | 'name' | 'isOperator' | 'disabledAt'>>

/** True if more is in effect for the user than before. */
export function gains(before: User, after: User): boolean {
  if (after.isOperator && !before.isOperator) return true
  return Object.entries(after.roles).some(([organizationId, role]) => {
    const held = before.roles[organizationId]
    return held === undefined || ROLES.indexOf(role) < ROLES.indexOf(held)
  })
}

/** Maximum number of users in an organization, and of organizations of a user: enough for any company, and few enough to
 *  read with each request. */
export const MAX_ROLES = 500

/** Email address → the form in which it is stored and compared. Two accounts that differ in case only would be
 *  confused. */
export function foldedEmail(email: string): string {
  return email.normalize('NFC').toLowerCase()
}
