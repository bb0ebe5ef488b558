import type { Role, User } from '../../model/user.ts'
import type { Page, RecordsRequest } from './paging.ts'

/** People who sign in, with their roles and passwords. Passwords are passed as slow hashes, addresses folded. There is
 *  no cache: a change holds for the next request on every node. At least one enabled operator always remains. */
export interface Users {
  create(user: User, passwordHash: string | null): Promise<'created' | 'email_taken'>
  get(id: string): Promise<User | null>
  findByEmail(email: string): Promise<User | null>
  /** Enabled operators, oldest first, at most 100. There is always one. */
  operators(): Promise<User[]>
  /** The only user of the installation; null if there are several. */
  only(): Promise<User | null>
  /** Newest first; `organizationId`: only those with a role in it. */
  list(organizationId: string | null, page: RecordsRequest): Promise<Page<User>>
  /** Changes the given fields. Disabling ends the user's sessions and deletes password resets. */
  update(id: string, change: UserChange): Promise<'updated' | 'unknown' | 'email_taken' | 'last_operator'>
  /** Sets the role in an organization; null removes it, and the user if no role is left. `mayRemoveLastOwner`: else the
   *  last enabled owner of the organization stays owner. `too_many` beyond MAX_ROLES. */
  setRole(
    id: string,
    organizationId: string,
    role: Role | null,
    mayRemoveLastOwner: boolean,
  ): Promise<'updated' | 'unknown' | 'last_owner' | 'too_many'>
  /** Deletes the user with roles, sessions and password resets. */
  remove(id: string): Promise<'removed' | 'unknown' | 'last_operator'>
  /** Null if there is none, or no such user. */
  passwordHash(id: string): Promise<string | null>
  /** Sets the password hash (null: removes it), deletes password resets, and ends every session of the user except
   *  `keep`. */
  setPassword(id: string, hash: string | null, keep: string | null): Promise<void>
  /** Adds a link that sets the password, and deletes earlier ones of the user. */
  addReset(reset: PasswordReset): Promise<void>
  /** ID of the user of a link; null if it does not exist, has expired, or the user is disabled. */
  userOfReset(tokenHash: Uint8Array, now: number): Promise<string | null>
  /** Uses the link: sets the password hash and ends every session of its user, in one transaction. Resolves with the
   *  user's ID; null for a link that is not valid. */
  useReset(tokenHash: Uint8Array, hash: string, now: number): Promise<string | null>
}

/** A link that sets a password once. */
export interface PasswordReset {
  tokenHash: Uint8Array
  userId: string
  createdAt: number
  expiresAt: number
}

export type UserChange = Partial<Pick<User, 'email' | 'name' | 'isOperator' | 'disabledAt'>>
