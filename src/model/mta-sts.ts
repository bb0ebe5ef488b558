import type { MtaSts } from '../mail/mta-sts.ts'

/** The MTA-STS policy of a mail domain as it was fetched and is kept; times in ms UTC. */
export interface KeptMtaSts {
  /** A-label, lower case. */
  domain: string
  /** As the TXT record named it when the policy was fetched. */
  policyId: string
  policy: MtaSts
  /** Until when it holds when nobody can fetch a newer one. */
  expiresAt: number
  /** When to fetch it again, well before it ends. */
  refreshAt: number
  /** When mail last asked for it, to the day: one that nobody asks for is left to end. */
  usedAt: number
}

/** What was kept of a domain, if anything → what it asks at `now` (ms UTC); null when it asks nothing any more. */
export function policyAt(kept: KeptMtaSts | null, now: number): MtaSts | null {
  return kept !== null && kept.expiresAt > now ? kept.policy : null
}
