import type { Permission } from '../../src/model/api-key.ts'
import type { Mode } from '../../src/model/message.ts'
import type { Role } from '../../src/model/user.ts'
import type { LeastRole } from '../../src/web/api/access.ts'
import { accessOf } from '../support/access.ts'

/** Who may do what: computed from the rows of the permission table and the rules of the manual's pages `keys` and `users`,
 *  without the code that checks them. */

export interface Person {
  id: string
  /** Granted; in effect once the address is verified. */
  isOperator: boolean
  roles: Map<string, Role>
  isVerified: boolean
  invitedTo: string | null
  isDisabled: boolean
  isRemoved: boolean
}

/** What a key holds, or shall hold. */
export interface Rights {
  domain: string
  mode: Mode
  permissions: Permission[]
  expiresAt: number | null
  /** All requests come from here. */
  networks: 'any' | 'here' | 'elsewhere'
}

export interface Key extends Rights {
  kind: 'key'
  id: string
  value: string
  org: string
  endedAt: number | null
  isRotated: boolean
  /** The person, or the last role of one who was removed, beyond whose rights the key has none; null: no limit. */
  limit: Person | Role | null
  /** The role that becomes the limit if the key is kept; null for an operator. */
  noted: Role | null
}

export interface Session {
  kind: 'session'
  cookie: string
  person: Person
  isOver: boolean
  /** The organization that is selected. */
  org: string
}

export type Caller = Key | Session
export type Verdict = 'in' | 401 | 403 | 404

const ORDER: readonly LeastRole[] = ['operator', 'owner', 'admin', 'developer', 'support', 'viewer']
const covers = (held: LeastRole | null, least: LeastRole) =>
  held !== null && ORDER.indexOf(held) <= ORDER.indexOf(least)

/** What is in effect for a person in an organization; null: nothing. */
export function roleOf(person: Person, org: string): LeastRole | null {
  const { isOperator, isVerified, invitedTo, isDisabled, isRemoved } = person
  if (isDisabled || isRemoved) return null
  if (isOperator && isVerified) return 'operator'
  return isVerified || invitedTo === org ? (person.roles.get(org) ?? null) : null
}

/** A key goes on while its maker proves the address. */
function limitOf({ limit, org }: Key): LeastRole | null {
  if (limit === null) return 'operator'
  return typeof limit === 'string' ? limit : roleOf({ ...limit, isVerified: true }, org)
}

export const isValid = ({ endedAt, expiresAt }: Key, now: number) =>
  endedAt === null && (expiresAt === null || expiresAt > now)

/** Whether the caller may call an operation at all. */
export function mayCall(caller: Caller, id: string, now: number): Verdict {
  const { permission, role, testKey } = accessOf(id)!
  if (caller.kind === 'session') {
    if (caller.isOver || caller.person.isDisabled || caller.person.isRemoved) return 401
    return covers(roleOf(caller.person, caller.org), role) ? 'in' : 403
  }
  if (!isValid(caller, now) || caller.networks === 'elsewhere') return 401
  if (role === 'operator' || (permission !== 'any' && !holds(caller, permission))) return 403
  if (testKey === 'refused' && caller.mode === 'test') return 403
  return covers(limitOf(caller), role) ? 'in' : 403
}

const holds = ({ permissions }: Rights, wanted: Permission) =>
  permissions.includes(wanted) || permissions.includes('admin')

export const isOperator = (caller: Caller) =>
  caller.kind === 'session' && roleOf(caller.person, caller.org) === 'operator'
/** Keys that end, or work from some networks only, cannot manage people, who have neither limit. */
export const isBound = (caller: Caller) =>
  caller.kind === 'key' && (caller.expiresAt !== null || caller.networks !== 'any')

/** A record of an operation's path. */
export interface Target {
  /** Name of the path parameter. */
  kind: string
  org: string
  domain: string
  mode: Mode
}

const LIVE_ONLY = ['route_id', 'inbound_message_id']
/** Of the organization, or of nobody. */
const WITHOUT_DOMAIN = ['template_id', 'user_id', 'invitation_id', 'erasure_id', 'organization_id']

/** Whether the caller may call the operation on the record. */
export function mayReach(caller: Caller, id: string, target: Target, now: number): Verdict {
  const may = mayCall(caller, id, now)
  if (may !== 'in') return may
  const { reach, grants } = accessOf(id)!
  if (isOperator(caller) && ['user_id', 'organization_id'].includes(target.kind)) return 'in'
  if (target.org !== caller.org) return 403
  if (target.kind === 'user_id' && id !== 'users_get' && isBound(caller)) return 403
  if (caller.kind === 'session') return 'in'
  const isOwn = target.domain === caller.domain || caller.permissions.includes('admin')
  if (target.kind === 'domain_id') return isOwn || reach === 'organization' ? 'in' : 403
  if (WITHOUT_DOMAIN.includes(target.kind) && target.kind !== 'template_id') return 'in'
  if (caller.mode === 'test' && (target.mode === 'live' || LIVE_ONLY.includes(target.kind))) return 404
  if (target.kind === 'template_id') return 'in'
  if (!isOwn) return 403
  const { domain, mode } = target
  const held: Rights = { domain, mode, permissions: ['send'], expiresAt: null, networks: 'any' }
  return grants && !mayGrant(caller, held) ? 403 : 'in'
}

/** Whether the caller may give these rights to a key. */
export function mayGrant(caller: Caller, wanted: Rights): boolean {
  if (caller.kind === 'session') {
    const role = roleOf(caller.person, caller.org)
    return covers(role, 'owner') || (covers(role, 'developer') && !wanted.permissions.includes('admin'))
  }
  const mayGive = (each: Permission) =>
    holds(caller, each) || (caller.permissions.includes('manage') && ['send', 'read'].includes(each))
  return (
    wanted.permissions.every(mayGive) &&
    (wanted.domain === caller.domain || caller.permissions.includes('admin')) &&
    (caller.mode === 'live' || wanted.mode === 'test') &&
    (caller.expiresAt === null || (wanted.expiresAt !== null && wanted.expiresAt <= caller.expiresAt)) &&
    (caller.networks === 'any' || wanted.networks === caller.networks)
  )
}

/** Whether the caller may change, rotate or revoke a key. */
export function mayHandle(caller: Caller, id: string, key: Key, now: number): Verdict {
  const may = mayCall(caller, id, now)
  if (may !== 'in') return may
  if (key.org !== caller.org) return 403
  if (caller.kind === 'key' && caller.mode === 'test' && key.mode === 'live') return 404
  return mayGrant(caller, key) ? 'in' : 403
}

/** Whether the caller may change the role of a person, or remove it. */
export function mayManage(caller: Caller, id: string, person: Person, now: number): Verdict {
  const may = mayCall(caller, id, now)
  if (may !== 'in') return may
  if (person.isRemoved) return 404
  const role = person.roles.get(caller.org)
  if (role === undefined && !isOperator(caller)) return 403
  return caller.kind === 'key' && (role === 'owner' || isBound(caller)) ? 403 : 'in'
}

/** Before a role or the account ends: what the keys of the person may do if they are kept. */
export function noteRoles(person: Person, keys: readonly Key[]): void {
  for (const key of keys) {
    if (key.limit !== person) continue
    const isLimitless = person.isOperator && person.isVerified
    key.noted = isLimitless ? null : (person.roles.get(key.org) ?? key.noted ?? 'viewer')
  }
}

/** What is in effect for a person, to compare: nobody gets more within a session. */
export function effects(person: Person, orgs: readonly string[]): number[] {
  return [person.isOperator && person.isVerified ? 0 : 1, ...orgs.map((org) => rankOf(rolesOnly(person, org)))]
}

const rolesOnly = (person: Person, org: string) => roleOf({ ...person, isOperator: false }, org)
const rankOf = (role: LeastRole | null) => (role === null ? ORDER.length : ORDER.indexOf(role))
