import { z } from 'zod'
import { iso } from '../../../model/event.ts'
import { INVITATION_MS, type Invitation } from '../../../model/invitation.ts'
import { Refusal } from '../../../model/refusal.ts'
import { foldedEmail, ROLES } from '../../../model/user.ts'
import { pathParameter } from '../../../net/path-parameter.ts'
import type { MintId } from '../../../os/ids.ts'
import type { UserLink } from '../../../sending/submission/user-links.ts'
import type { UserMail } from '../../../sending/submission/user-mail.ts'
import type { Store } from '../../../storage/store.ts'
import { INVITE, rule } from '../access.ts'
import { requireOwned } from '../errors.ts'
import { type Call, type Operation, operation } from '../operation.ts'
import { isOperator, isPerson } from '../operator.ts'
import { pageResponse, recordsRequest } from '../page.ts'
import { deleted } from '../rendered-response.ts'
import { mailRecord } from '../responses/user-mail.ts'
import { emailAddress, recordsQuery } from '../schema.ts'
import { hashToken } from '../sessions.ts'

const createBody = z.strictObject({
  email: emailAddress,
  role: z.enum(ROLES).describe('An API key cannot grant `owner`.'),
})

/** The operations of `/v1/invitations`: links with which people join the organization. The response is the same whether
 *  or not the address has an account, so that it does not reveal that. An existing account joins with its password.
 *
 *  A link that is shown would reveal it on the page that accepts: a new account takes any password, an existing one only its
 *  own. Operators see every account anyway. Others see a link only while the server mails none and has no other
 *  organization in which the address could have an account. */
export function invitationOperations(deps: {
  store: Pick<Store, 'invitations' | 'organizations'>
  mintId: MintId
  userMail: Pick<UserMail, 'obstacle' | 'mintLink' | 'send' | 'unsuppress'>
  publicUrl: () => string
}): Operation[] {
  const { store, mintId, userMail, publicUrl } = deps
  const send = async ({ key, user, now }: Call, invitation: Invitation, link: UserLink) => {
    const { email, role, expiresAt, organizationId } = invitation
    if (isOperator(key)) await userMail.unsuppress(email, now)
    const organization = (await store.organizations.get(organizationId))?.name ?? ''
    const text = { kind: 'invitation', role, organization, inviter: user?.name ?? null, expiresAt } as const
    return userMail.send({ to: email, text, link, expiresAt, invitedBy: { organizationId } }, now)
  }
  const isShown = async ({ key }: Call) => {
    if (isOperator(key)) return true
    return (
      userMail.obstacle() !== null && (await store.organizations.page({ limit: 2, after: null })).records.length === 1
    )
  }
  return [
    operation({
      id: 'invitations_create',
      method: 'POST',
      path: '/v1/invitations',
      tag: 'Users',
      access: INVITE,
      summary: 'Invite a user',
      description:
        'The link works once and expires after seven days. It replaces an earlier one for the same address, and stops working when the inviting user or key loses the right to invite. If the operator configured a sender, the server sends it by mail, which verifies the address. It sends at most three messages a day to an address, and fifty for an organization. `url` is another link for an operator, who can pass it on. It does not prove whose address it is: until the address is verified, the account has only this role. Others get null, because a link shows whether the address has an account. They get one while the server sends no mail to users and has only one organization.',
      responses: async () => (await import('../responses/invitations.ts')).invitationResponses.created,
      example: { email: 'bob@example.com', role: 'support' },
      body: createBody,
      async handle(call) {
        const { key, user, organizationId, body, now } = call
        if (!isPerson(key)) requirePermanentKey(key, body.role)
        const mailed = await userMail.mintLink()
        const { token } = await userMail.mintLink()
        const invitation: Invitation = {
          id: mintId('inv'),
          organizationId,
          email: foldedEmail(body.email),
          role: body.role,
          invitedBy: user?.id ?? key.id,
          createdAt: now,
          expiresAt: now + INVITATION_MS,
        }
        if (
          (await store.invitations.create(invitation, { shown: hashToken(token), mailed: hashToken(mailed.token) })) ===
          'too_many'
        )
          throw new Refusal('forbidden', 'Too many open invitations. Delete some first.')
        const url = (await isShown(call)) ? `${publicUrl()}/dashboard/sign-in#invitation=${token}` : null
        const mail = mailRecord(await send(call, invitation, mailed))
        return { status: 201, body: { ...invitationRecord(invitation), url, ...mail } }
      },
    }),
    operation({
      id: 'invitations_list',
      method: 'GET',
      path: '/v1/invitations',
      tag: 'Users',
      access: rule('admin', 'owner', 'refused', 'organization'),
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
      tag: 'Users',
      access: rule('admin', 'owner', 'refused', 'organization'),
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
