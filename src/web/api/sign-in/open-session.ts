import { cutText } from '../../../mail/cut-text.ts'
import { LONGEST_MS, type Session, sessionEnd } from '../../../model/session.ts'
import type { User } from '../../../model/user.ts'
import { hashToken, mintSessionToken, SECURE_PREFIX, SESSION_COOKIE } from '../sessions.ts'
import { json, type SignInContext } from './context.ts'
import { describeSession } from './describe.ts'
import { knownCookie } from './known-client.ts'

/** A user who proved who they are. */
export interface Proved {
  user: User
  /** Fields of the request, for the audit entry. */
  fields: string[]
  /** Also valid where users sign in with single sign-on only. */
  overridesOnly?: boolean
  /** Stores the session, and uses up the proof in the same transaction. Resolves with false, and stores nothing, if the
   *  proof is not valid any more. */
  store(session: Session, tokenHash: Uint8Array): Promise<boolean>
}

/** Opens a session: every way of signing in ends here. One transaction stores the session, uses up the proof and adds the
 *  audit entry. Resolves with 201, the session and its cookie; null if the proof is not valid any more. */
export async function openSession(
  context: SignInContext,
  request: Request,
  address: string,
  { user, fields, overridesOnly = false, store }: Proved,
): Promise<Response | null> {
  if (!overridesOnly) context.requirePasswords()
  const { clock, random, mintId, log, ownOrigin } = context
  const now = clock.now()
  const token = mintSessionToken(random)
  const session: Session = {
    id: mintId('ses'),
    userId: user.id,
    createdAt: now,
    lastSeenAt: now,
    endsAt: sessionEnd(now, now),
    ipAddress: address || null,
    userAgent: cutText(request.headers.get('user-agent') ?? '', 500),
  }
  const facts = { action: 'sessions_create', user, resourceId: session.id, address, fields }
  if (!(await context.audited(facts, () => store(session, hashToken(token))))) return null
  log.info('signed in', { session_id: session.id, user_id: user.id, ip_address: address })
  const headers = { 'set-cookie': sessionCookie(token, MOST_SECONDS, ownOrigin.isSecure(request)) }
  const response = json(await describeSession(context, { session, user }), headers, 201)
  response.headers.append('set-cookie', await knownCookie(context, user, ownOrigin.isSecure(request)))
  return response
}

/** Token and lifetime → the `Set-Cookie` header; a lifetime of 0 removes the cookie. */
export function sessionCookie(token: string, maxAgeSeconds: number, isSecure: boolean): string {
  const value = `${SESSION_COOKIE}=${token}; Path=/; HttpOnly; SameSite=Strict; Max-Age=${maxAgeSeconds}`
  return isSecure ? `${SECURE_PREFIX}${value}; Secure` : value
}

const MOST_SECONDS = LONGEST_MS / 1000
