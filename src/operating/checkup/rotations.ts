import { zoneTarget } from '../../domains/delegated-zone.ts'
import type { Survey } from '../../domains/publication.ts'
import { areInSlots } from '../../domains/rotation.ts'
import type { Domain } from '../../model/domain.ts'
import type { Resolver } from '../../net/dns/resolver.ts'
import type { Store } from '../../storage/store.ts'
import { ROTATION_WAITS_MS, type WaitingRotation } from '../health/dkim-rotation.ts'

/** Asks the DNS servers of domains whose new keys wait for long, the oldest first. Keys whose CNAME records the domain does not
 *  publish wait for its owner and are left out. Rejects with the store's error. */
export async function waitingRotations(
  store: Pick<Store, 'domains'>,
  { zone, survey, resolver, now }: { zone: string; survey: Survey; resolver: Resolver; now: number },
): Promise<WaitingRotation[]> {
  const pendingOf = ({ dkim }: Domain) => dkim.filter(({ state }) => state === 'pending')
  const late = (await store.domains.rotating(MOST_READ)).filter((domain) => {
    const pending = pendingOf(domain)
    return areInSlots(domain, pending) && pending.every(({ createdAt }) => now - createdAt >= ROTATION_WAITS_MS)
  })
  const found = await Promise.all(
    late.slice(0, MOST_ASKED).map(async (domain): Promise<WaitingRotation[]> => {
      const pending = pendingOf(domain)
      const isPublished = await Promise.all(
        pending.map(async ({ selector }) => {
          const name = `${selector}._domainkey.${domain.name}`
          const alias = await resolver.cname(name)
          return alias.kind === 'records' && alias.records[0] === zoneTarget({ purpose: 'dkim', name }, domain, zone)
        }),
      )
      if (isPublished.includes(false)) return []
      const since = Math.min(...pending.map(({ createdAt }) => createdAt))
      return [{ domain: domain.name, since, notShown: await survey(domain, pending) }]
    }),
  )
  return found.flat()
}

const MOST_READ = 100
/** Each takes some dozen DNS queries. */
const MOST_ASKED = 10
