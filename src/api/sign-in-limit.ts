import { clientOf } from '../net/ip.ts'

/** Limits sign-in attempts of the operator. */
export interface SignInLimit {
  /** Returns 0 and counts the attempt if it is allowed, otherwise the seconds to wait. `address` is the client address,
   *  '' if unknown; `now` is in ms. */
  take(kind: 'link' | 'password', address: string, now: number): number
}

/** Creates a SignInLimit: ten attempts per minute and client address (/64 network for IPv6), and thirty password
 *  attempts per minute in total. Sign-in links are not part of the total, so that password guessing cannot block them.
 *  Counts with the GCRA algorithm (ITU-T I.371), one number per counter, in memory: a restart resets them. */
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
