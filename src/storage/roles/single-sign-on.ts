import type { Role, User } from '../../model/user.ts'

/** Sign-in with accounts of an OpenID Connect provider. */
export interface SingleSignOn {
  /** Adds a sign-in that was sent to the provider; hashes are SHA-256. */
  addRequest(request: SignOnRequest): Promise<void>
  /** Uses the request up. False if it does not exist, has expired, was used, or belongs to another browser; then it stays
   *  as it is. */
  takeRequest(stateHash: Uint8Array, browserHash: Uint8Array, now: number): Promise<boolean>
  /** The user of an account; null for one that never signed in. */
  userOf(issuer: string, subject: string): Promise<User | null>
  /** Lets the account sign in as an existing user. False if it belongs to a user already, if another account of the
   *  provider does so, or if the user does not exist. */
  link(identity: Identity, userId: string): Promise<boolean>
  /** Creates the user and the link to the account. */
  create(user: User, identity: Identity): Promise<'created' | 'taken' | 'too_many'>
  /** Replaces all roles of the user. More rights in effect than before end the sessions. `last_operator`: the user is the last enabled operator and would not be one any more.
   *  Ends the sessions of a user who is no operator any more, or has no role left. Nothing changes but for `updated`. */
  setAccess(userId: string, access: Access): Promise<'updated' | 'unknown' | 'last_operator' | 'too_many'>
}

export interface SignOnRequest {
  stateHash: Uint8Array
  browserHash: Uint8Array
  expiresAt: number
}

/** An account of a provider, by what its ID tokens say. */
export interface Identity {
  issuer: string
  subject: string
  createdAt: number
}

export interface Access {
  isOperator: boolean
  /** By organization ID. */
  roles: Readonly<Record<string, Role>>
}
