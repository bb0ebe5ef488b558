import { crc32 } from 'node:zlib'
import { destinationOf } from '../model/delivery.ts'

/** Every key of a queue belongs to one of so many slots, and a slot to one node. */
export const SLOTS = 256

/** Webhook or route ID → its slot, the same in every version. */
export const slotOf = (key: string): number => crc32(key) % SLOTS

/** Delivery.queue → its slot: one for all queues of a destination, whose limits they share. */
export const slotOfQueue = (queue: string): number => slotOf(destinationOf(queue))
