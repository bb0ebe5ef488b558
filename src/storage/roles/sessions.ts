import type { SignInProof } from '../../model/factors.ts'
import type { Session } from '../../model/session.ts'
import type { Page, RecordsRequest } from './paging.ts'

/** Sign-in: sessions of users, and links of operators that work once. Tokens are passed as SHA-256. */
export interface Sessions {
  addLink(link: { tokenHash: Uint8Array; userId: string; createdAt: number; expiresAt: number }): Promise<void>
  /** ID of the operator of a link: the oldest one for a link of an earlier version. Null if the link does not exist or has
   *  expired, or if its user is no enabled operator any more. */
  userOfLink(linkHash: Uint8Array, now: number): Promise<string | null>
  /** Uses the link and opens the session in one transaction. `unknown` for a link that does not exist, was used, has
   *  expired, or belongs to another user. */
  openByLink(linkHash: Uint8Array, session: Session, tokenHash: Uint8Array): Promise<'opened' | 'unknown'>
  open(session: Session, tokenHash: Uint8Array): Promise<void>
  /** Uses up the proof and opens the session in one transaction. False, without a change, if the proof is not valid any
   *  more: it was used, the challenge has expired, the password was changed, or the user is disabled. */
  openByProof(proof: SignInProof, session: Session, tokenHash: Uint8Array): Promise<boolean>
  /** Also one that has ended. */
  findByToken(tokenHash: Uint8Array): Promise<Session | null>
  get(id: string): Promise<Session | null>
  /** Sessions that have not ended, newest first; `userId`: only those of that user. */
  list(now: number, page: RecordsRequest, userId?: string): Promise<Page<Session>>
  /** Stores when sessions and their users were last seen, and the new expiry; sessions that have ended stay ended. */
  recordSeen(seen: { id: string; at: number; endsAt: number }[]): Promise<void>
  /** Ends a session permanently. */
  end(id: string): Promise<void>
  /** Ends every session of a user except `keep`. */
  endOf(userId: string, keep: string | null): Promise<void>
  /** Deletes at most `limit` links, as many sessions that ended before `before`, and as many sign-ins that were not
   *  completed; returns the number deleted. */
  prune(before: number, limit: number): Promise<number>
}
