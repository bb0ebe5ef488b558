import { iso } from '../../../model/event.ts'
import type { Organization } from '../../../model/organization.ts'
import type { User } from '../../../model/user.ts'
import { VERSION } from '../../../version.ts'
import { includes, type LeastRole } from '../access.ts'
import type { Operation } from '../operation.ts'
import type { SignedIn } from '../sessions.ts'
import type { SignInDeps } from './context.ts'

const MOST_ORGANIZATIONS = 100

/** Session → what the dashboard shows of it: the user and the organizations that the user may choose. */
export async function describeSession(
  { store: { users, organizations }, operations }: Pick<SignInDeps, 'store' | 'operations'>,
  { session, user }: SignedIn,
) {
  const [{ records, hasMore }, password] = await Promise.all([
    organizationsOf(organizations, user),
    users.passwordHash(user.id),
  ])
  const listed = records.map(({ id, name, plan }) => ({ id, name, plan, role: roleIn(user, id) }))
  return {
    session: { id: session.id, created_at: iso(session.createdAt), ends_at: iso(session.endsAt) },
    user: { id: user.id, email: user.email, name: user.name, is_operator: user.isOperator },
    has_password: password !== null,
    organizations: listed,
    has_more_organizations: hasMore,
    refused: Object.fromEntries(listed.map(({ role }) => [role, refusedTo(role, operations)])),
    version: VERSION,
  }
}

/** A role → the operations that it may not call, with the least role that may; {} for `operator`. The dashboard hides them. */
function refusedTo(held: LeastRole, operations: readonly Operation[]): Record<string, LeastRole> {
  const refused = operations.filter(({ access }) => !includes(held, access.role))
  return Object.fromEntries(refused.map(({ id, access }) => [id, access.role]))
}

/** The user's role in an organization of the list. */
const roleIn = ({ isOperator, roles }: User, organizationId: string): LeastRole =>
  isOperator ? 'operator' : (roles[organizationId] ?? 'viewer')

/** The newest organizations: all of them for an operator, else those in which the user has a role. */
async function organizationsOf(
  organizations: SignInDeps['store']['organizations'],
  { isOperator, roles }: User,
): Promise<{ records: Organization[]; hasMore: boolean }> {
  if (isOperator) return organizations.page({ limit: MOST_ORGANIZATIONS, after: null })
  const ids = Object.keys(roles).sort().reverse()
  const found = await Promise.all(ids.slice(0, MOST_ORGANIZATIONS).map((id) => organizations.get(id)))
  return { records: found.filter((each) => each !== null), hasMore: ids.length > MOST_ORGANIZATIONS }
}
