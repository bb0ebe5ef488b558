import type { Role, User, UserChange } from '../../model/user.ts'
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
  /** Changes the given fields. A changed address is not verified. Disabling ends the user's sessions and deletes password
   *  resets; the role of operator, once in effect, ends the sessions too. */
  update(id: string, change: UserChange): Promise<'updated' | 'unknown' | 'email_taken' | 'last_operator'>
  /** Sets the role in an organization; null removes it, and the user if no role is left. The user's keys note the role that
   *  was removed (ApiKey.makerRole). `mayRemoveLastOwner`: else the
   *  last enabled owner of the organization stays owner. `too_many` beyond MAX_ROLES. More rights in effect than before
   *  end the user's sessions. */
  setRole(
    id: string,
    organizationId: string,
    role: Role | null,
    mayRemoveLastOwner: boolean,
  ): Promise<'updated' | 'unknown' | 'last_owner' | 'too_many'>
  /** Deletes the user with roles, sessions and password resets. The user's keys note the last role (ApiKey.makerRole). */
  remove(id: string): Promise<'removed' | 'unknown' | 'last_operator'>
  /** Null if there is none, or no such user. */
  passwordHash(id: string): Promise<string | null>
  /** Sets the password hash (null: removes it), deletes password resets, and ends every session of the user except
   *  `keep`. */
  setPassword(id: string, hash: string | null, keep: string | null): Promise<void>
  /** Replaces the password that a session was confirmed with, as setPassword does. False, without a change, if it is not
   *  the password any more or the session has ended: between the two, the account may have got another owner. */
  changePassword(id: string, change: { from: string | null; to: string; sessionId: string }): Promise<boolean>
  /** Adds links that set the password, and deletes earlier ones of the user. Of several, one can be used. */
  addResets(resets: readonly PasswordReset[]): Promise<void>
  /** The link; null if it does not exist, has expired, or the user is disabled. */
  reset(tokenHash: Uint8Array, now: number): Promise<Pick<PasswordReset, 'userId' | 'isProof'> | null>
  /** Uses the link: sets the password hash, ends every session of its user, and removes passkeys and second factors that
   *  were added at `removesSince` or later (null: none). A proof verifies the address. One transaction. Resolves with the
   *  user's ID; null for a link that is not valid. */
  useReset(
    tokenHash: Uint8Array,
    use: { hash: string; removesSince: number | null; now: number },
  ): Promise<string | null>
  /** Marks the address as verified, unless it is. */
  verify(id: string, now: number): Promise<void>
  /** Before an account whose address nobody has verified gets rights beyond the organization that invited it: ends
   *  everything that somebody else may have set up to sign in with, which is password, links, second factors, passkeys and
   *  sessions. In the same transaction, `proved` marks the address as verified and sets the password of the person who
   *  proved it (null: none); without it, the rights wait. Keys stay: they belong to the organization that invited, whose
   *  owners see them. Operators get an alert (events/alerts/sources.ts). Twice is harmless. */
  clear(id: string, how: { proved: { passwordHash: string | null } | null; now: number }): Promise<void>
  /** Users with rights that wait for a verified address, oldest first, at most 100. */
  waiting(): Promise<User[]>
  /** Users who had something to sign in with that was cleared after that, newest first, at most 100. */
  cleared(since: number): Promise<{ user: User; at: number }[]>
}

/** A link that sets a password once. */
export interface PasswordReset {
  tokenHash: Uint8Array
  userId: string
  /** Whoever uses it reads the mail of the address, or was given the link by the operator at the console. */
  isProof: boolean
  createdAt: number
  expiresAt: number
}
