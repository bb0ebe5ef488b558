import { hash } from 'node:crypto'
import { type ApiKey, keyFault } from '../model/api-key.ts'
import type { Mode } from '../model/message.ts'
import { Refusal } from '../model/refusal.ts'
import { createNetworks } from '../net/ip.ts'
import type { Random } from '../os/random.ts'
import type { ApiKeys } from '../storage/store.ts'
import { base62 } from './base62.ts'

export interface Auth {
  /** `Authorization` header → the key it presents. Throws 401, the same for every cause, so that a guesser learns
   *  nothing: no header, another scheme, a value of another form, unknown, revoked, expired, or used from an address
   *  outside its networks. `addressOf` names the client (net/client-address.ts), and is called only for a key that
   *  is bound to networks. */
  authenticate(authorization: string | null, now: number, addressOf: () => string): ApiKey
  /** Writes down when keys were last used since the last call. Kept for the next call when it fails; never rejects. */
  flushUses(): Promise<void>
}

/** Store of keys → Auth. One hash and one lookup a request, no memory of keys: a revoked one is refused at once. */
export function createAuth(apiKeys: ApiKeys): Auth {
  let uses = new Map<string, number>()

  return {
    authenticate(authorization, now, addressOf) {
      const value = presentedKey(authorization)
      const key = value === null ? null : apiKeys.findBySecret(hashKeyValue(value))
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

/** Whether a key may be used from an address, as net/client-address.ts names it; '' = not known, which no key that
 *  is bound to networks takes. */
export function isUsableFrom(key: ApiKey, address: string): boolean {
  if (key.allowedNetworks === null) return true
  let contains = networksOf.get(key.allowedNetworks)
  if (contains === undefined) {
    contains = createNetworks(key.allowedNetworks)
    networksOf.set(key.allowedNetworks, contains)
  }
  return contains(address)
}

/** The lists are kept by the store's cache of keys, so that each is parsed once. */
const networksOf = new WeakMap<string[], (ip: string) => boolean>()

/** Key value → the SHA-256 that is stored of it. The value is random enough that no salt is needed. */
export function hashKeyValue(value: string): Uint8Array {
  return hash('sha256', value, 'buffer')
}

/** A new key value: `svc_live_` or `svc_test_` and 40 characters of base62, 238 bits (contract §2 asks for 32). */
export function mintKeyValue(mode: Mode, random: Random): string {
  return `svc_${mode}_${base62(RANDOM_CHARACTERS, random)}`
}

/** The first characters of a key value, shown in lists so that people know it again (contract §2). */
export function keyPrefix(value: string): string {
  return value.slice(0, 16)
}

const RANDOM_CHARACTERS = 40
// RFC 6750 §2.1 with the form of our own keys; scheme names have no letter case (RFC 9110 §11.1).
const PRESENTED = /^[Bb][Ee][Aa][Rr][Ee][Rr] +(svc_(?:live|test)_[0-9A-Za-z]{1,200})$/

function presentedKey(authorization: string | null): string | null {
  return authorization === null ? null : (PRESENTED.exec(authorization)?.[1] ?? null)
}

/** 401, the same for every cause. */
export function unauthorized(): Refusal {
  return new Refusal('unauthorized', 'Missing or invalid API key. Send the header Authorization: Bearer svc_…')
}
