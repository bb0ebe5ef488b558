import type { Invitation } from '../../model/invitation.ts'
import type { User } from '../../model/user.ts'
import type { Page, RecordsRequest } from './paging.ts'

/** Invitations to organizations. Tokens are passed as SHA-256. */
export interface Invitations {
  /** Adds an invitation, and replaces an earlier one of the same address. `too_many` beyond MAX_INVITATIONS. */
  create(invitation: Invitation, tokenHash: Uint8Array): Promise<'created' | 'too_many'>
  get(id: string): Promise<Invitation | null>
  /** Invitations that have not expired, newest first. */
  list(organizationId: string, now: number, page: RecordsRequest): Promise<Page<Invitation>>
  remove(id: string): Promise<void>
  /** Null for a link that does not exist or has expired. */
  find(tokenHash: Uint8Array, now: number): Promise<Invitation | null>
  /** Uses the link, in one transaction: creates the user with the role. `unknown` if the link is not valid any more,
   *  `email_taken` if the account exists meanwhile, `too_many` beyond MAX_ROLES; then nothing changes. */
  accept(
    tokenHash: Uint8Array,
    user: User,
    passwordHash: string,
  ): Promise<'accepted' | 'unknown' | 'email_taken' | 'too_many'>
  /** Uses the link for an existing user: adds the role, but never lowers `owner`. `too_many` beyond MAX_ROLES. */
  join(tokenHash: Uint8Array, userId: string, now: number): Promise<'accepted' | 'unknown' | 'too_many'>
}
