import type { OwnMtaSts } from '../domains/mta-sts.ts'
import { dnsRecords, findingOf } from '../domains/records.ts'
import { checkDomain } from '../domains/verify.ts'
import type { SendingDomain } from '../health/deps.ts'
import type { CheckedDomain } from '../health/domains.ts'
import type { Domain } from '../model/domain.ts'
import type { Resolver } from '../net/dns/resolver.ts'
import type { Store } from '../storage/store.ts'

/** Of more domains the newest of each organization are looked at: each takes a dozen questions. */
const MOST_DOMAINS = 50

/** A domain that failed is reported for a month; after that it is a name that its organization gave up. */
function isOfInterest({ status, missingSince }: Domain, now: number): boolean {
  return status === 'verified' || (missingSince !== null && now - missingSince < REPORTED_MS)
}

const REPORTED_MS = 37 * 86_400_000

async function newestDomains(store: Pick<Store, 'organizations' | 'domains'>): Promise<Domain[]> {
  const found: Domain[] = []
  for (const { id } of await store.organizations.list()) {
    const room = MOST_DOMAINS - found.length
    if (room === 0) break
    found.push(...(await store.domains.list(id, { limit: room, after: null })).records)
  }
  return found
}

/** The domains to look at: the newest ones, and those that are without their proof. */
export async function domainsToLookAt(store: Pick<Store, 'organizations' | 'domains'>, now: number): Promise<Domain[]> {
  const [newest, troubled] = await Promise.all([newestDomains(store), store.domains.withoutProof(MOST_DOMAINS)])
  const more = troubled
    .filter((domain) => isOfInterest(domain, now))
    .filter(({ id }) => newest.every((domain) => domain.id !== id))
  return [...more, ...newest]
}

/** Those that are there, and others by name as they would be. */
export function sendingDomains(kept: readonly Domain[], more: readonly string[]): SendingDomain[] {
  const planned = more
    .filter((name) => kept.every((domain) => domain.name !== name))
    .map((name) => ({ name, returnPathHost: `bounces.${name}` }))
  return [...kept, ...planned]
}

/** Domain → which of the records that it needs DNS has now. Writes nothing down; never rejects. */
export async function lookAtDomain(
  domain: Domain,
  us: { hostname: string; resolver: Resolver; mtaSts: OwnMtaSts | null; now: number },
): Promise<CheckedDomain> {
  const { findings } = await checkDomain(domain, us)
  const needed = dnsRecords(domain, us.hostname, us.mtaSts).filter(({ required }) => required)
  // What DNS gave no answer about shows as it was before.
  const seen = needed.map((record) => ({
    name: record.name,
    status: findingOf({ ...domain, findings }, record)?.status,
  }))
  const wrong = seen.filter(({ status }) => status === 'missing' || status === 'mismatch').map(({ name }) => name)
  const isSilent = seen.some(({ status }) => status === 'pending')
  return {
    name: domain.name,
    wasVerified: domain.status === 'verified',
    missingSince: isOfInterest(domain, us.now) ? domain.missingSince : null,
    wrong: wrong.length === 0 && isSilent ? null : [...new Set(wrong)],
  }
}
