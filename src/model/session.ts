/** A dashboard session of the operator. Its token grants all of the operator's rights. */
export interface Session {
  id: string
  createdAt: number
  lastSeenAt: number
  /** After so long without use, and in any case after so long. */
  endsAt: number
  /** Where it was opened from; null when that is not known. */
  ipAddress: string | null
  userAgent: string
}

const DAY_MS = 86_400_000
/** A week away is over; a month is over for those who never leave. */
const UNUSED_MS = 7 * DAY_MS
const LONGEST_MS = 30 * DAY_MS

/** Until when a session lasts that began at `createdAt` and was last seen at `seenAt`. */
export function sessionEnd(createdAt: number, seenAt: number): number {
  return Math.min(createdAt + LONGEST_MS, seenAt + UNUSED_MS)
}

/** Lifetime of a sign-in link. */
export const LINK_MS = 30 * 60_000
