import { crc32 } from 'node:zlib'
import { groupOfSlot, slotsWith } from '../slots.ts'
import type { Placement } from '../store.ts'
import { numberArray } from './arrays.ts'
import type { Queries } from './transactions.ts'

const OWN = 'select slot from slots where node_id = $1'
// Free, or of a node that was ended.
const TAKE = `update slots s set node_id = $1 where s.slot = any($2::smallint[])
    and (s.node_id is null or s.node_id in (select id from nodes where ended_at is not null))
  returning s.slot`
const GIVE = 'update slots set node_id = null where node_id = $1 and slot = any($2::smallint[])'

/** Longest time that a slot waits for its deliveries under way before another node gets it. */
const LEAVE_MS = 5_000

/** A node that handles mail. */
export interface LiveNode {
  id: number
  name: string
}

/** The slots whose keys this node handles. Nodes divide them by rendezvous hashing, so that each slot has one owner and
 *  few move when a node comes or goes. The nodes of a group divide its slots; if none of them lives, all nodes do. */
export interface SlotOwner {
  owns(slot: number): boolean
  all(): Iterable<number>
  /** Takes the slots that this node should have and that nobody has, and gives away the others, as soon as nothing of
   *  them is under way. */
  balance(liveNodes: readonly LiveNode[], groups: Placement['groups']): Promise<{ taken: number[]; hasGiven: boolean }>
  /** Gives all away. */
  leave(): Promise<void>
}

/** `isIdle`: nothing that this node claimed in the slot is under way. `nowMs` is a steady clock. */
export function createSlotOwner(
  queries: Queries,
  nodeId: number,
  { isIdle, nowMs }: { isIdle: (slot: number) => boolean; nowMs: () => number },
): SlotOwner {
  const own = new Set<number>()
  /** Slots that this node gives away, and since when. */
  const leaving = new Map<number, number>()

  const take = async (wanted: readonly number[]) => {
    const missing = wanted.filter((slot) => !own.has(slot))
    if (missing.length === 0) return []
    const rows = await queries.query<{ slot: number }>(TAKE, [nodeId, numberArray(missing)])
    for (const { slot } of rows) own.add(slot)
    return rows.map(({ slot }) => slot)
  }
  const give = async (slots: readonly number[]) => {
    if (slots.length === 0) return
    await queries.query(GIVE, [nodeId, numberArray(slots)])
    for (const slot of slots) {
      own.delete(slot)
      leaving.delete(slot)
    }
  }
  return {
    owns: (slot) => own.has(slot) && !leaving.has(slot),
    all: () => [...own].filter((slot) => !leaving.has(slot)),
    balance: async (liveNodes, groups) => {
      const all = liveNodes.map(({ id }) => id)
      const ofGroups = groups.map((names) => liveNodes.flatMap(({ id, name }) => (names.includes(name) ? [id] : [])))
      const wanted = slotsWith(groups.length).filter((slot) => {
        const ofGroup = ofGroups[groupOfSlot(slot) ?? -1] ?? []
        return ownerOf(slot, ofGroup.length > 0 ? ofGroup : all) === nodeId
      })
      for (const slot of wanted) leaving.delete(slot)
      const isWanted = new Set(wanted)
      for (const slot of own) if (!isWanted.has(slot) && !leaving.has(slot)) leaving.set(slot, nowMs())
      const ready = [...leaving].filter(([slot, since]) => isIdle(slot) || nowMs() - since >= LEAVE_MS)
      await give(ready.map(([slot]) => slot))
      return { taken: await take(wanted), hasGiven: ready.length > 0 }
    },
    leave: async () => {
      const rows = await queries.query<{ slot: number }>(OWN, [nodeId])
      await give(rows.map(({ slot }) => slot))
    },
  }
}

/** Slot → the node that should have it: of all live ones the one with the highest hash (rendezvous hashing). */
function ownerOf(slot: number, liveNodes: readonly number[]): number | null {
  let owner: number | null = null
  let highest = -1
  for (const nodeId of liveNodes) {
    const hash = crc32(`${slot} ${nodeId}`)
    if (hash > highest) [owner, highest] = [nodeId, hash]
  }
  return owner
}
