/** How long each step may take, in milliseconds. */
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
  /** What comes after a refusal, when the outcome is known already. */
  windUpMs: number
  /** Everything before the mail itself, all hosts of one attempt together. */
  attemptMs: number
  /** The mail itself, until the final dot is written. */
  uploadMs: number
}

/** RFC 5321 §4.5.3.2 for the single steps. The last two are ours: they bound a peer that stays within each step and
 *  still never ends. So an attempt is over after 30 minutes at most: 10 before the mail, 10 for it, 10 after the dot. */
export const TIMEOUTS: Timeouts = {
  connectMs: 30_000, // ours: the kernel would try for two minutes, the next host is the better use of them
  greetingMs: 300_000,
  commandMs: 300_000,
  tlsMs: 60_000, // ours
  dataMs: 120_000,
  blockMs: 180_000,
  finalDotMs: 600_000,
  windUpMs: 30_000, // ours: all it saves is the connection
  attemptMs: 600_000,
  uploadMs: 600_000,
}

/** The same, none of them longer than so many milliseconds. */
export function timeoutsWithin(longestMs: number): Timeouts {
  const each = Object.entries(TIMEOUTS).map(([step, ms]) => [step, Math.min(ms, longestMs)])
  return Object.fromEntries(each) as Timeouts
}
