import type { DueIndex } from '../due-index.ts'
import type { NodeObserver, Placement } from '../store.ts'
import type { DatabaseAddress } from './address.ts'
import { numberArray } from './arrays.ts'
import type { Queue, Share } from './claims.ts'
import { createCluster } from './cluster.ts'
import type { Connection } from './connection.ts'
import type { Destinations, DomainAndDestination, LimitsOptions } from './destinations.ts'
import type { FanOut } from './fan-out.ts'
import type { MailLane } from './group.ts'
import type { History } from './history.ts'
import type { Node } from './nodes.ts'
import type { Places } from './places.ts'
import type { Reads } from './reads.ts'
import { createRoutedQueues, type QueueName } from './routed-queues.ts'
import { createSlotOwner, type LiveNode } from './slot-owner.ts'
import { createUnseenEvents } from './unseen-events.ts'
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
  placement?: PlacementOptions
}

/** How nodes agree on where mail is sent from: all read the text of the newest node. */
export interface PlacementOptions {
  /** Of this node; null: it knows of nothing that only some nodes can send. */
  published: string | null
  /** Null if the text is unknown here. */
  read(published: string): Placement | null
  /** The nodes that have addresses and do not live: others send their mail. Called when they change. */
  onAbsent(names: readonly string[]): void
}

const LIVE = 'select id, name, placement from nodes where id = any($1::int[]) order by id'

const TAKEOVER_MS = 10_000
/** How often a node looks for work of ended nodes, and for due times whose notification was lost. */
const LOOK_MS = 30_000
/** A node without contact to the database for so long sends clients to others. */
const SILENT_MS = 2_000
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
  /** As the newest node has it. */
  placement(): Placement | null
  /** Reads what waits for this node again. */
  look(): Promise<void>
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
  const routed = createRoutedQueues({
    share,
    reads,
    destinations,
    elsewhere: (offer, noted) => {
      if (noted !== null) wakeUps.destinations([noted])
      wakeUps.offer(...offer)
    },
    onWork: (queue) => onWork?.(queue),
  })
  const { due, queues } = routed
  const slots = createSlotOwner(reads, node.id, { isIdle: routed.isIdle, nowMs: steadyNow })
  const wakeUps = createWakeUps(
    { address, name: 'postrider wake-ups' },
    {
      offered: routed.offered,
      destinations: (noted) => destinations().learn(noted),
      happened: (organizationId, place) => unseen.add(organizationId, place),
      changed: (reached) => {
        if (reached > settings().version())
          settings()
            .catchUp()
            .catch(() => {}) // the next beat tries again
      },
      missed: () => {
        look()
          .catch(lookSoon)
          .catch(() => {})
      },
    },
  )
  const look = async () => {
    await destinations().load()
    await routed.load(slots.all())
  }
  const unseen = createUnseenEvents({
    passed: () => cluster.passed(),
    follows: () => cluster.follows(),
    onVisible: (organizationId) => onEvents?.(organizationId),
  })
  /** What nodes that ended were working on is due again. */
  const continueEnded = async () => {
    for (const worker of await workers.endedNodes()) await routed.endLeases(lane(), worker, clock())
    await fanOut().load(reads)
  }
  let known: readonly number[] = []
  let nodes: readonly LiveNode[] = []
  let placement: Placement | null = null
  let placementText: string | null = null
  let absent = ''
  /** Names of the live nodes, and the placement of the newest → true if that changed. */
  const learnNodes = async (live: readonly number[]) => {
    const rows = await reads.query<LiveNode & { placement: string | null }>(LIVE, [numberArray(live)])
    nodes = rows
    const text = rows.at(-1)?.placement ?? null
    const hasChanged = text !== placementText
    if (hasChanged) placement = text === null ? null : (options.placement?.read(text) ?? null)
    placementText = text
    const needed = new Set(placement?.groups.flat())
    const missing = [...needed].filter((name) => !nodes.some((node) => node.name === name)).sort()
    if (missing.join('\n') !== absent) options.placement?.onAbsent(missing)
    absent = missing.join('\n')
    return hasChanged
  }
  let lookAt = steadyNow() + LOOK_MS
  /** Makes the next beat look again. Throws the error. */
  const lookSoon = (error: unknown) => {
    lookAt = steadyNow()
    throw error
  }
  const cluster = createCluster({
    connect,
    queries: reads,
    node,
    places,
    takeoverMs,
    nowMs: steadyNow,
    configurationVersion: () => settings().version(),
    underWay: routed.underWay,
    history,
    events: {
      changed: () => settings().catchUp(),
      beat: async (liveNodes, draining) => {
        await wakeUps.check()
        if (isCommand) return
        isDraining ||= draining.has(node.id)
        const isSame = known.length === liveNodes.length && known.every((id) => liveNodes.includes(id))
        const hasMoved = !isSame && (await learnNodes(liveNodes))
        const active = nodes.filter(({ id }) => !draining.has(id))
        const { taken, hasGiven } = await slots.balance(active, placement?.groups ?? [])
        if (hasGiven) routed.dropForeign()
        await routed.load(taken).catch(lookSoon)
        const hasEnded = known.some((id) => !liveNodes.includes(id))
        known = liveNodes
        if (steadyNow() < lookAt && !hasEnded && !hasMoved) return
        lookAt = steadyNow() + LOOK_MS
        await continueEnded().catch(lookSoon)
        await look().catch(lookSoon)
      },
      tookOver: (nodes) => observer?.tookOver(nodes),
      passed: unseen.show,
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
    placement: () => placement,
    look,
    passed: cluster.passed,
    isCurrent: cluster.isSafe,
    follow: cluster.follow,
    happened: (organizationId, place) => {
      unseen.add(organizationId, place)
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
