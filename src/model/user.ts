/** A person who signs in to the dashboard. */
export interface User {
  /** `usr_…`, or FIRST_USER. */
  id: string
  /** Folded (foldedEmail); unique. Null for the first user until an address is set. */
  email: string | null
  name: string
  /** Operator of the installation: all operations on all organizations. */
  isOperator: boolean
  /** Roles in organizations, by organization ID. An operator needs none. */
  roles: Readonly<Record<string, Role>>
  createdAt: number
  /** When the account was disabled; null while it can be used. */
  disabledAt: number | null
  lastSeenAt: number | null
}

/** The user that every installation begins with: the operator. Sessions that an earlier version opened belong to it. */
export const FIRST_USER = 'usr_00000000000000000000000000'

/** Roles in an organization, from most to fewest rights. src/api/roles.ts lists the operations of each. */
export const ROLES = ['owner', 'admin', 'developer', 'support', 'viewer'] as const
export type Role = (typeof ROLES)[number]

/** Maximum number of users in an organization, and of organizations of a user: enough for any company, and few enough to
 *  read with each request. */
export const MAX_ROLES = 500

/** Email address → the form in which it is stored and compared. Two accounts that differ in case only would be
 *  confused. */
export function foldedEmail(email: string): string {
  return email.normalize('NFC').toLowerCase()
}
