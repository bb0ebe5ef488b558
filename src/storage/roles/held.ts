/** What a restored store does not send by itself, because it may have been sent after the backup was made. */
export interface Held {
  /** Says that this store comes from a backup. Whoever was signed in is no longer, since that may have been ended after it was
   *  made, and TLS sessions that were not reported yet are forgotten: their report may have gone. */
  noteRestored(restored: Restored): Promise<void>
  /** Takes everything that waits off its queue, and what was under way with it. For a store that nobody serves, since it walks
   *  all that waits. */
  hold(): Promise<void>
  /** Null when this store was never restored. */
  restored(): Promise<Restored | null>
  count(): Promise<Record<HeldQueue, number>>
  /** Whether any recipient of this message is held. */
  isHeld(messageId: string): Promise<boolean>
  /** Puts back what is held of a queue, each at its time and not before `now`; with `dueAfter` only what was due later than
   *  that. In many transactions: cut off, the rest is still held. Answers how much is waiting again. */
  release(queue: HeldQueue, request: { dueAfter: number | null; now: number }): Promise<number>
  /** Ends what is held without an attempt: mail is cancelled, posts have failed. In many transactions, too. */
  discard(queue: HeldQueue): Promise<number>
}

export type HeldQueue = 'deliveries' | 'webhookDeliveries' | 'inboundDeliveries'

export interface Restored {
  restoredAt: number
  /** When the backup was made. */
  madeAt: number
}
