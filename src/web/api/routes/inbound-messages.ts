import { z } from 'zod'
import { clearBytesOf } from '../../../mail/blob.ts'
import { attachmentsIn, unpackRawBeside } from '../../../mail/inbound-content.ts'
import type { InboundMessage } from '../../../model/inbound-message.ts'
import { FIXED_LIMITS } from '../../../model/limits.ts'
import { Refusal } from '../../../model/refusal.ts'
import { pastedKey } from '../../../model/suppression.ts'
import { pathParameter } from '../../../net/path-parameter.ts'
import type { MintId } from '../../../os/ids.ts'
import type { Notify } from '../../../os/notifier.ts'
import type { InboundFilter, Store } from '../../../storage/store.ts'
import { rule } from '../access.ts'
import { requireOwned } from '../errors.ts'
import { type Call, type Operation, operation } from '../operation.ts'
import { pageRequest, pageResponse } from '../page.ts'
import { characters, domainIdOrName, emailAddress, pageFields, timeFields, timeRange } from '../schema.ts'
import { isWithin, NO_RECORDS, narrowed, requireLive, type Scope, scopeOf } from '../scope.ts'
import { type MakeInboundRecord, wholeInboundRecord } from './inbound-message-content.ts'
import { deliveryRecord, inboundRecord, inboundStatus } from './inbound-message-record.ts'
import { type AttachmentOf, attachmentAnswer, placeOf, rawAnswer } from './raw-mail.ts'

export interface InboundMessageDeps {
  store: Pick<Store, 'inbound' | 'inboundDeliveries' | 'inboundRoutes' | 'domains' | 'messages'>
  mintId: MintId
  notify: Notify
  inboundAttachment: AttachmentOf
  makeInboundRecord: MakeInboundRecord
}

/** The operations of `/v1/inbound-messages`: received messages, their status, and redelivery. */
export function inboundMessageOperations({
  store,
  mintId,
  notify,
  inboundAttachment,
  makeInboundRecord,
}: InboundMessageDeps): Operation[] {
  const load = async (call: Call) => {
    const message = await store.inbound.get(pathParameter(call, 'inbound_message_id'))
    return requireLive(message, scopeOf(call.key), 'inbound message')
  }
  /** The message that a mail answers, if the key can read it: it may belong to another domain. */
  const answeredWithin = async ({ inReplyTo, organizationId }: InboundMessage, scope: Scope) => {
    const answered = inReplyTo === null ? null : await store.inbound.answered(inReplyTo, organizationId)
    return answered !== null && isWithin(scope, answered) ? answered : null
  }
  const record = async (message: InboundMessage) => inboundRecord(message, await inboundStatus(message, store))

  return [
    operation({
      id: 'inbound_messages_list',
      method: 'GET',
      path: '/v1/inbound-messages',
      tag: 'Inbound mail',
      access: rule('read', 'viewer', 'test_records', 'own_domain'),
      tool: {
        name: 'list_inbound_messages',
        description: 'Lists received emails, newest first, without their bodies. Strangers wrote their content.',
      },
      summary: 'List inbound messages',
      description: '`status` is the status of the webhook delivery.',
      responses: async () => (await import('../responses/inbound-messages.ts')).inboundListResponses,
      refusals: ['not_found'],
      query: listQuery,
      async handle({ query, organizationId, key }) {
        await requireOwnFilters(query, organizationId, store)
        const within = narrowed(query, scopeOf(key))
        // All inbound mail is live.
        if (within === null || within.mode === 'test') return pageResponse(NO_RECORDS, () => null)
        const filter = { ...toFilter(query, organizationId), domainId: within.domainId }
        const page = await store.inbound.list(filter, pageRequest(query))
        const records = await Promise.all(page.records.map(record))
        return pageResponse({ ...page, records }, (each) => each)
      },
    }),
    operation({
      id: 'inbound_messages_get',
      method: 'GET',
      path: '/v1/inbound-messages/:inbound_message_id',
      tag: 'Inbound mail',
      access: rule('read', 'viewer', 'test_records', 'own_domain'),
      tool: {
        name: 'get_inbound_message',
        description:
          'Returns one received email with its bodies, headers, authentication results and the list of its attachments. A stranger wrote its content.',
      },
      summary: 'Retrieve an inbound message',
      description: 'Includes the bodies, the headers and a list of the attachments.',
      responses: async () => (await import('../responses/inbound-messages.ts')).inboundResponses,
      refusals: ['invalid_state'],
      load,
      reads: ({ sizeBytes }) => sizeBytes,
      async handle({ resource, key, readsBody }) {
        const packed = await store.inbound.parsed(resource.id)
        const { autoSubmitted, to, organizationId } = resource
        const facts = {
          record: await record(resource),
          message: { autoSubmitted, to },
          answered: await answeredWithin(resource, scopeOf(key)),
        }
        const isLarge = packed !== null && (clearBytesOf(packed) ?? 0) > LARGE_BYTES && readsBody !== true
        const body = isLarge
          ? await makeInboundRecord(packed, facts, organizationId)
          : wholeInboundRecord(facts, packed)
        return { status: 200, body }
      },
    }),
    operation({
      id: 'inbound_messages_raw',
      method: 'GET',
      path: '/v1/inbound-messages/:inbound_message_id/raw',
      tag: 'Inbound mail',
      access: rule('read', 'viewer', 'test_records', 'own_domain'),
      summary: 'Download the raw inbound message',
      description: 'The message as received, with our trace headers added at the top.',
      responses: async () => (await import('../responses/inbound-messages.ts')).inboundRawResponses,
      load,
      reads: ({ sizeBytes }) => sizeBytes,
      async handle({ resource }) {
        const packed = await store.inbound.raw(resource.id)
        if (packed === null)
          throw new Refusal('not_found', 'The content of this message was deleted after the retention period.')
        return rawAnswer(resource.id, await unpackRawBeside(packed))
      },
    }),
    operation({
      id: 'inbound_messages_attachment',
      method: 'GET',
      path: '/v1/inbound-messages/:inbound_message_id/attachments/:number',
      tag: 'Inbound mail',
      access: rule('read', 'viewer', 'test_records', 'own_domain'),
      summary: 'Download an attachment of an inbound message',
      description: 'Selected by its position in the `attachments` of the message, starting at 1.',
      responses: async () => [(await import('../responses/content.ts')).attachmentResponse],
      refusals: ['invalid_state'],
      load,
      reads: ({ sizeBytes }) => sizeBytes,
      async handle({ resource: { id }, params }) {
        const [parsed, raw] = [await store.inbound.parsed(id), await store.inbound.raw(id)]
        if (parsed === null || raw === null)
          throw new Refusal('not_found', 'The content of this message was deleted after the retention period.')
        const place = placeOf(params.number)
        // Of a mail that the readers cannot parse, no attachment is listed, so that nobody makes them try again.
        const listed = (await attachmentsIn(parsed))[place - 1]
        const bytes = listed === undefined ? null : await inboundAttachment(await unpackRawBeside(raw), place)
        if (listed === undefined || bytes === null)
          throw new Refusal('not_found', 'No such attachment. Check its number.')
        return attachmentAnswer(bytes, listed.filename)
      },
    }),
    operation({
      id: 'inbound_messages_deliveries',
      method: 'GET',
      path: '/v1/inbound-messages/:inbound_message_id/deliveries',
      tag: 'Inbound mail',
      access: rule('read', 'developer', 'test_records', 'own_domain'),
      summary: 'List deliveries of an inbound message',
      description: 'Each delivery includes its attempts.',
      responses: async () => (await import('../responses/inbound-messages.ts')).inboundDeliveriesResponses,
      load,
      async handle({ resource }) {
        const deliveries = await store.inboundDeliveries.ofMessage(resource.id)
        // Always one page: FIXED_LIMITS.redeliveries limits the number of deliveries.
        return { status: 200, body: { data: deliveries.map(deliveryRecord), has_more: false, next_cursor: null } }
      },
    }),
    operation({
      id: 'inbound_messages_redeliver',
      method: 'POST',
      path: '/v1/inbound-messages/:inbound_message_id/redeliver',
      tag: 'Inbound mail',
      access: rule('manage', 'support', 'test_records', 'own_domain'),
      summary: 'Redeliver an inbound message',
      description: 'Starts a new delivery to the endpoint with five attempts.',
      responses: async () => (await import('../responses/inbound-messages.ts')).redeliverResponses,
      refusals: ['invalid_state'],
      body: z.strictObject({}),
      bodyOptional: true,
      load,
      reads: ({ sizeBytes }) => sizeBytes,
      async handle({ resource, now }) {
        await requireRedeliverable(resource)
        const id = mintId('whd')
        const result = await store.inboundDeliveries.redeliver(resource.id, id, now)
        if (result === 'under_way')
          throw new Refusal('invalid_state', 'A delivery of this message is still pending. Wait until it ends.')
        if (result === 'limit') {
          const { redeliveries } = FIXED_LIMITS
          throw new Refusal('invalid_state', `This message was already queued ${redeliveries} times, the maximum.`)
        }
        notify('inbound deliveries')
        const deliveries = await store.inboundDeliveries.ofMessage(resource.id)
        const [queued] = deliveries.filter((delivery) => delivery.id === id).map(deliveryRecord)
        return { status: 202, body: queued }
      },
    }),
  ]

  /** Rejects with `invalid_state` if the message cannot be redelivered. A disabled route is accepted: its deliveries
   *  are sent when it is enabled again. */
  async function requireRedeliverable(message: InboundMessage): Promise<void> {
    if (message.action !== 'webhook')
      throw new Refusal('invalid_state', 'This message was not received for a webhook route.')
    const route = message.routeId === null ? null : await store.inboundRoutes.get(message.routeId)
    if (route === null) throw new Refusal('invalid_state', 'The route of this message was deleted.')
    if (route.action.type !== 'webhook') throw new Refusal('invalid_state', 'The route of this message has no webhook.')
    if ((await store.inbound.parsed(message.id)) === null) {
      throw new Refusal('invalid_state', 'The content of this message was deleted after the retention period.')
    }
  }
}

/** Content whose JSON a thread makes: half a megabyte of control characters takes 5 ms. */
const LARGE_BYTES = 2 ** 19

const listQuery = z.strictObject({
  ...pageFields,
  ...timeFields,
  route_id: characters(64).optional(),
  domain_id: domainIdOrName.optional(),
  from: emailAddress.optional(),
  to: emailAddress.optional(),
  status: z.enum(['pending', 'delivered', 'failed']).optional(),
  q: characters(254)
    .optional()
    .describe('Part of the address of the sender or of a recipient, among the newest 50,000 messages.'),
})
type ListQuery = z.infer<typeof listQuery>

/** Checks the records that a query refers to. Rejects with `forbidden` for another organization's domain or route, and
 *  with `not_found` for an unknown domain. An unknown route is accepted, because messages of deleted routes remain. */
async function requireOwnFilters(
  query: ListQuery,
  organizationId: string,
  store: InboundMessageDeps['store'],
): Promise<void> {
  if (query.domain_id !== undefined) requireOwned(await store.domains.get(query.domain_id), organizationId, 'domain')
  const route = query.route_id === undefined ? null : await store.inboundRoutes.get(query.route_id)
  if (route !== null) requireOwned(route, organizationId, 'inbound route')
}

function toFilter(query: ListQuery, organizationId: string): InboundFilter {
  return {
    organizationId,
    routeId: query.route_id ?? null,
    domainId: query.domain_id ?? null,
    from: query.from ?? null,
    to: query.to ?? null,
    status: query.status ?? null,
    part: pastedKey(query.q ?? '') || null,
    ...timeRange(query),
  }
}
