import { z } from 'zod'
import { iso } from '../../model/event.ts'
import { INVITATION_MS, type Invitation } from '../../model/invitation.ts'
import { Refusal } from '../../model/refusal.ts'
import { foldedEmail, ROLES } from '../../model/user.ts'
import { pathParameter } from '../../net/path-parameter.ts'
import type { MintId } from '../../os/ids.ts'
import type { Random } from '../../os/random.ts'
import type { Store } from '../../storage/store.ts'
import { requireOwned } from '../errors.ts'
import { type Call, type Operation, operation } from '../operation.ts'
import { isPerson } from '../operator.ts'
import { pageResponse, recordsRequest } from '../page.ts'
import { deleted } from '../rendered-response.ts'
import { emailAddress, recordsQuery } from '../schema.ts'
import { hashToken, mintToken } from '../sessions.ts'

const createBody = z.strictObject({
  email: emailAddress,
  role: z.enum(ROLES).describe('An API key cannot grant `owner`.'),
})

/** The operations of `/v1/invitations`: links with which people join the organization. The response is the same whether
 *  or not the address has an account, so that it does not reveal that. An existing account joins with its password. */
export function invitationOperations(deps: {
  store: Pick<Store, 'invitations'>
  random: Random
  mintId: MintId
  publicUrl: () => string
}): Operation[] {
  const { store, random, mintId, publicUrl } = deps
  return [
    operation({
      id: 'invitations_create',
      method: 'POST',
      path: '/v1/invitations',
      summary: 'Invite a user',
      description:
        'The link works once and expires after seven days. It replaces an earlier one for the same address, and stops working when the inviting user or key loses the right to invite.',
      responses: async () => (await import('../responses/invitations.ts')).invitationResponses.created,
      example: { email: 'bob@example.com', role: 'support' },
      body: createBody,
      async handle({ key, user, organizationId, body, now }) {
        if (!isPerson(key)) requirePermanentKey(key, body.role)
        const token = mintToken(random)
        const invitation: Invitation = {
          id: mintId('inv'),
          organizationId,
          email: foldedEmail(body.email),
          role: body.role,
          invitedBy: user?.id ?? key.id,
          createdAt: now,
          expiresAt: now + INVITATION_MS,
        }
        if ((await store.invitations.create(invitation, hashToken(token))) === 'too_many')
          throw new Refusal('forbidden', 'Too many open invitations. Delete some first.')
        const url = `${publicUrl()}/dashboard/sign-in#invitation=${token}`
        return { status: 201, body: { ...invitationRecord(invitation), url } }
      },
    }),
    operation({
      id: 'invitations_list',
      method: 'GET',
      path: '/v1/invitations',
      summary: 'List open invitations',
      responses: async () => (await import('../responses/invitations.ts')).invitationResponses.list,
      query: recordsQuery,
      handle: async ({ organizationId, query, now }) =>
        pageResponse(await store.invitations.list(organizationId, now, recordsRequest(query)), invitationRecord),
    }),
    operation({
      id: 'invitations_delete',
      method: 'DELETE',
      path: '/v1/invitations/:invitation_id',
      summary: 'Withdraw an invitation',
      responses: async () => (await import('../responses/invitations.ts')).invitationResponses.deleted,
      load: async (call: Call) => {
        const invitation = await store.invitations.get(pathParameter(call, 'invitation_id'))
        return requireOwned(invitation, call.organizationId, 'invitation')
      },
      async handle({ resource }) {
        await store.invitations.remove(resource.id)
        return deleted(resource.id)
      },
    }),
  ]
}

function requirePermanentKey({ expiresAt, allowedNetworks }: Call['key'], role: string): void {
  if (role === 'owner') throw new Refusal('forbidden', 'API keys cannot grant the role owner.', { field: 'role' })
  if (expiresAt === null && allowedNetworks === null) return
  throw new Refusal('forbidden', 'Keys that expire or are limited to networks cannot manage users.')
}

function invitationRecord({ id, email, role, invitedBy, createdAt, expiresAt }: Invitation) {
  return { id, email, role, invited_by: invitedBy, created_at: iso(createdAt), expires_at: iso(expiresAt) }
}
