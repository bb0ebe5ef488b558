/** A dashboard session. Its token grants the rights that its user has at that moment. */
export interface Session {
  id: string
  userId: string
  createdAt: number
  lastSeenAt: number
  /** Expiry, ms UTC: a limit without use, and a limit in any case. */
  endsAt: number
  /** Address from which it was opened; null if unknown. */
  ipAddress: string | null
  userAgent: string
}

const DAY_MS = 86_400_000
/** A week without use ends a session. A month ends it in any case. */
export const UNUSED_MS = 7 * DAY_MS
export const LONGEST_MS = 30 * DAY_MS

/** Expiry of a session created at `createdAt` and last used at `seenAt`; all ms UTC. */
export function sessionEnd(createdAt: number, seenAt: number): number {
  return Math.min(createdAt + LONGEST_MS, seenAt + UNUSED_MS)
}

/** Lifetime of a sign-in link. */
export const LINK_MS = 30 * 60_000
