import { allows } from '../../model/api-key.ts'
import { Refusal } from '../../model/refusal.ts'
import { grantsOf, type User } from '../../model/user.ts'
import { type AccessRule, includes } from './access.ts'
import type { Maker } from './makers.ts'
import type { Call } from './operation.ts'

/** Whose rights count: those of the user in a dashboard session, else those of the key and of the user who made it. */
export type Holder = Pick<Call, 'key' | 'user' | 'maker'>

/** The part of an access rule that decides whether somebody may call an operation at all. Which records it then
 *  reaches is the matter of scope.ts, and which rights it grants of grants.ts. */
export type Right = Pick<AccessRule, 'permission' | 'role' | 'testKey'>

/** Throws `forbidden` unless the caller may call the operation in the organization of its key. */
export function requireRight(holder: Holder, right: Right): void {
  const refusal = refusalOf(holder, right)
  if (refusal !== null) throw refusal
}

/** Why the caller may not call the operation, on any record; null if it may. */
export function refusalOf({ key, user, maker = null }: Holder, right: Right): Refusal | null {
  if (user != null) return roleRefusal(user, key.organizationId, right)
  const { permission, role, testKey } = right
  if (role === 'operator') {
    return new Refusal('forbidden', ONLY_OPERATOR, { details: { required: 'operator', held: key.permissions } })
  }
  if (permission !== 'any' && !allows(key.permissions, permission)) {
    return new Refusal('forbidden', `This key lacks the permission ${permission}.`, {
      details: { required: permission, held: key.permissions },
    })
  }
  if (testKey === 'refused' && key.mode === 'test') {
    return new Refusal('forbidden', 'Test keys cannot do this because it affects live mail. Use a live key.', {
      details: { required_mode: 'live', mode: key.mode },
    })
  }
  return maker === null ? null : makerRefusal(maker, key.organizationId, right)
}

/** True if a person, with what is in effect for them, may call the operation in the organization. */
export function personMay(
  { isOperator, roles, disabledAt }: Pick<User, 'isOperator' | 'roles' | 'disabledAt'>,
  organizationId: string,
  { role: required }: Pick<Right, 'role'>,
): boolean {
  const role = isOperator ? 'operator' : roles[organizationId]
  return disabledAt === null && role !== undefined && includes(role, required)
}

/** The response is the same for an organization that does not exist and one in which the user has no role. */
function roleRefusal(user: User, organizationId: string, right: Right): Refusal | null {
  if (personMay(user, organizationId, right)) return null
  const [role, required] = [user.roles[organizationId], right.role]
  const message =
    role === undefined
      ? 'You have no role in this organization.'
      : required === 'operator'
        ? ONLY_OPERATOR
        : `This requires the role ${required}. Your role is ${role}.`
  return new Refusal('forbidden', message, { details: { required, held: role ?? null } })
}

/** Rights that wait for a verified address count, so that a key does not stop while the person proves it. */
function makerRefusal(maker: Maker, organizationId: string, right: Right): Refusal | null {
  if (personMay({ ...maker, ...grantsOf(maker) }, organizationId, right)) return null
  return new Refusal('forbidden', 'The user who made this key may not do this. Use a key of somebody else.', {
    details: { required: right.role, created_by: maker.id },
  })
}

const ONLY_OPERATOR = 'Only the operator of this server can do this.'
