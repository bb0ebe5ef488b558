import type { ApiKey, Permission } from '../../model/api-key.ts'
import type { Mode } from '../../model/message.ts'
import type { Role, User } from '../../model/user.ts'
import type { Call } from './operation.ts'

/** The operator of the server, on the command line or in a dashboard session. The operator acts as an admin of any
 *  organization, and is the only caller of operations with the role `operator`. */

const OPERATOR_ID = 'operator'

/** Organization, domain and mode → a key with `admin` that represents the operator in a call. It is not stored.
 *  `organizationId` and `domainId` are '' if the call concerns none. `now` is in ms UTC. */
export function operatorKey(as: { organizationId: string; domainId: string; mode: Mode }, now: number): ApiKey {
  return {
    id: OPERATOR_ID,
    ...as,
    name: OPERATOR_ID,
    permissions: ['admin'],
    prefix: '',
    createdAt: now,
    lastUsedAt: null,
    expiresAt: null,
    revokedAt: null,
    rotatedTo: null,
    allowedNetworks: null,
    createdBy: null,
    makerRole: null,
  }
}

/** True if the key represents the operator. IDs of API keys have a different format. */
export function isOperator(key: Pick<ApiKey, 'id'>): boolean {
  return key.id === OPERATOR_ID
}

/** True for a call on the command line of the server. */
export function isConsole({ key, user }: Pick<Call, 'key' | 'user'>): boolean {
  return isOperator(key) && user == null
}

/** A user with a role in the organization of a call → the key that represents the user. `send`, `read` and `manage` are
 *  what the role can grant to keys; rights.ts decides which operations it can call. */
export function userKey(
  { id, name, roles }: User,
  as: { organizationId: string; domainId: string; mode: Mode },
  now: number,
): ApiKey {
  const permissions = GRANTABLE[roles[as.organizationId] ?? 'viewer']
  return { ...operatorKey(as, now), id, name, permissions: [...permissions] }
}

const GRANTABLE: Record<Role, readonly Permission[]> = {
  owner: ['admin'],
  admin: ['send', 'read', 'manage'],
  developer: ['send', 'read', 'manage'],
  support: [],
  viewer: [],
}

/** True if the key represents a person: the operator or another user. IDs of API keys have a different prefix. */
export function isPerson(key: Pick<ApiKey, 'id'>): boolean {
  return isOperator(key) || key.id.startsWith('usr_')
}
