/** What a webhook can subscribe to, in words. The names are the API's. */
export const EVENT_TYPES: readonly (readonly [type: string, words: string])[] = [
  ['message.delivered', 'the recipient’s server took it'],
  ['message.bounced', 'it was refused, for good or for now'],
  ['message.deferred', 'it will be tried again'],
  ['message.opened', 'somebody, or a machine, loaded its image'],
  ['message.clicked', 'a link was followed'],
  ['message.unsubscribed', 'the recipient wants no more'],
  ['message.complained', 'it was marked as spam'],
  ['quality.alert', 'bounces or complaints are over a threshold'],
]
