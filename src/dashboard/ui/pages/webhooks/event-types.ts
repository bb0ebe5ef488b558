/** Event types that a webhook can subscribe to, with a description. */
export const EVENT_TYPES: readonly (readonly [type: string, description: string])[] = [
  ['message.delivered', 'The recipient’s server accepted the message'],
  ['message.bounced', 'The message bounced, hard or soft'],
  ['message.deferred', 'Postrider will retry the delivery'],
  ['message.opened', 'A person or a bot loaded the tracking image'],
  ['message.clicked', 'A person or a bot clicked a tracked link'],
  ['message.unsubscribed', 'The recipient unsubscribed'],
  ['message.complained', 'The recipient marked the message as spam'],
  ['message.suppressed', 'The recipient is suppressed and gets no delivery attempt'],
  ['quality.alert', 'The bounce or complaint rate is above a threshold'],
]

/** The types that a new webhook gets unless the user chooses others. */
export const STANDARD_EVENT_TYPES = EVENT_TYPES.map(([type]) => type).filter((type) => type !== 'message.suppressed')
