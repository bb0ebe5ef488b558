/** Timeout of each step, in milliseconds. */
export interface Timeouts {
  connectMs: number
  greetingMs: number
  /** EHLO, STARTTLS, AUTH, MAIL, RCPT, RSET. */
  commandMs: number
  tlsMs: number
  dataMs: number
  /** One block of the mail. */
  blockMs: number
  finalDotMs: number
  /** Steps after a refusal, when the outcome is already known. */
  windUpMs: number
  /** Everything before the mail itself, for all hosts of one attempt together. */
  attemptMs: number
  /** The mail itself, until the final dot is written. */
  uploadMs: number
}

/** Single steps: RFC 5321 §4.5.3.2. The last two are ours: they bound a peer that respects each step but never ends. An
 *  attempt takes at most 30 minutes: 10 before the mail, 10 for it, 10 after the dot. */
export const TIMEOUTS: Timeouts = {
  connectMs: 30_000, // ours: the kernel tries for two minutes; the next host is a better use of them
  greetingMs: 300_000,
  commandMs: 300_000,
  tlsMs: 60_000, // ours
  dataMs: 120_000,
  blockMs: 180_000,
  finalDotMs: 600_000,
  windUpMs: 30_000, // ours: this only saves the connection
  attemptMs: 600_000,
  uploadMs: 600_000,
}

/** The same timeouts, none above `longestMs`. */
export function timeoutsWithin(longestMs: number): Timeouts {
  const each = Object.entries(TIMEOUTS).map(([step, ms]) => [step, Math.min(ms, longestMs)])
  return Object.fromEntries(each) as Timeouts
}
