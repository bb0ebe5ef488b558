import type { Mode } from './message.ts'

/** A key an application presents; only its SHA-256 is stored. */
export interface ApiKey {
  id: string
  organizationId: string
  domainId: string
  name: string
  mode: Mode
  permissions: Permission[]
  /** The first 16 characters of the key value. */
  prefix: string
  createdAt: number
  lastUsedAt: number | null
  expiresAt: number | null
  revokedAt: number | null
  rotatedTo: string | null
  /** CIDRs (net/ip.ts canonicalNetwork) from which it may be used; null = from anywhere. Never empty. */
  allowedNetworks: string[] | null
}

/** Networks of one key: enough for offices and clouds, few enough to be compared at each request. */
export const MAX_KEY_NETWORKS = 50

export type Permission = 'send' | 'read' | 'manage' | 'admin'
export const PERMISSIONS: readonly Permission[] = ['send', 'read', 'manage', 'admin']

/** True when a holder of `held` may do what needs `needed`: `admin` implies all, the rest imply nothing. */
export function allows(held: readonly Permission[], needed: Permission): boolean {
  return held.includes(needed) || held.includes('admin')
}

/** True when a holder of `held` may give `wanted` away: what it holds, and with `manage` also `send` and `read`. */
export function mayGrant(held: readonly Permission[], wanted: Permission): boolean {
  if (allows(held, wanted)) return true
  return held.includes('manage') && (wanted === 'send' || wanted === 'read')
}

/** Why a key is not valid at `now`; null when it is. */
export function keyFault(key: ApiKey, now: number): 'revoked' | 'expired' | null {
  if (key.revokedAt !== null && key.revokedAt <= now) return 'revoked'
  return key.expiresAt !== null && key.expiresAt <= now ? 'expired' : null
}
