import { ROLES, type Role } from '../../../../model/user.ts'
import { isRecord } from '../../../../os/records.ts'
import type { Access, Store } from '../../../../storage/store.ts'
import type { RoleRule } from './settings.ts'

const MOST_VALUES = 1_000

/** Claims of an ID token and the name of a claim → its values: strings, or a single string; at most 1,000. [] without the
 *  claim. A name with dots is looked up as it is first, and then in nested objects, as Keycloak has `realm_access.roles`. */
export function valuesOf(claims: Readonly<Record<string, unknown>>, name: string): string[] {
  const nested = (value: unknown, part: string) =>
    isRecord(value) && Object.hasOwn(value, part) ? value[part] : undefined
  const found = nested(claims, name) ?? name.split('.').reduce<unknown>(nested, claims)
  const values = Array.isArray(found) ? found : isRecord(found) ? namesOf(found) : [found]
  return values.slice(0, MOST_VALUES).filter((value) => typeof value === 'string')
}

/** Zitadel writes a role as a name whose value has the domain of each organization that gave it, by the organization's ID.
 *  Names of other objects are no roles: in Keycloak's `resource_access` they are the clients. */
function namesOf(roles: Record<string, unknown>): string[] {
  return Object.keys(roles).filter((name) => {
    const given = roles[name]
    const domains = isRecord(given) ? Object.values(given) : []
    return domains.length > 0 && domains.every((domain) => typeof domain === 'string')
  })
}

/** Values of the claim → the access that the rules give; null if no rule fits. Of several roles in an organization, the
 *  highest counts. Rules whose organization does not exist give nothing. */
export async function accessOf(
  values: readonly string[],
  rules: readonly RoleRule[],
  organizations: Pick<Store['organizations'], 'find'>,
): Promise<Access | null> {
  const roles: Record<string, Role> = {}
  let isOperator = false
  for (const rule of rules) {
    if (!values.includes(rule.value)) continue
    if (rule.role === 'operator') {
      isOperator = true
      continue
    }
    const organization = await organizations.find(rule.organization)
    if (organization === null) continue
    const held = roles[organization.id]
    if (held === undefined || ROLES.indexOf(rule.role) < ROLES.indexOf(held)) roles[organization.id] = rule.role
  }
  return isOperator || Object.keys(roles).length > 0 ? { isOperator, roles } : null
}
