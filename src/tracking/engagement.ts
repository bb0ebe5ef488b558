import { type EventType, iso, type MessageFacts, messageEvent } from '../model/event.ts'
import { suppressionOf } from '../model/suppression.ts'
import { messageLeftOf } from '../model/unsubscribable.ts'
import type { MintId } from '../os/ids.ts'
import type { Log } from '../os/log.ts'
import type { EngagementRecord, Store } from '../storage/store.ts'

/** Who came by a link, and when. */
export interface Visit {
  at: number
  /** '' when it was not said. */
  userAgent: string
  ipAddress: string
  machine: boolean
}

/** By the program of the mailbox (RFC 8058), or by hand on our page. */
export type UnsubscribeMethod = 'one_click' | 'link'

/** What recipients do with their mail, written down.
 *
 *  Lost    an open or a click while the store cannot write: a reader must not wait for our disk. An unsubscription never:
 *          it is answered once it is durable.
 *  Twice   opens and clicks are as many as they are; an unsubscription is one, however often it is asked for.
 *  Nothing happens for test mail, whose reactions were played when it was sent, nor after retention removed a delivery,
 *  but for unsubscriptions as long as their right lasts. */
export interface Engagement {
  opened(deliveryId: string, visit: Visit): Promise<void>
  clicked(deliveryId: string, url: string, visit: Visit): Promise<void>
  /** False when nobody knows any more whose it is. Throws what the store throws. */
  unsubscribed(deliveryId: string, method: UnsubscribeMethod, visit: Visit): Promise<boolean>
  /** The From of the mail; null when nobody knows any more. */
  senderOf(deliveryId: string): Promise<string | null>
}

/** Store → Engagement; `wakeWebhooks` after each event. */
export function createEngagement(deps: {
  store: Pick<Store, 'deliveries'>
  mintId: MintId
  log: Log
  wakeWebhooks: () => void
}): Engagement {
  const { mintId, log } = deps
  const { deliveries } = deps.store

  const count = async (deliveryId: string, fact: Fact, { at, ...visitor }: Visit) => {
    const found = await deliveries.get(deliveryId)
    if (found === null || found.message.mode === 'test') return
    const event = messageEvent(mintId('evt'), fact.type, found.message, found.delivery.email, at, {
      [`${fact.kind}_at`]: iso(at),
      ...(fact.url === undefined ? {} : { url: fact.url }),
      ...browserOf(visitor),
      machine: visitor.machine,
    })
    const { kind } = fact
    const record = { deliveryId, kind, machine: visitor.machine, event, suppression: null, now: at }
    if ((await deliveries.recordEngagement(record)) === 'told') deps.wakeWebhooks()
  }
  const countOrLog = (deliveryId: string, fact: Fact, visit: Visit) =>
    count(deliveryId, fact, visit).catch((error) => {
      log.error('what a reader did is not recorded', { delivery_id: deliveryId, kind: fact.kind, error })
    })

  /** Delivery and message, or what retention left of them. */
  const find = async (deliveryId: string): Promise<Found | null> => {
    const found = await deliveries.get(deliveryId)
    if (found !== null) return { message: found.message, email: found.delivery.email, isKept: true }
    const left = await deliveries.unsubscribable(deliveryId)
    if (left === null) return null
    return { message: messageLeftOf(left), email: left.email, isKept: false }
  }

  return {
    opened: (deliveryId, visit) => countOrLog(deliveryId, { kind: 'opened', type: 'message.opened' }, visit),
    clicked: (deliveryId, url, visit) =>
      countOrLog(deliveryId, { kind: 'clicked', type: 'message.clicked', url }, visit),
    senderOf: async (deliveryId) => (await find(deliveryId))?.message.from ?? null,

    async unsubscribed(deliveryId, method, { at, ...visitor }) {
      const found = await find(deliveryId)
      if (found === null) return false
      const { message, email } = found
      if (message.mode === 'test') return true
      const event = messageEvent(mintId('evt'), 'message.unsubscribed', message, email, at, {
        unsubscribed_at: iso(at),
        method,
        ...browserOf(visitor),
      })
      const suppression = suppressionOf(mintId('sup'), 'unsubscribe', message, email, at)
      const { machine } = visitor
      const told = found.isKept
        ? await deliveries.recordEngagement({ deliveryId, kind: 'unsubscribed', machine, event, suppression, now: at })
        : await deliveries.recordUnsubscribable(deliveryId, event, suppression)
      if (told === 'told') deps.wakeWebhooks()
      return true
    },
  }
}

interface Fact {
  kind: Exclude<EngagementRecord['kind'], 'unsubscribed'>
  type: EventType
  url?: string
}

interface Found {
  message: MessageFacts
  email: string
  isKept: boolean
}

function browserOf({ userAgent, ipAddress }: Pick<Visit, 'userAgent' | 'ipAddress'>) {
  return { user_agent: userAgent, ip_address: ipAddress }
}
