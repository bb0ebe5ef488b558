import { clientOf } from '../net/ip.ts'

/** Limits sign-in attempts. */
export interface SignInLimit {
  /** Counts an attempt → seconds to wait before the next, 0 if it is allowed. `address` '' = unknown. */
  take(kind: 'link' | 'password', address: string, now: number): number
}

/** Ten attempts per minute and address (the /64 for IPv6), and thirty password attempts per minute in total. Sign-in
 *  links have their own limit, so password guessing cannot block them. GCRA (ITU-T I.371): one number per counter, in
 *  memory. */
export function createSignInLimit(): SignInLimit {
  const dueAt = new Map<string, number>()

  const waitMs = (name: string, { everyMs, burst }: RateRule, now: number) =>
    Math.max(0, (dueAt.get(name) ?? 0) - everyMs * (burst - 1) - now)
  const count = (name: string, { everyMs }: RateRule, now: number) =>
    dueAt.set(name, Math.max(now, dueAt.get(name) ?? 0) + everyMs)

  return {
    take(kind, address, now) {
      if (dueAt.size > MOST_ADDRESSES) for (const [name, at] of dueAt) if (at <= now) dueAt.delete(name)
      const rules: [string, RateRule][] = [[clientOf(address), ONE]]
      if (kind === 'password') rules.push(['all', ALL])
      const wait = Math.max(...rules.map(([name, rule]) => waitMs(name, rule, now)))
      if (wait > 0) return Math.ceil(wait / 1000)
      for (const [name, rule] of rules) count(name, rule, now)
      return 0
    },
  }
}

interface RateRule {
  everyMs: number
  burst: number
}
const ONE: RateRule = { everyMs: 6_000, burst: 10 }
const ALL: RateRule = { everyMs: 2_000, burst: 30 }
const MOST_ADDRESSES = 10_000
