import type { MtaSts } from '../mail/mta-sts.ts'

/** A stored MTA-STS policy of a mail domain; times in ms UTC. */
export interface KeptMtaSts {
  /** A-label, lower case. */
  domain: string
  /** Policy ID from the TXT record at the time of the fetch. */
  policyId: string
  policy: MtaSts
  /** Expiry if no newer policy can be fetched. */
  expiresAt: number
  /** Time of the next fetch, well before the expiry. */
  refreshAt: number
  /** Day on which mail last used the policy. An unused policy is not renewed and expires. */
  usedAt: number
}

/** Stored policy, if any → the policy that applies at `now` (ms UTC); null if there is none or it expired. */
export function policyAt(kept: KeptMtaSts | null, now: number): MtaSts | null {
  return kept !== null && kept.expiresAt > now ? kept.policy : null
}
