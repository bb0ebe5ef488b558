/** Plans and thresholds of warm-up: how many mails per day a new sending address may send to each destination group
 *  (destination-group.ts), and what makes a day a bad one. No provider publishes numbers of its own, so the groups have the
 *  same ones; each group goes along its plan by itself. */

/** As in config/kinds.ts. */
export const WARMUP_PLANS = ['standard', 'slow'] as const
export type WarmupPlan = (typeof WARMUP_PLANS)[number]

/** Mails to a group on the first day. */
const FIRST = 50
/** Mails to a group on the last day; after it there is no limit. */
const LAST = 50_000

/** Each day allows the same factor more than the day before: 1.27 over 30 days, 1.17 over 45.
 *  - Amazon SES raises a new address to 50,000 mails a day over 45 days ("Amazon SES can now automatically warm up your
 *    dedicated IP addresses", 2017), and says that providers need from two weeks to six (SES Developer Guide, "Warming up
 *    dedicated IP addresses").
 *  - Twilio SendGrid limits a warming address per hour and sends the rest from other addresses ("Warming up an IP address").
 *  - Google: raise the volume slowly, and lower it while mail is deferred or bounces ("Email sender guidelines"). */
export const WARMUP_DAYS: Readonly<Record<WarmupPlan, readonly number[]>> = {
  standard: growing(30),
  slow: growing(45),
}

function growing(days: number): number[] {
  const factor = (LAST / FIRST) ** (1 / (days - 1))
  return Array.from({ length: days }, (_, day) => Math.round(FIRST * factor ** day))
}

/** What of the mails that a group got on a day counts against the plan. */
export const COUNTED_AGAINST = ['deferred', 'blocked', 'complaints'] as const

/** Shares of a day's mails above which the plan is held (`hold`: the day repeats) once there are `least` of them, or stepped
 *  back once there are `leastBack`.
 *  - deferred: the host as a whole answered 4xx, as 421 or 4.7.z; not greylisting or a full mailbox.
 *  - blocked: the reply blocks the address (mail/address-block.ts).
 *  - complaints: Google asks for a spam rate below 0.1 % and never 0.3 % ("Email sender guidelines"); Yahoo for less than
 *    0.3 % ("Sender best practices"). Few people must not move a plan of 50 mails a day back, so `leastBack` is higher.
 *  The other two have no published numbers. */
export const WARMUP_THRESHOLDS: Readonly<
  Record<(typeof COUNTED_AGAINST)[number], { least: number; hold: number; leastBack: number; stepBack: number }>
> = {
  deferred: { least: 5, hold: 0.05, leastBack: 5, stepBack: 0.15 },
  blocked: { least: 2, hold: 0.01, leastBack: 2, stepBack: 0.05 },
  complaints: { least: 2, hold: 0.001, leastBack: 5, stepBack: 0.003 },
}

/** Days of the plan that a step back goes back: half the volume on the standard plan. */
export const STEP_BACK_DAYS = 3
