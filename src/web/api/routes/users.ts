import { z } from 'zod'
import { iso } from '../../../model/event.ts'
import type { FactorSummary } from '../../../model/factors.ts'
import { invalid, Refusal } from '../../../model/refusal.ts'
import {
  foldedEmail,
  type Grants,
  grantsOf,
  isVerified,
  ROLES,
  type Role,
  type User,
  userWith,
} from '../../../model/user.ts'
import { pathParameter } from '../../../net/path-parameter.ts'
import type { MintId } from '../../../os/ids.ts'
import type { UserMail } from '../../../sending/submission/user-mail.ts'
import type { Store } from '../../../storage/store.ts'
import { OPERATOR, rule } from '../access.ts'
import { requireFound } from '../errors.ts'
import { type Call, type Operation, operation } from '../operation.ts'
import { isConsole, isOperator, isPerson } from '../operator.ts'
import { pageResponse, recordsRequest } from '../page.ts'
import { createPasswordLink } from '../password-link.ts'
import { deleted } from '../rendered-response.ts'
import { mailRecord } from '../responses/user-mail.ts'
import { emailAddress, label, recordsQuery } from '../schema.ts'
import { sessionRecord } from './sessions.ts'

const role = z
  .enum(ROLES)
  .describe('Role in the organization. An API key cannot grant `owner`, nor change users who have it.')
const createBody = z.strictObject({
  email: emailAddress,
  name: label(100),
  role: role.optional(),
  is_operator: z.boolean().default(false),
})
const updateBody = z.strictObject({
  role: role.optional(),
  email: emailAddress.optional().describe('Only the operator changes it.'),
  name: label(100).optional().describe('Only the operator and the user change it.'),
  is_operator: z.boolean().optional().describe('Only the operator changes it.'),
  disabled: z
    .boolean()
    .optional()
    .describe('Only the operator changes it. Disabling ends all sessions of the user at once.'),
})

const removeQuery = z.strictObject({
  keys: z
    .enum(['revoke', 'keep'])
    .default('revoke')
    .describe(
      'What happens to the keys that the user made. Kept ones belong to the organization alone, with at most the rights of the last role of the user.',
    ),
})

export interface UserOperationsDeps {
  store: Pick<Store, 'users' | 'sessions' | 'apiKeys' | 'factors'>
  mintId: MintId
  userMail: Pick<UserMail, 'mintLink' | 'send' | 'unsuppress'>
  publicUrl: () => string
}

/** The operations of `/v1/users`: people with a role in the organization, or all of them for an operator who selects
 *  none.
 *
 *  An owner changes roles, and an API key with `admin` those other than `owner`. Neither changes what holds beyond the
 *  organization: name, address, password, or sessions of a user with other roles. Nobody grants what they lack: `owner`
 *  is the most that an organization has, and only operators make operators. */
export function userOperations(deps: UserOperationsDeps): Operation[] {
  const { store, mintId } = deps
  const load = (call: Call) => loadUser(store, call)
  const loadChangeable = async (call: Call) => {
    const user = await load(call)
    requireAbove(call, user)
    return user
  }
  return [
    operation({
      id: 'users_list',
      method: 'GET',
      path: '/v1/users',
      tag: 'Users',
      access: rule('admin', 'owner', 'refused', 'organization'),
      summary: 'List users',
      description: 'Users with a role in the organization. An operator who selects no organization gets all users.',
      operatorWithoutOrganization: true,
      responses: async () => (await import('../responses/users.ts')).userResponses.list,
      query: recordsQuery,
      async handle({ key, organizationId, query }) {
        const page = await store.users.list(organizationId || null, recordsRequest(query))
        const known = await store.factors.summaries(page.records.map(({ id }) => id))
        const within = isOperator(key) ? null : organizationId
        return pageResponse(page, (user) => userRecord(user, known.get(user.id), within))
      },
    }),
    operation({
      id: 'users_create',
      method: 'POST',
      path: '/v1/users',
      tag: 'Users',
      access: OPERATOR,
      summary: 'Create a user',
      description:
        'Without a password: create a link with `POST /v1/users/{user_id}/reset`. `role` applies to the selected organization; users who are not operators need one.',
      responses: async () => (await import('../responses/users.ts')).userResponses.created,
      refusals: ['conflict'],
      example: { email: 'ann@example.com', name: 'Ann', is_operator: true },
      body: createBody,
      async handle(call) {
        const { organizationId, body, now } = call
        if (body.role !== undefined && organizationId === '') throw needsOrganization()
        const account = {
          id: mintId('usr'),
          email: foldedEmail(body.email),
          emailVerifiedAt: isConsole(call) ? now : null,
          invitedTo: body.role === undefined ? null : organizationId,
          name: body.name,
          createdAt: now,
          disabledAt: null,
          lastSeenAt: null,
        }
        const roles = body.role === undefined ? {} : { [organizationId]: body.role }
        const user = userWith(account, { isOperator: body.is_operator, roles })
        if (!body.is_operator && body.role === undefined)
          throw invalid([{ field: 'role', message: 'role is required for users who are not operators' }])
        if ((await store.users.create(user, null)) === 'email_taken') throw emailTaken()
        return { status: 201, body: userRecord(user, undefined, null) }
      },
    }),
    operation({
      id: 'users_get',
      method: 'GET',
      path: '/v1/users/:user_id',
      tag: 'Users',
      access: rule('admin', 'owner', 'refused', 'organization'),
      summary: 'Retrieve a user',
      operatorWithoutOrganization: true,
      responses: async () => (await import('../responses/users.ts')).userResponses.one,
      load,
      handle: async ({ resource, key, organizationId }) => ({
        status: 200,
        body: await recordWithFactors(store, resource, isOperator(key) ? null : organizationId),
      }),
    }),
    operation({
      id: 'users_update',
      method: 'PATCH',
      path: '/v1/users/:user_id',
      tag: 'Users',
      access: rule('admin', 'owner', 'refused', 'organization'),
      summary: 'Update a user',
      description:
        'Only the fields you send change. A change holds for the next request of the user. The last owner of an organization keeps the role unless an operator changes it, and the last operator cannot be disabled.',
      operatorWithoutOrganization: true,
      responses: async () => (await import('../responses/users.ts')).userResponses.one,
      refusals: ['conflict'],
      example: { role: 'developer' },
      body: updateBody,
      load: loadChangeable,
      handle: (call) => updateUser(store, call),
    }),
    operation({
      id: 'users_delete',
      method: 'DELETE',
      path: '/v1/users/:user_id',
      tag: 'Users',
      access: rule('admin', 'owner', 'refused', 'organization'),
      summary: 'Remove a user',
      description:
        'Removes the role in the organization, and the account with its sessions if it has no other role. An operator who selects no organization deletes the account. Keys that the user made in the organization are revoked, unless `keys` is `keep`.',
      operatorWithoutOrganization: true,
      responses: async () => (await import('../responses/users.ts')).userResponses.deleted,
      refusals: ['conflict'],
      query: removeQuery,
      load: loadChangeable,
      async handle({ resource: { id }, organizationId, key, query, now }) {
        const removed =
          organizationId === ''
            ? await store.users.remove(id)
            : await store.users.setRole(id, organizationId, null, isOperator(key))
        requireDone(removed)
        // Until then, the keys have no rights, because their maker has none.
        if (query.keys === 'keep') await store.apiKeys.disown(id, organizationId || null)
        else await store.apiKeys.revokeOf(id, organizationId || null, now)
        return deleted(id)
      },
    }),
    ...sessionOperationsOf(deps),
  ]
}

/** Sessions and passwords of users. */
function sessionOperationsOf({ store, userMail, publicUrl }: UserOperationsDeps): Operation[] {
  /** The user in the path. Rejects with `forbidden` if the account holds beyond the caller's organization. */
  const loadWhole = async (call: Call) => {
    const user = await loadUser(store, call)
    requireAbove(call, user)
    const granted = grantsOf(user)
    if (!isOperator(call.key) && (granted.isOperator || Object.keys(granted.roles).length > 1))
      throw beyondOrganization()
    return user
  }
  return [
    operation({
      id: 'users_sessions_list',
      method: 'GET',
      path: '/v1/users/:user_id/sessions',
      tag: 'Users',
      access: rule('admin', 'owner', 'refused', 'organization'),
      summary: 'List sessions of a user',
      description: 'For operators and users with roles in other organizations, only the operator can do this.',
      operatorWithoutOrganization: true,
      responses: async () => (await import('../responses/users.ts')).userResponses.sessions,
      query: recordsQuery,
      load: loadWhole,
      handle: async ({ resource, query, now }) =>
        pageResponse(await store.sessions.list(now, recordsRequest(query), resource.id), sessionRecord),
    }),
    operation({
      id: 'users_sessions_delete',
      method: 'DELETE',
      path: '/v1/users/:user_id/sessions',
      tag: 'Users',
      access: rule('admin', 'owner', 'refused', 'organization'),
      summary: 'Sign a user out everywhere',
      description: 'For operators and users with roles in other organizations, only the operator can do this.',
      operatorWithoutOrganization: true,
      responses: async () => (await import('../responses/users.ts')).userResponses.signedOut,
      load: loadWhole,
      async handle({ resource }) {
        await store.sessions.endOf(resource.id, null)
        return deleted(resource.id)
      },
    }),
    operation({
      id: 'users_reset',
      method: 'POST',
      path: '/v1/users/:user_id/reset',
      tag: 'Users',
      access: OPERATOR,
      summary: 'Create a link that sets a user’s password',
      description:
        'The link works once. It expires after one hour, or after seven days while the user has no password. Earlier links of the user stop working. If the operator configured a sender, the server sends a link of its own by mail, which verifies the address. So does a link made on the command line of the server.',
      responses: async () => (await import('../responses/users.ts')).userResponses.reset,
      load: (call) => loadUser(store, call),
      async handle(call) {
        const { resource: user, now } = call
        if (user.email !== null) await userMail.unsuppress(user.email, now)
        const { token, expiresAt, obstacle } = await createPasswordLink({ store, userMail }, user, {
          now,
          atConsole: isConsole(call),
        })
        const url = `${publicUrl()}/dashboard/sign-in#reset=${token}`
        return { status: 201, body: { id: user.id, url, expires_at: iso(expiresAt), ...mailRecord(obstacle) } }
      },
    }),
  ]
}

/** The user in the path. Rejects with `not_found`, and with `forbidden` for a user of other organizations only. */
async function loadUser({ users }: Pick<Store, 'users'>, call: Call): Promise<User> {
  const user = requireFound(await users.get(pathParameter(call, 'user_id')), 'user')
  if (isOperator(call.key) || grantsOf(user).roles[call.organizationId] !== undefined) return user
  throw new Refusal('forbidden', 'This user belongs to another organization.')
}

/** Throws `forbidden` if an API key would change an owner, and for a key that expires or is limited to networks: the
 *  user would have no such limits. */
function requireAbove({ key, organizationId }: Call, user: User): void {
  if (isPerson(key)) return
  if (grantsOf(user).roles[organizationId] === 'owner') throw onlyOwner()
  if (key.expiresAt === null && key.allowedNetworks === null) return
  throw new Refusal('forbidden', 'Keys that expire or are limited to networks cannot manage users.')
}

async function updateUser(
  store: UserOperationsDeps['store'],
  call: Call & { resource: User; body: z.infer<typeof updateBody> },
) {
  const { users } = store
  const { key, user: acting, organizationId, resource, body, now } = call
  const byOperator = isOperator(key)
  const { email, name, is_operator: operatorFlag, disabled } = body
  const isOwnName =
    acting?.id === resource.id && email === undefined && operatorFlag === undefined && disabled === undefined
  const changesAccount = [email, name, operatorFlag, disabled].some((each) => each !== undefined)
  if (changesAccount && !byOperator && !isOwnName) throw beyondOrganization()
  if (body.role === 'owner' && !isPerson(key)) throw onlyOwner()
  if (body.role !== undefined && organizationId === '') throw needsOrganization()
  const granted = grantsOf(resource)
  const isNew =
    (operatorFlag === true && !granted.isOperator) ||
    (body.role !== undefined && organizationId !== resource.invitedTo && granted.roles[organizationId] === undefined)
  if (byOperator && isNew && !isVerified(resource)) await users.clear(resource.id, { proved: null, now })
  if (body.role !== undefined) requireDone(await users.setRole(resource.id, organizationId, body.role, byOperator))
  if (changesAccount) {
    const change = {
      ...(email === undefined ? {} : { email: foldedEmail(email) }),
      // The operator vouches for the new address of a person who is known; of others on the command line only.
      ...(email !== undefined && (isConsole(call) || resource.emailVerifiedAt !== null)
        ? { emailVerifiedAt: now }
        : {}),
      ...(name === undefined ? {} : { name }),
      ...(operatorFlag === undefined ? {} : { isOperator: operatorFlag }),
      ...(disabled === undefined ? {} : { disabledAt: disabled ? (resource.disabledAt ?? now) : null }),
    }
    requireDone(await users.update(resource.id, change))
  }
  const user = (await users.get(resource.id)) ?? resource
  return { status: 200, body: await recordWithFactors(store, user, byOperator ? null : organizationId) }
}

/** Result of a store method → nothing if it is done. Throws the Refusal otherwise. */
function requireDone(result: string): void {
  if (result === 'unknown') throw new Refusal('not_found', 'No such user. Check the ID.')
  if (result === 'email_taken') throw emailTaken()
  if (result === 'last_owner')
    throw new Refusal('conflict', 'This is the last owner of the organization. Make another user owner first.')
  if (result === 'last_operator')
    throw new Refusal('conflict', 'This is the last operator of this server. Make another user operator first.')
  if (result === 'too_many') throw new Refusal('conflict', 'The user or the organization has too many roles.')
}

const emailTaken = () => new Refusal('conflict', 'A user with this email address exists.', { field: 'email' })
const needsOrganization = () => invalid([{ field: 'X-Organization', message: 'role requires X-Organization' }])
const onlyOwner = () => new Refusal('forbidden', 'API keys cannot grant the role owner, nor change users who have it.')
const beyondOrganization = () =>
  new Refusal('forbidden', 'This affects the account beyond the organization. Only the operator can do it.')

async function recordWithFactors({ factors }: Pick<Store, 'factors'>, user: User, organizationId: string | null) {
  return userRecord(user, (await factors.summaries([user.id])).get(user.id), organizationId)
}

/** User and what they sign in with besides a password (undefined: nothing) → the record, with the role in
 *  `organizationId` only; null = all roles. */
function userRecord(user: User, factors: FactorSummary | undefined, organizationId: string | null) {
  const time = (at: number | null) => (at === null ? null : iso(at))
  const shown = ({ isOperator: isShownOperator, roles }: Grants) => ({
    is_operator: isShownOperator,
    roles: Object.entries<Role>(roles)
      .filter(([id]) => organizationId === null || id === organizationId)
      .map(([id, held]) => ({ organization_id: id, role: held })),
  })
  return {
    id: user.id,
    email: user.email,
    email_verified_at: time(user.emailVerifiedAt),
    name: user.name,
    ...shown(user),
    awaiting: shown(user.awaiting),
    two_step: factors?.hasTotp ?? false,
    passkeys: factors?.passkeys ?? 0,
    created_at: iso(user.createdAt),
    last_seen_at: time(user.lastSeenAt),
    disabled_at: time(user.disabledAt),
  }
}
