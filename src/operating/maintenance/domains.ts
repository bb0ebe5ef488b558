import { isAtProvider } from '../../domains/delegated-zone.ts'
import { endedSelectors, mintDkimKeys, retirementMs } from '../../domains/keys.ts'
import type { Survey } from '../../domains/publication.ts'
import type { OwnServer } from '../../domains/records.ts'
import { nextRotationAt, stemToRotateTo } from '../../domains/rotation.ts'
import { verifyDomain } from '../../domains/verify.ts'
import type { AuditEntry } from '../../model/audit-entry.ts'
import type { Domain } from '../../model/domain.ts'
import type { Resolver } from '../../net/dns/resolver.ts'
import type { MintId } from '../../os/ids.ts'
import type { Log } from '../../os/log.ts'
import type { Random } from '../../os/random.ts'
import type { Store } from '../../storage/store.ts'
import { GIVE_UP_MS } from './provider-keys.ts'

/** Domains per run, and how many of them query DNS at the same time: a dead name server costs several seconds. */
const MOST_AT_ONCE = 5
const MOST_A_TURN = 10
/** A check that did not finish, because the process ended, is due again after this time. */
const CLAIM_MS = 10 * 60_000

export interface DomainCare {
  store: Pick<Store, 'domains'>
  server: OwnServer
  /** Without a cache, because domains are checked for changes. */
  resolver: Resolver
  /** Domain id → its keys get published there. Not awaited. */
  publishKeys?: ((domainId: string) => void) | undefined
  survey?: Survey | undefined
  /** Interval of DKIM rotation (ms); 0 = never by itself. */
  rotateEveryMs?: number
  /** Maximum age of a message (ms). */
  maxAgeMs: number
  random: Random
  mintId: MintId
  log: Log
  /** Called after a change of keys. */
  onKeys?: () => void
}

/** Checks the DNS of due domains again: those that wait for their records, and daily those with proof of ownership,
 *  since a domain may change hands. Also rotates DKIM keys: makes new ones where that is due, and removes those that no mail
 *  in transit was signed with. Returns true if
 *  more domains are due. */
export async function checkDueDomains(now: number, deps: DomainCare): Promise<boolean> {
  const due = await deps.store.domains.claimDue(now, MOST_A_TURN, now + CLAIM_MS)
  const waiting = due.values()
  const work = async () => {
    for (const domain of waiting) await checkDue(domain, now, deps)
  }
  await Promise.all(Array.from({ length: MOST_AT_ONCE }, work))
  return due.length === MOST_A_TURN
}

async function checkDue(domain: Domain, now: number, deps: DomainCare): Promise<void> {
  const { log, mintId, ...us } = deps
  const { domains } = us.store
  const about = { domain_id: domain.id, domain: domain.name, organization_id: domain.organizationId }
  try {
    const isPublished = isAtProvider(domain, us.server.providerZones)
    // Such keys leave the store when they have left the provider.
    const ended = endedSelectors(domain, now, retirementMs(us.maxAgeMs) + (isPublished ? GIVE_UP_MS : 0))
    for (const selector of ended) await domains.removeDkimKey(domain.id, selector)
    const present = ended.length === 0 ? domain : await domains.get(domain.id)
    if (present === null) return
    const changed = await verifyDomain(present, {
      ...us,
      domains,
      now,
      audit: byServer(domain, now, mintId, ['status']),
      keysAudit: { ...byServer(domain, now, mintId, ['dkim']), action: 'domains_dkim_rotated' },
      onChange: ({ reason }, { before, after }) => {
        if (before === 'verified') log.warn('domain verification lost', { ...about, status: after, reason })
        else if (after === 'verified') log.info('domain verified', about)
      },
    })
    const isNew = await rotateIfDue(changed, now, deps)
    if (isNew || statesOf(domain) !== statesOf(changed)) deps.onKeys?.()
    if (isPublished) deps.publishKeys?.(domain.id)
  } catch (error) {
    log.error('domain not checked', { ...about, error }) // it is due again soon, and delays no other
  }
}

const statesOf = ({ dkim }: Domain) => dkim.map(({ selector, state }) => `${selector} ${state}`).join()

/** Makes new keys if the rotation of the domain is due, in the free pair of selectors if it has them. They are due for a check
 *  at once.
 *  Returns true if it did. A rotation that another process began meanwhile stands. */
async function rotateIfDue(domain: Domain, now: number, deps: DomainCare): Promise<boolean> {
  const { store, rotateEveryMs = 0, resolver, random, mintId, log } = deps
  const { zone, providerZones } = deps.server
  const dueAt = nextRotationAt(domain, rotateEveryMs, now, providerZones)
  if ((zone === null && providerZones.length === 0) || dueAt === null || dueAt > now) return false
  const stem = zone === null ? undefined : await stemToRotateTo(domain, zone, resolver)
  if (stem === null) return false
  const audit = { ...byServer(domain, now, mintId, ['dkim']), action: 'domains_dkim_rotation_started' }
  const keys = await mintDkimKeys('pending', now, random, stem)
  await store.domains.addDkimKeys(domain.id, keys, audit)
  const selectors = keys.map(({ selector }) => selector).join()
  log.info('DKIM rotation started', { domain_id: domain.id, domain: domain.name, selectors })
  return true
}

/** Audit entry for a change that the server made by itself. */
function byServer(domain: Domain, now: number, mintId: MintId, fields: string[]): Omit<AuditEntry, 'action'> {
  return {
    id: mintId('aud'),
    organizationId: domain.organizationId,
    at: now,
    actor: { type: 'server', id: 'server', name: 'server' },
    resourceId: domain.id,
    createdId: null,
    fields,
    ipAddress: null,
    outcome: 'done',
    requestId: mintId('req'),
  }
}
