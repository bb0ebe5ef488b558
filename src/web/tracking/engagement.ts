import { type EventType, iso, type MessageFacts, messageEvent } from '../../model/event.ts'
import { suppressionOf } from '../../model/suppression.ts'
import { messageLeftOf } from '../../model/unsubscribable.ts'
import type { MintId } from '../../os/ids.ts'
import type { Log } from '../../os/log.ts'
import type { Notify } from '../../os/notifier.ts'
import type { EngagementRecord, Store } from '../../storage/store.ts'

/** A request to a link, and its time. */
export interface Visit {
  at: number
  /** '' if missing. */
  userAgent: string
  ipAddress: string
  machine: boolean
}

/** By the mail program (RFC 8058), or by hand on our page. */
export type UnsubscribeMethod = 'one_click' | 'link'

/** Records recipients' reactions to mail.
 *
 *  Lost: an open or click while the store cannot write, since readers must not wait for our disk. Never an
 *  unsubscription: the response follows once it is durable.
 *  Twice: every open and click counts; repeated unsubscriptions count once. Ignored: test mail, whose reactions were
 *  simulated when it was sent, and deliveries removed by retention, except unsubscriptions while their record is
 *  kept. */
export interface Engagement {
  opened(deliveryId: string, visit: Visit): Promise<void>
  clicked(deliveryId: string, url: string, visit: Visit): Promise<void>
  /** False when the recipient is no longer known. Throws what the store throws. */
  unsubscribed(deliveryId: string, method: UnsubscribeMethod, visit: Visit): Promise<boolean>
  /** From of the mail; null when no longer known. */
  senderOf(deliveryId: string): Promise<string | null>
}

/** Creates Engagement from the store. It calls `notify` after each event. */
export function createEngagement(deps: {
  store: Pick<Store, 'deliveries'>
  mintId: MintId
  log: Log
  notify: Notify
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
    if ((await deliveries.recordEngagement(record)) === 'recorded') deps.notify('webhook deliveries')
  }
  const countOrLog = (deliveryId: string, fact: Fact, visit: Visit) =>
    count(deliveryId, fact, visit).catch((error) => {
      log.error('open, click or unsubscribe not recorded', { delivery_id: deliveryId, kind: fact.kind, error })
    })

  /** Delivery and message, or the part that retention keeps. */
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
      const result = found.isKept
        ? await deliveries.recordEngagement({ deliveryId, kind: 'unsubscribed', machine, event, suppression, now: at })
        : await deliveries.recordUnsubscribable(deliveryId, event, suppression)
      if (result === 'recorded') deps.notify('webhook deliveries')
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
