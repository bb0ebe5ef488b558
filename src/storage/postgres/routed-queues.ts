import { destinationOf } from '../../model/delivery.ts'
import { tableOf } from '../../os/records.ts'
import { createDueIndex, type DueIndex } from '../due-index.ts'
import { slotOf, slotOfQueue } from '../slots.ts'
import { createQueue, type Queue, type QueueTable, type Share } from './claims.ts'
import type { Destinations, DomainAndDestination } from './destinations.ts'
import type { MailLane } from './group.ts'
import type { Reads } from './reads.ts'
import { routedIndex } from './routed-index.ts'
import type { Offer } from './wake-ups.ts'

const NONE: ReadonlySet<string> = new Set()

const QUEUE_NAMES = ['deliveries', 'webhookDeliveries', 'inboundDeliveries'] as const
export type QueueName = (typeof QUEUE_NAMES)[number]

const QUEUES: Record<QueueName, QueueTable> = {
  deliveries: {
    table: 'delivery_queue',
    slotOf: slotOfQueue,
    isDated: `q.status = 'scheduled'`,
    // After two attempts that ended with their process, a delivery waits 5 s, 20 s, 45 s, so that a message that
    // crashes the process lets the server run in between.
    hasMessages: true,
    pauseMs: '5000 * greatest(0, q.attempts - q.recorded - 2) * greatest(0, q.attempts - q.recorded - 2)',
  },
  webhookDeliveries: { table: 'webhook_queue', slotOf },
  inboundDeliveries: { table: 'inbound_queue', slotOf },
}

const isQueueName = (name: string): name is QueueName => Object.hasOwn(QUEUES, name)

/** The three queues with the due times of the keys that this node handles. */
export interface RoutedQueues {
  due: Record<QueueName, DueIndex>
  queues: Record<QueueName, Queue>
  /** True if no claim of this node in the slot is under way. */
  isIdle(slot: number): boolean
  /** Claims of this node under way. */
  underWay(): number
  /** Reads the due times of these slots. */
  load(slots: Iterable<number>): Promise<void>
  /** Drops the keys of slots that this node does not own. */
  dropForeign(): void
  /** Another node offers a key, for the owner of the slot `supposed`. */
  offered(queue: string, key: string, at: number, supposed: number): void
  /** What an ended worker was doing is due again. */
  endLeases(lane: MailLane, worker: string, now: number): Promise<void>
}

/** `elsewhere` gets the offers of keys that other nodes handle, with the destination if those may not know it. */
export function createRoutedQueues(options: {
  share: Share
  reads: Reads
  destinations: () => Destinations
  elsewhere: (offer: Offer, noted: DomainAndDestination | null) => void
  onWork: (queue: QueueName) => void
}): RoutedQueues {
  const { share, reads, destinations, elsewhere, onWork } = options
  const homeOf: Record<QueueName, (key: string) => number> = {
    ...tableOf(QUEUE_NAMES, (queue) => QUEUES[queue].slotOf),
    deliveries: (queue) => destinations().homeOf(queue),
  }
  const due = tableOf(QUEUE_NAMES, (queue) =>
    routedIndex(createDueIndex(), {
      homeOf: homeOf[queue],
      owns: share.owns,
      elsewhere: (key, at) => elsewhere([queue, key, at, homeOf[queue](key)], null),
    }),
  )
  const queues = tableOf(QUEUE_NAMES, (queue) =>
    createQueue({ ...QUEUES[queue], homeOf: homeOf[queue] }, due[queue], share),
  )
  const all = Object.values(queues)
  return {
    due,
    queues,
    isIdle: (slot) => all.every((queue) => queue.isIdle(slot)),
    underWay: () => all.reduce((sum, queue) => sum + queue.underWay(), 0),
    load: async (slots) => {
      const wanted = new Set(slots)
      if (wanted.size === 0) return
      await Promise.all(all.map((queue) => queue.load(reads, wanted)))
      for (const queue of QUEUE_NAMES) onWork(queue)
    },
    dropForeign: () => {
      for (const queue of all) queue.dropForeign()
    },
    offered: (queue, key, at, supposed) => {
      if (!isQueueName(queue)) return
      const home = homeOf[queue](key)
      if (share.owns(home)) {
        due[queue].offer(key, at)
        onWork(queue)
      } else if (home !== supposed && share.owns(QUEUES[queue].slotOf(key))) {
        // The node that offered it did not know its destination.
        const domain = destinationOf(key)
        elsewhere([queue, key, at, home], [domain, destinations().of(domain)])
      }
    },
    endLeases: async (lane, worker, now) => {
      for (const queue of all) await queue.endLeases(lane, worker, NONE, now)
    },
  }
}
