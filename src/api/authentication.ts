import { hash } from 'node:crypto'
import { type ApiKey, keyFault } from '../model/api-key.ts'
import type { Mode } from '../model/message.ts'
import { Refusal } from '../model/refusal.ts'
import type { Session } from '../model/session.ts'
import type { ClientAddress } from '../net/client-address.ts'
import { createNetworks } from '../net/ip.ts'
import type { WallClock } from '../os/clock.ts'
import type { Random } from '../os/random.ts'
import type { Store } from '../storage/store.ts'
import type { Origin } from './audit.ts'
import { base62 } from './base62.ts'
import { isOperator } from './operator.ts'
import type { OperatorSessions } from './sessions.ts'

/** Sender of a request: an API key, or the operator in a dashboard session. */
export interface Caller {
  key: ApiKey
  session: Session | null
}

export interface Authentication {
  /** Rejects with `unauthorized`, or what sessions.ts throws for a cross-site request. */
  authenticate(request: Request, now: number): Promise<Caller>
  /** Whether the same request would be authenticated now: its key may have been revoked or have expired meanwhile.
   *  Rejects with what the store throws. */
  isStillValid(request: Request): Promise<boolean>
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

  const authenticate = async (request: Request, now: number): Promise<Caller> => {
    const session = hasSessions ? await sessions.of(request, now) : null
    if (session !== null) return { key: sessions.keyOf(request, now), session }
    const authorization = request.headers.get('authorization')
    return { key: auth.authenticate(authorization, now, () => addressOf(request)), session: null }
  }

  return {
    authenticate,
    isStillValid: async (request) => {
      try {
        await authenticate(request, clock.now())
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

export interface Auth {
  /** `Authorization` header → the API key. Throws 401 with the same message for every cause, so that guessing reveals
   *  nothing: no header, another scheme, a malformed, unknown, revoked or expired key, or an address outside its
   *  networks. `addressOf` returns the client address (net/client-address.ts) and is called only for keys with
   *  networks. */
  authenticate(authorization: string | null, now: number, addressOf: () => string): ApiKey
  /** Stores the last use of keys since the previous call. Retries with the next call if it fails; never rejects. */
  flushUses(): Promise<void>
}

/** Key store → Auth. One hash and one lookup per request, without a cache of its own: a revoked key is rejected
 *  immediately. */
export function createAuth({ snapshot, apiKeys }: Pick<Store, 'snapshot' | 'apiKeys'>): Auth {
  let uses = new Map<string, number>()

  return {
    authenticate(authorization, now, addressOf) {
      const value = presentedKey(authorization)
      const key = value === null ? null : snapshot.apiKeyBySecret(hashKeyValue(value))
      if (key === null || keyFault(key, now) !== null) throw unauthorized()
      if (key.allowedNetworks !== null && !isUsableFrom(key, addressOf())) throw unauthorized()
      uses.set(key.id, now)
      return key
    },

    async flushUses() {
      if (uses.size === 0) return
      const written = uses
      uses = new Map()
      try {
        await apiKeys.recordUse([...written].map(([id, at]) => ({ id, at })))
      } catch {
        for (const [id, at] of written) if (!uses.has(id)) uses.set(id, at)
      }
    },
  }
}

/** True if the key may be used from this address (net/client-address.ts). '' = unknown, which a key with networks
 *  rejects. */
export function isUsableFrom(key: ApiKey, address: string): boolean {
  if (key.allowedNetworks === null) return true
  let contains = networksOf.get(key.allowedNetworks)
  if (contains === undefined) {
    contains = createNetworks(key.allowedNetworks)
    networksOf.set(key.allowedNetworks, contains)
  }
  return contains(address)
}

/** The store caches the key objects, so each list is parsed once. */
const networksOf = new WeakMap<string[], (ip: string) => boolean>()

/** Key value → the SHA-256 that is stored. The value has enough entropy to need no salt. */
export function hashKeyValue(value: string): Uint8Array {
  return hash('sha256', value, 'buffer')
}

/** A new key value: `svc_live_` or `svc_test_` and 40 characters of base62, 238 bits of entropy. */
export function mintKeyValue(mode: Mode, random: Random): string {
  return `svc_${mode}_${base62(RANDOM_CHARACTERS, random)}`
}

/** The first characters of a key value, shown in lists to identify the key. */
export function keyPrefix(value: string): string {
  return value.slice(0, 16)
}

const RANDOM_CHARACTERS = 40
// RFC 6750 §2.1, restricted to our key format; scheme names are case-insensitive (RFC 9110 §11.1).
const PRESENTED = /^[Bb][Ee][Aa][Rr][Ee][Rr] +(svc_(?:live|test)_[0-9A-Za-z]{1,200})$/

function presentedKey(authorization: string | null): string | null {
  return authorization === null ? null : (PRESENTED.exec(authorization)?.[1] ?? null)
}

/** 401, the same for every cause. */
export function unauthorized(): Refusal {
  return new Refusal('unauthorized', 'Missing or invalid API key. Send the header Authorization: Bearer svc_…')
}
