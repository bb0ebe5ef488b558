import type { Event } from './event.ts'

/** What is counted of mail, by recipients. Periods are those in which the thing happened or became known: a bounce that
 *  comes after the delivery leaves `delivered` where it stands. Camel case of the wire's names; what is not on the wire
 *  says why it is here. */
export const COUNTED = [
  /** Recipients of accepted messages, the suppressed ones with them. */
  'accepted',
  'delivered',
  /** Every deferral, so one recipient may count more than once. */
  'deferred',
  /** Bounces that are final; a soft one that is tried again is a deferral. */
  'hardBounced',
  'softBounced',
  /** Of both: those whose delivery had counted as delivered. For rates, which take each recipient once. */
  'lateBounced',
  /** By people, as far as can be told; `unique` is the first of a recipient. */
  'opened',
  'uniqueOpened',
  'clicked',
  'uniqueClicked',
  /** By proxies and scanners: apart, and shown nowhere yet. */
  'machineOpened',
  'machineClicked',
  'unsubscribed',
  'complained',
  'suppressed',
] as const

export type Counted = (typeof COUNTED)[number]
export type Counts = Record<Counted, number>

/** Nothing was counted. */
export function noCounts(): Counts {
  return Object.fromEntries(COUNTED.map((name) => [name, 0])) as Counts
}

/** What the change that tells of an event knows beyond it. */
export interface Telling {
  /** Such an event of that recipient was told before (opens and clicks). */
  isRepeat?: boolean
  /** A bounce of what had counted as delivered. */
  isLate?: boolean
}

/** Event → what it adds one to, and the tags of its message. Nothing for events that are about no recipient, and for
 *  samples. Never throws. */
export function countedBy(
  event: Pick<Event, 'type' | 'body'>,
  telling: Telling,
): { counted: Counted[]; tags: string[] } {
  const data = readData(event.body)
  if (data.test === true) return { counted: [], tags: [] }
  const tags = Array.isArray(data.tags) ? (data.tags as string[]) : []
  return { counted: namesOf(event.type, data, telling), tags }
}

function namesOf(type: Event['type'], data: Record<string, unknown>, { isRepeat, isLate }: Telling): Counted[] {
  switch (type) {
    case 'message.delivered':
      return ['delivered']
    case 'message.deferred':
      return ['deferred']
    case 'message.bounced': {
      if (data.will_retry === true) return []
      const name = data.bounce_type === 'hard' ? 'hardBounced' : 'softBounced'
      return isLate ? [name, 'lateBounced'] : [name]
    }
    case 'message.opened':
      if (data.machine === true) return ['machineOpened']
      return isRepeat ? ['opened'] : ['opened', 'uniqueOpened']
    case 'message.clicked':
      if (data.machine === true) return ['machineClicked']
      return isRepeat ? ['clicked'] : ['clicked', 'uniqueClicked']
    case 'message.unsubscribed':
      return ['unsubscribed']
    case 'message.complained':
      return ['complained']
    case 'quality.alert':
      return []
  }
}

function readData(body: string): Record<string, unknown> {
  const envelope = JSON.parse(body) as { data?: Record<string, unknown> }
  return envelope.data ?? {}
}

/** Recipients whose fate is known, each once: delivered for good, or bounced. */
export function sentOf({ delivered, lateBounced }: Pick<Counts, 'delivered' | 'lateBounced'>, bounced: number): number {
  return bounced + keptDelivered({ delivered, lateBounced })
}

/** Delivered and not bounced later. The bounce may lie in a period of its own, where nothing was delivered. */
export function keptDelivered({ delivered, lateBounced }: Pick<Counts, 'delivered' | 'lateBounced'>): number {
  return Math.max(0, delivered - lateBounced)
}

/** Part of a whole, from 0 to 1; of nothing 0. */
export function share(part: number, whole: number): number {
  return whole === 0 ? 0 : Math.min(1, part / whole)
}
