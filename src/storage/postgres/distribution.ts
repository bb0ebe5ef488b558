import { destinationOf } from '../../model/delivery.ts'
import { tableOf } from '../../os/records.ts'
import { createDueIndex, type DueIndex } from '../due-index.ts'
import { slotOf, slotOfQueue } from '../slots.ts'
import type { NodeObserver } from '../store.ts'
import type { DatabaseAddress } from './address.ts'
import { createQueue, type Queue, type QueueTable, type Share } from './claims.ts'
import { createCluster } from './cluster.ts'
import type { Connection } from './connection.ts'
import type { Destinations, DomainAndDestination, LimitsOptions } from './destinations.ts'
import type { FanOut } from './fan-out.ts'
import type { MailLane } from './group.ts'
import type { History } from './history.ts'
import type { Node } from './nodes.ts'
import type { Places } from './places.ts'
import type { Reads } from './reads.ts'
import { routedIndex } from './routed-index.ts'
import { createSlotOwner } from './slot-owner.ts'
import { createWakeUps } from './wake-ups.ts'
import type { postgresWorkers } from './workers.ts'
import type { Writer } from './writer.ts'

/** How others know this node, and what happens to it. */
export interface NodeOptions {
  name?: string
  /** Public hostname of its machine. */
  hostname?: string
  version?: string
  /** True for a command beside the server: it handles no mail. */
  isCommand?: boolean
  /** Others end this node when they have not seen it for so long. */
  takeoverMs?: number
  /** Another node ended this one, or the database went back: the process must stop. */
  onEnded?: (reason: string) => void
  observer?: NodeObserver
  /** A queue has something due that another node wrote. */
  onWork?: (queue: QueueName) => void
  /** Followers can read further events of the organization. */
  onEvents?: (organizationId: string) => void
  /** The database's clock (ms UTC) at some time of an exchange that took `tookMs` and has just ended: at the start, and
   *  with each beat. */
  onTime?: (time: number, tookMs: number) => void
  limits?: LimitsOptions
}

const TAKEOVER_MS = 10_000
/** How often a node looks for work of ended nodes, and for due times whose notification was lost. */
const LOOK_MS = 30_000
/** A node without contact to the database for so long sends clients to others. */
const SILENT_MS = 2_000
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

/** How the nodes divide the work in the queues. */
export interface Distribution {
  due: Record<QueueName, DueIndex>
  queues: Record<QueueName, Queue>
  /** Tells the other nodes that the settings reached a version, and resolves when they have it. */
  announce(version: number): Promise<void>
  /** Tells them which domains share the limits of which destinations. */
  announceDestinations(noted: readonly DomainAndDestination[]): void
  /** Place up to which no node writes further events. */
  passed(): number
  /** False once other nodes may have ended this one, and changed settings without it. */
  isCurrent(): boolean
  /** Call it when events are read as they happen. */
  follow(): void
  /** Events of an organization were committed, the last one at this place. */
  happened(organizationId: string, place: number): void
  /** How this node hands its work over. */
  hand: {
    /** Claims nothing more. */
    over(): void
    /** Why requests should go to another node; null if they need not. */
    whyNotReady(): string | null
  }
  /** Takes the slots that are this node's, and reads what waits in them. */
  start(): Promise<void>
  /** Gives the slots away. */
  close(): Promise<void>
}

/** Joins beats, slots, wake-ups and queues of a node. `settings`, `lane` and `fanOut` are used once it has started. */
export function createDistribution(parts: {
  address: DatabaseAddress
  /** Opens the connection of the beats. */
  connect: () => Promise<Connection>
  reads: Reads
  node: Node
  places: Places
  options: NodeOptions
  /** Clock in ms UTC. */
  clock: () => number
  settings: () => Pick<Writer, 'version' | 'catchUp'>
  lane: () => MailLane
  fanOut: () => Pick<FanOut, 'load'>
  destinations: () => Destinations
  workers: ReturnType<typeof postgresWorkers>
  history: History
}): Distribution {
  const {
    address,
    connect,
    reads,
    node,
    places,
    options,
    clock,
    settings,
    lane,
    fanOut,
    destinations,
    workers,
    history,
  } = parts
  const { takeoverMs = TAKEOVER_MS, isCommand = false, onEnded, onWork, onEvents, onTime, observer } = options
  const steadyNow = () => performance.now()
  let isDraining = false
  const share: Share = {
    nodeId: node.id,
    owns: (slot) => slots.owns(slot),
    mayClaim: (slot) => !isDraining && slots.owns(slot) && cluster.isSafe(),
  }
  const homeOf: Record<QueueName, (key: string) => number> = {
    ...tableOf(QUEUE_NAMES, (queue) => QUEUES[queue].slotOf),
    deliveries: (queue) => destinations().homeOf(queue),
  }
  const routed = (queue: QueueName) => {
    const index = createDueIndex()
    const elsewhere = (key: string, at: number) => wakeUps.offer(queue, key, at, homeOf[queue](key))
    return routedIndex(index, { homeOf: homeOf[queue], owns: share.owns, elsewhere })
  }
  const due = tableOf(QUEUE_NAMES, routed)
  const queues = tableOf(QUEUE_NAMES, (queue) =>
    createQueue({ ...QUEUES[queue], homeOf: homeOf[queue] }, due[queue], share),
  )
  const allQueues = Object.values(queues)
  const slots = createSlotOwner(reads, node.id, {
    isIdle: (slot) => allQueues.every((queue) => queue.isIdle(slot)),
    nowMs: steadyNow,
  })
  const loadSlots = async (loaded: Iterable<number>) => {
    const wanted = new Set(loaded)
    if (wanted.size === 0) return
    await Promise.all(allQueues.map((queue) => queue.load(reads, wanted)))
    for (const queue of QUEUE_NAMES) onWork?.(queue)
  }
  const wakeUps = createWakeUps(
    { address, name: 'postrider wake-ups' },
    {
      offered: (queue, key, at, supposed) => {
        if (!isQueueName(queue)) return
        const home = homeOf[queue](key)
        if (slots.owns(home)) {
          due[queue].offer(key, at)
          onWork?.(queue)
        } else if (home !== supposed && slots.owns(QUEUES[queue].slotOf(key))) {
          // The node that offered it did not know its destination.
          const domain = destinationOf(key)
          wakeUps.destinations([[domain, destinations().of(domain)]])
          wakeUps.offer(queue, key, at, home)
        }
      },
      destinations: (noted) => destinations().learn(noted),
      happened: (organizationId, place) => awaitPlace(organizationId, place),
      changed: (reached) => {
        if (reached > settings().version())
          settings()
            .catchUp()
            .catch(() => {}) // the next beat tries again
      },
      missed: () => {
        look().catch(() => {}) // the next look tries again
      },
    },
  )
  const look = async () => {
    await destinations().load()
    await loadSlots(slots.all())
  }
  /** Organizations with events that followers cannot see yet, and the place of the last one. */
  const unseen = new Map<string, number>()
  const awaitPlace = (organizationId: string, place: number) => {
    if (!cluster.follows()) return
    unseen.set(organizationId, Math.max(place, unseen.get(organizationId) ?? 0))
    showPassed()
  }
  const showPassed = () => {
    const passed = cluster.passed()
    for (const [organizationId, place] of unseen) {
      if (place > passed) continue
      unseen.delete(organizationId)
      onEvents?.(organizationId)
    }
  }
  /** What nodes that ended were working on is due again. */
  const continueEnded = async () => {
    for (const worker of await workers.endedNodes()) {
      for (const queue of allQueues) await queue.endLeases(lane(), worker, NONE, clock())
    }
    await fanOut().load(reads)
  }
  let known: readonly number[] = []
  let lookAt = steadyNow() + LOOK_MS
  const cluster = createCluster({
    connect,
    queries: reads,
    node,
    places,
    takeoverMs,
    nowMs: steadyNow,
    configurationVersion: () => settings().version(),
    underWay: () => allQueues.reduce((sum, queue) => sum + queue.underWay(), 0),
    history,
    events: {
      changed: () => settings().catchUp(),
      beat: async (liveNodes, draining) => {
        await wakeUps.check()
        if (isCommand) return
        isDraining ||= draining.has(node.id)
        const { taken, hasGiven } = await slots.balance(liveNodes.filter((id) => !draining.has(id)))
        if (hasGiven) for (const queue of allQueues) queue.dropForeign()
        await loadSlots(taken)
        const hasEnded = known.some((id) => !liveNodes.includes(id))
        known = liveNodes
        if (steadyNow() < lookAt && !hasEnded) return
        lookAt = steadyNow() + LOOK_MS
        await continueEnded()
        await look()
      },
      tookOver: (nodes) => observer?.tookOver(nodes),
      passed: () => {
        if (unseen.size > 0) showPassed()
      },
      ended: (reason) => onEnded?.(reason),
      time: (time, tookMs) => onTime?.(time, tookMs),
    },
  })
  return {
    due,
    queues,
    announce: async (version) => {
      wakeUps.changed(version)
      await cluster.settled(version)
    },
    announceDestinations: wakeUps.destinations,
    passed: cluster.passed,
    isCurrent: cluster.isSafe,
    follow: cluster.follow,
    happened: (organizationId, place) => {
      awaitPlace(organizationId, place)
      if (cluster.isFollowed()) wakeUps.happened(organizationId, place)
    },
    hand: {
      over: () => {
        isDraining = true
      },
      whyNotReady: () => {
        if (isDraining) return 'this node drains'
        return cluster.silentMs() < SILENT_MS ? null : 'this node has no contact with the database'
      },
    },
    start: cluster.start,
    close: async () => {
      await cluster.close()
      await wakeUps.close()
      await slots.leave().catch(() => {}) // others take them after this node was ended
    },
  }
}
