import { isIPv4 } from 'node:net'
import { destinationOf, SANDBOX } from '../../../model/delivery.ts'
import { isRecord } from '../../../os/records.ts'
import type { Placement } from '../../../storage/store.ts'
import { type ConfiguredAddress, DEDICATED, type PoolRules, poolsOf } from './pools.ts'

/** An address and the node that has it; null: every node. */
type Placed = Pick<ConfiguredAddress, 'address' | 'pool' | 'node'>

interface Published {
  addresses: readonly Placed[]
  /** Stream → its pool; '' = none. */
  streams: Readonly<Record<string, string>>
}

/** Configured addresses and streams → what the other nodes have to know of them, as text; null if no address belongs to a
 *  single node. */
export function publishedPlacement({
  addresses,
  streams,
}: {
  addresses: readonly ConfiguredAddress[]
  streams: PoolRules['streams']
}): string | null {
  if (addresses.every(({ node }) => node === null)) return null
  const published: Published = {
    addresses: addresses.map(({ address, pool, node }) => ({ address, pool, node })),
    streams: Object.fromEntries(Object.entries(streams).map(([name, stream]) => [name, stream?.pool ?? ''])),
  }
  return JSON.stringify(published)
}

/** Text of publishedPlacement → which nodes have the addresses of a queue's mail, as poolsOf chooses them. Null if the text
 *  is not one. */
export function readPlacement(text: string, dedicatedOf: PoolRules['dedicatedOf']): Placement | null {
  const published = parsed(text)
  if (published === null) return null
  const { addresses } = published
  const streams = Object.fromEntries(Object.entries(published.streams).map(([name, pool]) => [name, { pool }]))
  const addressesOf = poolsOf(addresses, { streams, dedicatedOf })
  const groups = groupsOf(addresses)
  const indexes = new Map(groups.map((names, index) => [keyOf(names), index]))
  return {
    groups,
    groupOf: (queue) => {
      const used = addressesOf(queue)
      if (destinationOf(queue) === SANDBOX || used.length === 0) return null
      const first = used.find(({ address }) => isIPv4(address)) ?? used[0]
      // An organization's own addresses may be on several nodes. Most destinations see the IPv4 address, so its node sends.
      const names = first?.pool === DEDICATED ? namesOf([first]) : namesOf(used)
      return names === null ? null : (indexes.get(keyOf(names)) ?? null)
    },
  }
}

/** The nodes of each pool, and of each dedicated address; the same at all nodes. */
function groupsOf(addresses: readonly Placed[]): string[][] {
  const pools = Map.groupBy(addresses, ({ pool, address }) => (pool === DEDICATED ? address : pool))
  const sets = [...pools.values()].flatMap((some) => [namesOf(some) ?? []]).filter((names) => names.length > 0)
  const distinct = new Map(sets.map((names) => [keyOf(names), names]))
  return [...distinct.keys()].sort().flatMap((key) => [distinct.get(key) ?? []])
}

/** Names of the nodes that have one of the addresses; null if every node has one. */
function namesOf(addresses: readonly Placed[]): string[] | null {
  const names = new Set<string>()
  for (const { node } of addresses) {
    if (node === null) return null
    names.add(node)
  }
  return [...names].sort()
}

/** No name contains a line break. */
const keyOf = (names: readonly string[]) => names.join('\n')

/** Another version may have written the text. */
function parsed(text: string): Published | null {
  try {
    const content: unknown = JSON.parse(text)
    return isPublished(content) ? content : null
  } catch {
    return null
  }
}

function isPublished(content: unknown): content is Published {
  if (!isRecord(content) || !Array.isArray(content.addresses) || !isRecord(content.streams)) return false
  return content.addresses.every(isPlaced) && Object.values(content.streams).every((pool) => typeof pool === 'string')
}

const isPlaced = (item: unknown) =>
  isRecord(item) &&
  typeof item.address === 'string' &&
  typeof item.pool === 'string' &&
  (item.node === null || typeof item.node === 'string')
