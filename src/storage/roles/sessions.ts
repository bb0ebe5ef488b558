import type { Session } from '../../model/session.ts'
import type { Page, RecordsRequest } from './paging.ts'

/** Sign-in of the operator: links that work once, sessions, and an optional password. Tokens are passed as SHA-256,
 *  the password as a slow hash. */
export interface Sessions {
  addLink(link: { tokenHash: Uint8Array; createdAt: number; expiresAt: number }): Promise<void>
  /** Uses the link and opens the session in one transaction. `unknown` for a link that does not exist, was used or
   *  has expired. */
  openByLink(linkHash: Uint8Array, session: Session, tokenHash: Uint8Array): Promise<'opened' | 'unknown'>
  open(session: Session, tokenHash: Uint8Array): Promise<void>
  /** Also one that has ended. */
  findByToken(tokenHash: Uint8Array): Promise<Session | null>
  get(id: string): Promise<Session | null>
  /** Sessions that have not ended, newest first. */
  list(now: number, page: RecordsRequest): Promise<Page<Session>>
  /** Stores when sessions were last used, and their new expiry; sessions that have ended stay ended. */
  recordSeen(seen: { id: string; at: number; endsAt: number }[]): Promise<void>
  /** Ends a session permanently. */
  end(id: string): Promise<void>
  /** Null if no password is set. */
  passwordHash(): Promise<string | null>
  /** Sets the password hash (null: removes it), and ends every session except `keep`. */
  setPassword(hash: string | null, keep: string | null, now: number): Promise<void>
  /** Deletes at most `limit` links and as many sessions that ended before `before`; returns the number deleted. */
  prune(before: number, limit: number): Promise<number>
}
