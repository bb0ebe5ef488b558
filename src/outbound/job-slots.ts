import type { AttemptJob } from './job.ts'

/** The jobs of one delivery thread that have no answer yet, each with a number of its own while it is there: by it the
 *  thread marks in shared memory what it does (work-board.ts) and what may have been sent. */
export interface JobSlots {
  readonly sent: SharedArrayBuffer
  take(job: AttemptJob): void
  free(deliveryId: string): void
  of(deliveryId: string): number
  /** Slot → its delivery; null when it is free. */
  at(slot: number): string | null
  attemptOf(deliveryId: string): number
  /** The server may have taken the mail. */
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
      // Beyond the cells nothing is marked, and so nothing is certain.
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

/** More than a thread ever has under way. */
const SLOTS = 16_384
