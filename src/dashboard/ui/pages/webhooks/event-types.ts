type Described = readonly (readonly [type: string, description: string])[]

/** Event types that a new webhook gets unless the user chooses others, with a description. */
export const STANDARD_EVENTS: Described = [
  ['message.delivered', 'The recipient’s server accepted the message'],
  ['message.bounced', 'The message bounced, hard or soft'],
  ['message.deferred', 'Postrider will retry the delivery'],
  ['message.opened', 'A person or a bot loaded the tracking image'],
  ['message.clicked', 'A person or a bot clicked a tracked link'],
  ['message.unsubscribed', 'The recipient unsubscribed'],
  ['message.complained', 'The recipient marked the message as spam'],
  ['quality.alert', 'The bounce or complaint rate is above a threshold'],
]

/** The other event types that a webhook can subscribe to. */
export const MORE_EVENTS: Described = [
  ['message.accepted', 'Postrider accepted the message'],
  ['message.suppressed', 'The recipient is suppressed and gets no delivery attempt, or no further one'],
  ['message.cancelled', 'The message was cancelled before delivery'],
  ['message.expired', 'The message was not delivered within its time limit'],
  ['inbound.received', 'A message arrived'],
  ['domain.verified', 'A domain was verified'],
  ['domain.failed', 'The verification of a domain failed'],
  ['webhook.paused', 'Another webhook was paused'],
  ['suppression.added', 'A suppression was added'],
  ['suppression.removed', 'A suppression was removed'],
]

export const EVENT_TYPES: readonly string[] = [...STANDARD_EVENTS, ...MORE_EVENTS].map(([type]) => type)
