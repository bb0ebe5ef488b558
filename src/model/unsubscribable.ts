import type { MessageFacts } from './event.ts'

/** What is kept of a delivery that retention removed while its recipient may still ask to stop. */
export interface Unsubscribable {
  deliveryId: string
  organizationId: string
  domainId: string
  messageId: string
  /** The From of the mail. */
  from: string
  email: string
  sentAt: number
}

/** What is kept → as much of its message as an event tells; subject, metadata and tags are gone. Only deliveries of live
 *  mail are kept so. */
export function messageLeftOf({ messageId, organizationId, domainId, from }: Unsubscribable): MessageFacts {
  return { id: messageId, organizationId, domainId, mode: 'live', from, subject: '', metadata: {}, tags: [] }
}
