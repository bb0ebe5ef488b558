import { crc32 } from 'node:zlib'
import { destinationOf } from '../model/delivery.ts'

/** Every key of a queue belongs to one of so many slots, and a slot to one node. */
export const SLOTS = 256

/** Further slots, for mail that only some nodes have the addresses for: so many for each group of nodes. */
const GROUP_SLOTS = 8
const GROUPS = 64

/** Webhook or route ID → its slot, the same in every version. */
export const slotOf = (key: string): number => crc32(key) % SLOTS

/** Delivery.queue → its slot: one for all queues of a destination, whose limits they share. */
export const slotOfQueue = (queue: string): number => slotOf(destinationOf(queue))

/** Group of nodes (Placement.groups) and key → its slot among those of the group; null for a group beyond the slots. */
export const slotOfGroup = (group: number, key: string): number | null =>
  group < GROUPS ? SLOTS + group * GROUP_SLOTS + (crc32(key) % GROUP_SLOTS) : null

/** Slot → the group that it belongs to; null for a slot of all nodes. */
export const groupOfSlot = (slot: number): number | null =>
  slot < SLOTS ? null : Math.floor((slot - SLOTS) / GROUP_SLOTS)

/** The slots of all nodes, and those of so many groups. */
export const slotsWith = (groups: number): number[] =>
  Array.from({ length: SLOTS + Math.min(groups, GROUPS) * GROUP_SLOTS }, (_, slot) => slot)
