import type { MessageFacts } from './event.ts'

/** What remains of a delivery that retention removed, so that its recipient can still unsubscribe. */
export interface Unsubscribable {
  deliveryId: string
  organizationId: string
  domainId: string
  messageId: string
  stream: string
  /** From address of the mail. */
  from: string
  email: string
  sentAt: number
}

/** Remaining record → the message fields that an event contains; subject, metadata and tags are removed. Only
 *  deliveries of live mail have such a record. */
export function messageLeftOf({ messageId, organizationId, domainId, stream, from }: Unsubscribable): MessageFacts {
  return {
    id: messageId,
    organizationId,
    domainId,
    mode: 'live',
    from,
    subject: '',
    metadata: {},
    tags: [],
    stream,
  }
}
