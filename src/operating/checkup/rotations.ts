import { isAtProvider, zoneTarget } from '../../domains/delegated-zone.ts'
import type { Survey } from '../../domains/publication.ts'
import { areOurs } from '../../domains/rotation.ts'
import type { Domain } from '../../model/domain.ts'
import type { Resolver } from '../../net/dns/resolver.ts'
import type { Store } from '../../storage/store.ts'
import { ROTATION_WAITS_MS, type WaitingRotation } from '../health/dkim-rotation.ts'

/** Asks the DNS servers of domains whose new keys wait for long, the oldest first. Keys whose CNAME records the domain does not
 *  publish wait for its owner and are left out. Rejects with the store's error. */
export async function waitingRotations(
  store: Pick<Store, 'domains'>,
  us: { zone: string | null; providerZones?: readonly string[]; survey: Survey; resolver: Resolver; now: number },
): Promise<WaitingRotation[]> {
  const { zone, providerZones, survey, resolver, now } = us
  const pendingOf = ({ dkim }: Domain) => dkim.filter(({ state }) => state === 'pending')
  const late = (await store.domains.rotating(MOST_READ)).filter((domain) => {
    const pending = pendingOf(domain)
    return (
      areOurs(domain, pending, providerZones) && pending.every(({ createdAt }) => now - createdAt >= ROTATION_WAITS_MS)
    )
  })
  const found = await Promise.all(
    late.slice(0, MOST_ASKED).map(async (domain): Promise<WaitingRotation[]> => {
      const pending = pendingOf(domain)
      const isPublished = await Promise.all(
        pending.map(async ({ selector }) => {
          const name = `${selector}._domainkey.${domain.name}`
          if (zone === null) return true
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

/** Domains whose keys the provider did not take or remove, and why. Rejects with the store's error. */
export async function refusedKeys(
  store: Pick<Store, 'domains'>,
  providerZones: readonly string[],
): Promise<{ domain: string; fault: string }[]> {
  const refused = (await store.domains.notPublished(MOST_READ)).filter((domain) => isAtProvider(domain, providerZones))
  return refused.map(({ name, publishFault }) => ({ domain: name, fault: publishFault ?? '' }))
}

const MOST_READ = 100
/** Each takes some dozen DNS queries. */
const MOST_ASKED = 10
