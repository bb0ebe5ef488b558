import type { Invitation } from '../../model/invitation.ts'
import type { User } from '../../model/user.ts'
import type { Page, RecordsRequest } from './paging.ts'

/** Invitations to organizations. Tokens are passed as SHA-256. */
export interface Invitations {
  /** Adds an invitation with two links, of which one can be used, and replaces an earlier one of the same address.
   *  `too_many` beyond MAX_INVITATIONS. */
  create(invitation: Invitation, links: InvitationLinks): Promise<'created' | 'too_many'>
  get(id: string): Promise<Invitation | null>
  /** Invitations that have not expired, newest first. */
  list(organizationId: string, now: number, page: RecordsRequest): Promise<Page<Invitation>>
  remove(id: string): Promise<void>
  /** `isProof`: it is the link that was sent. Null for a link that does not exist or has expired. */
  find(tokenHash: Uint8Array, now: number): Promise<{ invitation: Invitation; isProof: boolean } | null>
  /** Uses the link, in one transaction: creates the user with the role. `unknown` if the link is not valid any more,
   *  `email_taken` if the account exists meanwhile, `too_many` beyond MAX_ROLES; then nothing changes. */
  accept(
    tokenHash: Uint8Array,
    user: User,
    passwordHash: string,
  ): Promise<'accepted' | 'unknown' | 'email_taken' | 'too_many'>
  /** Uses the link for an existing user: adds the role, but never lowers `owner`. More rights than before end the user's
   *  sessions. `too_many` beyond MAX_ROLES. */
  join(tokenHash: Uint8Array, userId: string, now: number): Promise<'accepted' | 'unknown' | 'too_many'>
}

export interface InvitationLinks {
  /** Of the link that whoever invited sees. */
  shown: Uint8Array
  /** Of the link that only the address gets. */
  mailed: Uint8Array
}
