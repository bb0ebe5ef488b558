import type { Mode } from './message.ts'
import type { Role } from './user.ts'

/** An API key of an application. Only its SHA-256 is stored. */
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
  /** CIDRs (net/ip.ts canonicalNetwork) from which the key is accepted; null = from anywhere. Never empty. */
  allowedNetworks: string[] | null
  /** The user that created or rotated it in the dashboard; null for the command line, and once the key was kept while its
   *  user was removed. A key that another key made has the user of that one. */
  createdBy: string | null
  /** Without `createdBy`: the last role of the user who was removed, beyond which the key has no rights. Null: no limit. */
  makerRole: Role | null
}

/** Limit of networks per key: enough for offices and clouds, few enough to compare at each request. */
export const MAX_KEY_NETWORKS = 50

export type Permission = 'send' | 'read' | 'manage' | 'admin'
export const PERMISSIONS: readonly Permission[] = ['send', 'read', 'manage', 'admin']

/** True if a key with the permissions `held` is allowed to do what requires `needed`. `admin` implies all; the
 *  others imply nothing. */
export function allows(held: readonly Permission[], needed: Permission): boolean {
  return held.includes(needed) || held.includes('admin')
}

/** True if a key with `held` may grant `wanted`: a key grants the permissions it has, and one with `manage` also
 *  grants `send` and `read`. */
export function mayGrant(held: readonly Permission[], wanted: Permission): boolean {
  if (allows(held, wanted)) return true
  return held.includes('manage') && (wanted === 'send' || wanted === 'read')
}

/** Why a key is not valid at `now`; null if it is valid. */
export function keyFault(key: ApiKey, now: number): 'revoked' | 'expired' | null {
  if (key.revokedAt !== null && key.revokedAt <= now) return 'revoked'
  return key.expiresAt !== null && key.expiresAt <= now ? 'expired' : null
}
