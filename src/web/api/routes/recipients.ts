import { z } from 'zod'
import { ERASURES_TOGETHER, type Erasure } from '../../../model/erasure.ts'
import { iso } from '../../../model/event.ts'
import { Refusal } from '../../../model/refusal.ts'
import { suppressionKey } from '../../../model/suppression.ts'
import { pathParameter } from '../../../net/path-parameter.ts'
import type { MintId } from '../../../os/ids.ts'
import type { Store } from '../../../storage/store.ts'
import { rule } from '../access.ts'
import { requireOwned } from '../errors.ts'
import { type Operation, operation } from '../operation.ts'
import { pageResponse, recordsRequest } from '../page.ts'
import { emailAddress, recordsQuery } from '../schema.ts'

/** The operations that erase what names a recipient. The work is done by maintenance, in small steps. */
export function recipientOperations({
  store,
  mintId,
}: {
  store: Pick<Store, 'erasures'>
  mintId: MintId
}): Operation[] {
  return [
    operation({
      id: 'recipients_erase',
      method: 'POST',
      path: '/v1/recipients/erase',
      tag: 'Recipients',
      access: rule('admin', 'admin', 'refused', 'organization'),
      summary: 'Erase a recipient',
      description:
        'Removes the address from live and test records: messages to nobody else, its part of other messages with their content, inbound messages from or to it, and events. Cancels queued mail to it. Statistics stay, and a keyed hash keeps a suppression. `remaining` lists users, invitations, routes and forward targets that still name it. Runs in the background. Backups keep the address.',
      responses: async () => (await import('../responses/recipients.ts')).erasureBegunResponses,
      refusals: ['invalid_state'],
      example: { email: 'forget-me@customer.example' },
      body: z.strictObject({ email: emailAddress }),
      async handle({ organizationId, now, body }) {
        const email = suppressionKey(body.email)
        const erasure = await store.erasures.begin({ id: mintId('era'), organizationId, email, now })
        if (erasure === null) {
          throw new Refusal('invalid_state', `${ERASURES_TOGETHER} erasures run. Wait until one has ended.`)
        }
        return { status: 202, body: erasureRecord(erasure) }
      },
    }),
    operation({
      id: 'recipients_erasures_list',
      method: 'GET',
      path: '/v1/recipients/erasures',
      tag: 'Recipients',
      access: rule('admin', 'admin', 'refused', 'organization'),
      summary: 'List erasures',
      responses: async () => (await import('../responses/recipients.ts')).erasureListResponses,
      query: recordsQuery,
      handle: async ({ organizationId, query }) =>
        pageResponse(await store.erasures.list(organizationId, recordsRequest(query)), erasureRecord),
    }),
    operation({
      id: 'recipients_erasure_get',
      method: 'GET',
      path: '/v1/recipients/erasures/:erasure_id',
      tag: 'Recipients',
      access: rule('admin', 'admin', 'refused', 'organization'),
      summary: 'Retrieve an erasure',
      responses: async () => (await import('../responses/recipients.ts')).erasureResponses,
      load: async (call) =>
        requireOwned(await store.erasures.get(pathParameter(call, 'erasure_id')), call.organizationId, 'erasure'),
      handle: async ({ resource }) => ({ status: 200, body: erasureRecord(resource) }),
    }),
  ]
}

/** Erasure → its JSON record. */
function erasureRecord({ id, addressHash, createdAt, finishedAt, removed, remaining }: Erasure) {
  return {
    id,
    status: finishedAt === null ? ('running' as const) : ('done' as const),
    address_hash: addressHash,
    created_at: iso(createdAt),
    finished_at: finishedAt === null ? null : iso(finishedAt),
    removed: {
      messages: removed.messages,
      shared_messages: removed.sharedMessages,
      events: removed.events,
      inbound_messages: removed.inboundMessages,
      responses: removed.responses,
      suppressions: removed.suppressions,
    },
    remaining,
  }
}
