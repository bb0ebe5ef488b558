import { shownContent } from '../../mail/shown-content.ts'
import { Refusal } from '../../model/refusal.ts'
import type { Store } from '../../storage/store.ts'
import { type Operation, operation } from '../operation.ts'
import { loadMessage } from './message-record.ts'
import { PRIVATE } from './raw-mail.ts'
import { webhookDeliveryRecord } from './webhook-deliveries.ts'

export interface PartsDeps {
  store: Pick<Store, 'messages' | 'webhookDeliveries'>
}

/** Of one message: what webhooks were told of it, and its attachments. */
export function messagePartOperations({ store }: PartsDeps): Operation[] {
  const load = loadMessage({ store })
  return [
    operation({
      id: 'messages_webhook_deliveries',
      method: 'GET',
      path: '/v1/messages/:message_id/webhook-deliveries',
      permission: 'manage',
      summary: 'How each webhook was told of a message, with every attempt; newest first',
      answers: async () => (await import('../answers/webhooks.ts')).messageWebhookDeliveriesAnswers,
      load,
      async handle({ resource: { id, organizationId } }) {
        const { records, hasMore } = await store.webhookDeliveries.ofMessage(organizationId, id, MOST_DELIVERIES)
        return { status: 200, body: { data: records.map(webhookDeliveryRecord), has_more: hasMore, next_cursor: null } }
      },
    }),
    operation({
      id: 'messages_attachment',
      method: 'GET',
      path: '/v1/messages/:message_id/attachments/:number',
      permission: 'read',
      summary: 'One attachment as it was given, by its place in the list of `content`, from 1',
      answers: async () => [
        (await import('../answers/content.ts')).ofPart('application/octet-stream', 'Its bytes, whatever type it has.'),
      ],
      load,
      reads: ({ sizeBytes }) => sizeBytes,
      async handle({ resource: message, params }) {
        const packed = await store.messages.content(message.id)
        const place = /^[1-9]\d{0,3}$/.test(params.number ?? '') ? Number(params.number) : 0
        const attachment = packed === null ? undefined : shownContent(packed).attachments[place - 1]
        if (attachment === undefined) throw new Refusal('not_found', 'there is no such attachment')
        const headers = { 'content-disposition': 'attachment', ...PRIVATE }
        return { status: 200, body: attachment.content, contentType: 'application/octet-stream', headers }
      },
    }),
  ]
}

/** Fifty recipients with some events each; a message that is opened ten thousand times shows the newest. */
const MOST_DELIVERIES = 200
