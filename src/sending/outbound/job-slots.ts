import type { AttemptJob } from './job.ts'

/** Unanswered jobs of one delivery thread, each with a slot number while it runs. The thread uses the number to mark in
 *  shared memory what it works on (work-board.ts) and what may have been sent. */
export interface JobSlots {
  readonly sent: SharedArrayBuffer
  take(job: AttemptJob): void
  free(deliveryId: string): void
  of(deliveryId: string): number
  /** Slot → its delivery id; null if free. */
  at(slot: number): string | null
  attemptOf(deliveryId: string): number
  /** Whether the server may have accepted the mail. */
  maybeSent(deliveryId: string): boolean
  used(): number
  all(): string[]
}

export function createJobSlots(): JobSlots {
  const sent = new SharedArrayBuffer(SLOTS)
  const cells = new Uint8Array(sent)
  const jobs = new Map<string, { slot: number; attempt: number }>()
  const holders = new Map<number, string>()
  const free: number[] = []
  let next = 0
  return {
    sent,
    take: ({ deliveryId, attempt }) => {
      // Jobs beyond the cells are not marked, so their state is uncertain.
      const slot = free.pop() ?? next++
      if (slot < SLOTS) cells[slot] = 0
      jobs.set(deliveryId, { slot, attempt })
      holders.set(slot, deliveryId)
    },
    free: (deliveryId) => {
      const job = jobs.get(deliveryId)
      if (job === undefined) return
      jobs.delete(deliveryId)
      holders.delete(job.slot)
      free.push(job.slot)
    },
    of: (deliveryId) => jobs.get(deliveryId)?.slot ?? SLOTS,
    at: (slot) => holders.get(slot) ?? null,
    attemptOf: (deliveryId) => jobs.get(deliveryId)?.attempt ?? 0,
    maybeSent: (deliveryId) => (cells[jobs.get(deliveryId)?.slot ?? SLOTS] ?? 1) === 1,
    used: () => jobs.size,
    all: () => [...jobs.keys()],
  }
}

/** More jobs than a thread ever runs at once. */
const SLOTS = 16_384
