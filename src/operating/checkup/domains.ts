import { dnsRecords, findingOf } from '../../domains/records.ts'
import { checkDomain, type DnsCheckDeps } from '../../domains/verify.ts'
import type { Domain } from '../../model/domain.ts'
import type { Store } from '../../storage/store.ts'
import type { SendingDomain } from '../health/deps.ts'
import type { CheckedDomain } from '../health/domains.ts'

/** Newest domains checked per organization; each check makes a dozen DNS queries. */
const MOST_DOMAINS = 50

/** A failed domain is reported for a month. After that it counts as abandoned. */
function isOfInterest({ status, missingSince }: Domain, now: number): boolean {
  return status === 'verified' || (missingSince !== null && now - missingSince < REPORTED_MS)
}

const REPORTED_MS = 37 * 86_400_000

async function newestDomains(store: Pick<Store, 'organizations' | 'domains'>): Promise<Domain[]> {
  const found: Domain[] = []
  for (const { id } of await store.organizations.list()) {
    const left = MOST_DOMAINS - found.length
    if (left === 0) break
    found.push(...(await store.domains.list(id, { limit: left, after: null })).records)
  }
  return found
}

/** Domains to check: the newest ones, and those without proof of ownership. */
export async function domainsToLookAt(store: Pick<Store, 'organizations' | 'domains'>, now: number): Promise<Domain[]> {
  const [newest, troubled] = await Promise.all([newestDomains(store), store.domains.withoutProof(MOST_DOMAINS)])
  const more = troubled
    .filter((domain) => isOfInterest(domain, now))
    .filter(({ id }) => newest.every((domain) => domain.id !== id))
  return [...more, ...newest]
}

/** The stored domains, and the additional names as they would be created. */
export function sendingDomains(kept: readonly Domain[], more: readonly string[]): SendingDomain[] {
  const planned = more
    .filter((name) => kept.every((domain) => domain.name !== name))
    .map((name) => ({ name, returnPathHost: `bounces.${name}` }))
  return [...kept, ...planned]
}

/** Checks which of the domain's DNS records are published. Stores nothing and never rejects. */
export async function lookAtDomain(domain: Domain, us: DnsCheckDeps & { now: number }): Promise<CheckedDomain> {
  const { findings } = await checkDomain(domain, us)
  const records = dnsRecords(domain, us.server)
  const needed = records.filter(({ required }) => required)
  // Records for which DNS gave no answer keep their previous result.
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
