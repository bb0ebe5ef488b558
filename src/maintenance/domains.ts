import { allDomains } from '../domains/all.ts'
import { endedSelectors } from '../domains/keys.ts'
import type { OwnMtaSts } from '../domains/mta-sts.ts'
import { verifyDomain } from '../domains/verify.ts'
import type { Domain } from '../model/domain.ts'
import type { Resolver } from '../platform/resolver.ts'
import type { Store } from '../storage/store.ts'

/** A domain whose set-up is not finished is looked at again by itself for so long after it was added or its keys were
 *  rotated; later its owner asks. */
const PATIENCE_MS = 7 * 86_400_000

/** Looks at DNS again for domains that wait for it, and forgets DKIM keys that nothing on its way was signed with any
 *  more. A verified domain is left alone: one bad answer of the DNS must not stop its mail. */
export async function tendDomains(
  now: number,
  house: {
    store: Pick<Store, 'organizations' | 'domains'>
    resolver: Resolver
    hostname: string
    mtaSts?: OwnMtaSts | null
  },
): Promise<void> {
  const { domains } = house.store
  for await (const domain of allDomains(house.store)) {
    for (const selector of endedSelectors(domain, now)) await domains.removeDkimKey(domain.id, selector)
    if (isWaiting(domain, now)) await verifyDomain(domain, { ...house, domains, now })
  }
}

function isWaiting({ status, createdAt, dkim }: Domain, now: number): boolean {
  const changedAt = Math.max(createdAt, ...dkim.map((key) => key.createdAt))
  if (now - changedAt > PATIENCE_MS) return false
  return status !== 'verified' || dkim.some((key) => key.state === 'pending')
}
