/** Deliveries on hold in a restored store, because they may have been sent after the backup was made. */
export interface Held {
  /** Records that this store was restored from a backup. Ends all dashboard sessions, since they may have been ended
   *  after the backup, and deletes TLS sessions that were not reported yet, since their report may have been sent. */
  noteRestored(restored: Restored): Promise<void>
  /** Puts everything in the queues on hold, including deliveries in progress. For a store without a running server,
   *  since it visits everything that waits. May use many transactions: after an interruption, it is called again. */
  hold(): Promise<void>
  /** Null if this store was never restored. */
  restored(): Promise<Restored | null>
  count(): Promise<Record<HeldQueue, number>>
  /** True if any delivery of this message is on hold. */
  isHeld(messageId: string): Promise<boolean>
  /** Returns held deliveries to a queue, each at its time and not before `now`; with `dueAfter` only those due
   *  later. Uses many transactions: after an interruption the rest is still on hold. Returns the number released. */
  release(queue: HeldQueue, request: { dueAfter: number | null; now: number }): Promise<number>
  /** Ends held deliveries without an attempt: mail is cancelled, posts fail. Also in many transactions. Returns
   *  their number. */
  discard(queue: HeldQueue, now: number): Promise<number>
}

export type HeldQueue = 'deliveries' | 'webhookDeliveries' | 'inboundDeliveries'

export interface Restored {
  restoredAt: number
  /** Time of the backup, ms UTC. */
  madeAt: number
}
