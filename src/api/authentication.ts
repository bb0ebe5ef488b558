import type { ApiKey } from '../model/api-key.ts'
import { Refusal } from '../model/refusal.ts'
import type { Session } from '../model/session.ts'
import type { ClientAddress } from '../net/client-address.ts'
import type { WallClock } from '../os/clock.ts'
import type { Origin } from './audit.ts'
import type { Auth } from './auth.ts'
import { isOperator } from './operator.ts'
import type { OperatorSessions } from './sessions.ts'

/** Who sent a request: an API key, or the operator in a dashboard session. */
export interface Caller {
  key: ApiKey
  session: Session | null
}

export interface Authentication {
  /** Throws `unauthorized`, or what sessions.ts throws for a request that another site made. */
  authenticate(request: Request, now: number): Caller
  /** Whether the same request would be authenticated now: its key may have been revoked or have expired meanwhile. Throws
   *  what the store throws. */
  isStillValid(request: Request): boolean
  /** The caller as the audit log names it. */
  originOf(request: Request, key: ApiKey): Origin
}

export interface AuthenticationDeps {
  auth: Pick<Auth, 'authenticate'>
  sessions: OperatorSessions
  /** Whether the operator can sign in with a browser. */
  hasSessions: boolean
  clientAddress: ClientAddress
  /** Remote address of a request's connection; null without a socket. */
  peerOf: (request: Request) => string | null
  clock: WallClock
}

export function createAuthentication(deps: AuthenticationDeps): Authentication {
  const { auth, sessions, hasSessions, clientAddress, peerOf, clock } = deps
  const addressOf = (request: Request) => clientAddress(peerOf(request), request.headers.get('x-forwarded-for'))

  const authenticate = (request: Request, now: number): Caller => {
    const session = hasSessions ? sessions.of(request, now) : null
    if (session !== null) return { key: sessions.keyOf(request, now), session }
    const authorization = request.headers.get('authorization')
    return { key: auth.authenticate(authorization, now, () => addressOf(request)), session: null }
  }

  return {
    authenticate,
    isStillValid: (request) => {
      try {
        authenticate(request, clock.now())
        return true
      } catch (thrown) {
        if (thrown instanceof Refusal) return false
        throw thrown
      }
    },
    originOf: (request, key) => ({
      actor: isOperator(key)
        ? { type: 'operator', id: key.id, name: 'dashboard' }
        : { type: 'api_key', id: key.id, name: key.name },
      ipAddress: addressOf(request) || null,
    }),
  }
}
