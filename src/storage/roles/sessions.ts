import type { Session } from '../../model/session.ts'
import type { Page, RecordsRequest } from './paging.ts'

/** How the operator of the appliance gets in: links that open once, sessions, and perhaps a password. Tokens come as
 *  SHA-256, the password as a hash that took its time. */
export interface Sessions {
  addLink(link: { tokenHash: Uint8Array; createdAt: number; expiresAt: number }): Promise<void>
  /** Uses the link up and opens the session, both or neither. `unknown` for a link that never was, was used or has
   *  expired, alike. */
  openByLink(linkHash: Uint8Array, session: Session, tokenHash: Uint8Array): Promise<'opened' | 'unknown'>
  open(session: Session, tokenHash: Uint8Array): Promise<void>
  /** Also one that has ended. Synchronous: asked for at every request. */
  findByToken(tokenHash: Uint8Array): Session | null
  get(id: string): Promise<Session | null>
  /** Those that have not ended, newest first. */
  list(now: number, page: RecordsRequest): Promise<Page<Session>>
  /** When sessions were last seen, and when they end now; what has ended meanwhile stays so. */
  recordSeen(seen: { id: string; at: number; endsAt: number }[]): Promise<void>
  /** Ends a session for good. */
  end(id: string): Promise<void>
  /** Null where there is none. */
  passwordHash(): Promise<string | null>
  /** Sets it (null: takes it away), and ends every session but `keep`. */
  setPassword(hash: string | null, keep: string | null, now: number): Promise<void>
  /** Forgets at most `limit` links and as many sessions that ended before `before`; answers how many went. */
  prune(before: number, limit: number): Promise<number>
}
