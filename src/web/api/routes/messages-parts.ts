import type { StoredMail } from '../../../mail/shown-content.ts'
import { Refusal } from '../../../model/refusal.ts'
import type { Store } from '../../../storage/store.ts'
import { rule } from '../access.ts'
import { type Operation, operation } from '../operation.ts'
import { isWithin, scopeOf, withoutOnlyDomain } from '../scope.ts'
import { loadMessage } from './message-record.ts'
import { attachmentAnswer, placeOf } from './raw-mail.ts'
import { webhookDeliveryRecord } from './webhook-deliveries.ts'

export interface PartsDeps {
  store: Pick<Store, 'domains' | 'messages' | 'webhooks' | 'webhookDeliveries' | 'events'>
  storedMail: StoredMail
}

/** The operations for webhook deliveries and attachments of a message. */
export function messagePartOperations({ store, storedMail }: PartsDeps): Operation[] {
  const load = loadMessage({ store })
  return [
    operation({
      id: 'messages_webhook_deliveries',
      method: 'GET',
      path: '/v1/messages/:message_id/webhook-deliveries',
      tag: 'Messages',
      access: rule('manage', 'developer', 'test_records', 'own_domain'),
      summary: 'List webhook deliveries of a message',
      description: 'Deliveries of its events to all webhooks, with every attempt.',
      responses: async () => (await import('../responses/webhooks.ts')).messageWebhookDeliveriesResponses,
      load,
      async handle({ resource: { id, organizationId }, key }) {
        const { records, hasMore } = await store.webhookDeliveries.ofMessage(organizationId, id, MOST_DELIVERIES)
        const webhooks = new Set<string>()
        const scope = await withoutOnlyDomain(scopeOf(key), store)
        for (const webhookId of new Set(records.map((each) => each.webhookId))) {
          const webhook = await store.webhooks.get(webhookId)
          if (webhook !== null && isWithin(scope, webhook)) webhooks.add(webhookId)
        }
        const own = records.filter(({ webhookId }) => webhooks.has(webhookId))
        const data = own.map(webhookDeliveryRecord)
        return { status: 200, body: { data, has_more: hasMore, next_cursor: null } }
      },
    }),
    operation({
      id: 'messages_attachment',
      method: 'GET',
      path: '/v1/messages/:message_id/attachments/:number',
      tag: 'Messages',
      access: rule('read', 'viewer', 'test_records', 'own_domain'),
      summary: 'Download an attachment',
      description: 'Selected by its position in the `attachments` of the content, starting at 1.',
      responses: async () => [(await import('../responses/content.ts')).attachmentResponse],
      refusals: ['invalid_state'],
      load,
      reads: ({ sizeBytes }) => sizeBytes,
      async handle({ resource: message, params }) {
        const packed = await store.messages.content(message.id)
        const place = placeOf(params.number)
        const found = packed !== null && place > 0
        const attachment = found ? await storedMail.attachment(packed, place, message.organizationId) : null
        if (attachment === null) throw new Refusal('not_found', 'No such attachment. Check its number.')
        return attachmentAnswer(attachment, null)
      },
    }),
  ]
}

/** Maximum number of deliveries in a response, the latest ones. Enough for fifty recipients with several events each; a
 *  message that is opened very often has more. */
const MOST_DELIVERIES = 200
