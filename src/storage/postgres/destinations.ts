import { crc32 } from 'node:zlib'
import { destinationOf, laneOf, type QueueSender, queueOf, SANDBOX } from '../../model/delivery.ts'
import { setNewest } from '../../os/set-newest.ts'
import { slotOf, slotOfGroup } from '../slots.ts'
import type { Placement } from '../store.ts'
import { textArray } from './arrays.ts'
import type { Reads } from './reads.ts'
import type { Writer } from './writer.ts'

// `collate "C"`: the order of the keys, so that two nodes lock them in the same order.
const NOTE = `insert into destinations as known (domain, destination)
  select * from unnest($1::text[], $2::text[]) as given (domain, destination) order by domain collate "C"
  on conflict (domain) do update set destination = excluded.destination, noted_at = excluded.noted_at`
const NOTED = `select domain, destination, extract(epoch from noted_at)::float8 * 1000 as "notedAt" from destinations
  where noted_at > to_timestamp($1::float8 / 1000) order by noted_at desc limit $2`
const PRUNE = `delete from destinations where domain = any(array(
  select domain from destinations where noted_at < clock_timestamp() - interval '30 days' order by noted_at limit $1))`

/** Queues of one domain and organization, if its mail is divided among the nodes. */
const LANES = 16
/** Domains in memory. */
const MOST = 200_000
/** A transaction that began before the last look may be visible only after it. */
const OVERLAP_MS = 60_000
/** A domain that is in use is written again after this time, so that it is not pruned. */
const RENEW_MS = 7 * 24 * 3_600_000

export type DomainAndDestination = [domain: string, destination: string]

/** Which domains share the limits of a destination, the same on all nodes: one node handles all queues of a
 *  destination, so that its limits hold. A domain whose MX hosts were not looked up yet is its own destination. */
export interface Destinations {
  /** Slot of Delivery.queue: its owner handles the queue. */
  homeOf(queue: string): number
  of(domain: string): string
  /** Queue of a new delivery. */
  queueOf(of: { destination: string; organizationId: string; sender: Partial<QueueSender>; deliveryId: string }): string
  /** Resolves when every node that reads the table knows it. */
  note(domain: string, destination: string): Promise<void>
  /** What another node noted. */
  learn(noted: readonly DomainAndDestination[]): void
  /** Reads what was noted since the last call. */
  load(): Promise<void>
  /** Removes domains that were not in use for 30 days → their number, `limit` at most. */
  prune(limit: number): Promise<number>
}

/** How nodes share the limits of destinations; the same on all nodes. */
export interface LimitsOptions {
  /** Destination of all mail, if there is a smarthost; null = each domain has its own. */
  ofAll: string | null
  /** True: they hold for each node by itself, since each has an IP address of its own. The mail of a domain is divided
   *  among the nodes then. */
  areOfNode: boolean
}

/** `announce` tells the other nodes what was noted. */
export function createDestinations(options: {
  reads: Reads
  writer: Pick<Writer, 'write'>
  limits: LimitsOptions
  announce: (noted: readonly DomainAndDestination[]) => void
  /** Which nodes have the addresses of mail; null: all mail is sent from any node. */
  placement: () => Placement | null
}): Destinations {
  const { reads, writer, announce, placement } = options
  const { ofAll, areOfNode } = options.limits
  const known = new Map<string, { destination: string; notedAt: number }>()
  let loadedUpTo = 0
  let waiting = new Map<string, string>()
  let writing: Promise<void> | null = null
  /** The write that the domains in `waiting` are part of. */
  let next: Promise<void> | null = null

  const of = (domain: string) => ofAll ?? known.get(domain)?.destination ?? domain
  const set = (domain: string, destination: string, notedAt: number) =>
    setNewest(known, domain, { destination, notedAt }, MOST)
  const learn = (noted: readonly DomainAndDestination[]) => {
    for (const [domain, destination] of noted) set(domain, destination, loadedUpTo)
  }
  const write = async () => {
    const noted = [...waiting]
    waiting = new Map()
    next = null
    const columns = [noted.map(([domain]) => domain), noted.map(([, destination]) => destination)]
    await writer.write(({ run }) => run(NOTE, columns.map(textArray)))
    learn(noted)
    announce(noted)
  }
  const isKnown = (domain: string, destination: string) => {
    const found = known.get(domain)
    if (found === undefined) return destination === domain
    return found.destination === destination && found.notedAt > loadedUpTo - RENEW_MS
  }
  return {
    of,
    homeOf: (queue) => {
      const domain = destinationOf(queue)
      const key = areOfNode ? `${domain} ${laneOf(queue)}` : of(domain)
      const group = placement()?.groupOf(queue) ?? null
      return (group === null ? null : slotOfGroup(group, key)) ?? slotOf(key)
    },
    queueOf: ({ destination, organizationId, sender, deliveryId }) => {
      const queue = queueOf(destination, organizationId, sender)
      return areOfNode && destination !== SANDBOX ? `${queue} ${crc32(deliveryId) % LANES}` : queue
    },
    note: (domain, destination) => {
      if (areOfNode || ofAll !== null || isKnown(domain, destination)) return Promise.resolve()
      waiting.set(domain, destination)
      next ??= (writing ?? Promise.resolve())
        .catch(() => {})
        .then(() => {
          writing = write()
          return writing
        })
      return next
    },
    learn,
    load: async () => {
      const rows = await reads.query<{ domain: string; destination: string; notedAt: number }>(NOTED, [
        Math.max(0, loadedUpTo - OVERLAP_MS),
        MOST,
      ])
      for (const { domain, destination, notedAt } of rows.reverse()) {
        set(domain, destination, notedAt)
        loadedUpTo = Math.max(loadedUpTo, notedAt)
      }
    },
    prune: (limit) => writer.write(({ run }) => run(PRUNE, [limit])),
  }
}
