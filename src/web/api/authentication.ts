import { hash } from 'node:crypto'
import { type ApiKey, keyFault } from '../../model/api-key.ts'
import type { AuditActor } from '../../model/audit-entry.ts'
import type { Mode } from '../../model/message.ts'
import { Refusal } from '../../model/refusal.ts'
import type { Session } from '../../model/session.ts'
import { grantsOf, type User } from '../../model/user.ts'
import type { ClientAddress } from '../../net/client-address.ts'
import { createNetworks } from '../../net/ip.ts'
import type { WallClock } from '../../os/clock.ts'
import type { Random } from '../../os/random.ts'
import type { Store } from '../../storage/store.ts'
import type { Origin } from './audit.ts'
import { base62 } from './base62.ts'
import type { Maker, Makers } from './makers.ts'
import type { Call } from './operation.ts'
import type { DashboardSessions } from './sessions.ts'

/** The authenticated sender of a request. */
export interface Caller {
  /** The API key, or for a dashboard session the key of its user (operator.ts). */
  key: ApiKey
  /** The dashboard session and its user; null for an API key. */
  session: Session | null
  user: User | null
  /** The user who made the key; null if it has none, and for a session. */
  maker: Maker | null
}

export interface AuthenticationDeps {
  auth: Pick<Auth, 'authenticate'>
  makers: Makers
  sessions: DashboardSessions
  /** If false, session cookies are ignored. */
  hasSessions: boolean
  clientAddress: ClientAddress
  /** Remote address of a request's connection; null without a socket. */
  peerOf: (request: Request) => string | null
  clock: WallClock
}

/** Authenticates requests by API key or dashboard session. A session takes precedence over an API key. */
export class Authentication {
  readonly #deps: AuthenticationDeps

  constructor(deps: AuthenticationDeps) {
    this.#deps = deps
  }

  /** Rejects with `unauthorized` if neither a session nor an API key is valid, with `forbidden` for a cross-site request
   *  with a session (sessions.ts), and with the error of the store. `now` is in ms UTC. */
  async authenticate(request: Request, now: number): Promise<Caller> {
    const { auth, makers, sessions, hasSessions } = this.#deps
    const signedIn = hasSessions ? await sessions.of(request, now) : null
    if (signedIn !== null) return { key: sessions.keyOf(request, signedIn.user, now), ...signedIn, maker: null }
    const authorization = request.headers.get('authorization')
    const key = auth.authenticate(authorization, now, () => this.#addressOf(request))
    return { key, session: null, user: null, maker: await makers.of(key) }
  }

  /** Resolves with true if the request would still be authenticated now, with the same role. Its key may have been revoked
   *  or have expired since, and its user may have another role. Rejects with the error of the store. */
  async isStillValid(request: Request, { key, user, maker }: Pick<Caller, 'key' | 'user' | 'maker'>): Promise<boolean> {
    try {
      const now = await this.authenticate(request, this.#deps.clock.now())
      return hasSameRole(now.user, user, key.organizationId) && hasSameRole(now.maker, maker, key.organizationId)
    } catch (thrown) {
      if (thrown instanceof Refusal) return false
      throw thrown
    }
  }

  /** Actor and client address of a request, for the audit log. */
  originOf(request: Request, { key, user }: Pick<Call, 'key' | 'user'>): Origin {
    return {
      actor: user == null ? { type: 'api_key', id: key.id, name: key.name } : actorOf(user),
      ipAddress: this.#addressOf(request) || null,
    }
  }

  #addressOf(request: Request): string {
    const { clientAddress, peerOf } = this.#deps
    return clientAddress(peerOf(request), request.headers.get('x-forwarded-for'))
  }
}

function hasSameRole(one: Maker | null, other: Maker | null, organizationId: string): boolean {
  return (
    one?.id === other?.id &&
    one?.disabledAt === other?.disabledAt &&
    one?.isOperator === other?.isOperator &&
    (one && grantsOf(one).roles[organizationId]) === (other && grantsOf(other).roles[organizationId]) &&
    one?.roles[organizationId] === other?.roles[organizationId]
  )
}

/** User → the actor of an audit entry. */
export function actorOf({ id, email, name }: User): AuditActor {
  return { type: 'user', id, name: email ?? name }
}

/** Authenticates API keys, for HTTP and SMTP. */
export interface Auth {
  /** `Authorization` header → the API key. Throws `unauthorized` if the header is missing or has another scheme, if the
   *  key is malformed, unknown, revoked or expired, or if the client address is outside its networks. The message is
   *  always the same, so that it does not reveal which keys exist. `now` is in ms UTC. `addressOf` returns the client
   *  address (net/client-address.ts) and is called only for keys with `allowedNetworks`. */
  authenticate(authorization: string | null, now: number, addressOf: () => string): ApiKey
  /** Stores when keys were last used since the previous call. If the store fails, the next call retries. Never
   *  rejects. */
  flushUses(): Promise<void>
}

/** Creates Auth from the store of keys. Each request takes one hash and one lookup. There is no separate cache, so a
 *  revoked key is rejected immediately. */
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

/** True if the key may be used from this client address (net/client-address.ts). An unknown address is '', which is
 *  allowed only for keys without `allowedNetworks`. */
function isUsableFrom(key: ApiKey, address: string): boolean {
  if (key.allowedNetworks === null) return true
  let contains = networksOf.get(key.allowedNetworks)
  if (contains === undefined) {
    contains = createNetworks(key.allowedNetworks)
    networksOf.set(key.allowedNetworks, contains)
  }
  return contains(address)
}

/** List of networks → its parsed form. The store caches the key objects, so each list is parsed once. */
const networksOf = new WeakMap<string[], (ip: string) => boolean>()

/** Key value → its SHA-256, which the store keeps in place of the value. No salt: the value has 238 random bits. */
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

/** The `unauthorized` refusal (401), identical for every cause. */
export function unauthorized(): Refusal {
  return new Refusal('unauthorized', 'Missing or invalid API key. Send the header Authorization: Bearer svc_…')
}
