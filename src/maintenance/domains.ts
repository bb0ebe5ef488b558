import { endedSelectors } from '../domains/keys.ts'
import type { OwnMtaSts } from '../domains/mta-sts.ts'
import { verifyDomain } from '../domains/verify.ts'
import type { Domain } from '../model/domain.ts'
import type { Resolver } from '../net/dns/resolver.ts'
import type { MintId } from '../os/ids.ts'
import type { Log } from '../os/log.ts'
import type { DomainCheck, Store } from '../storage/store.ts'

/** Domains per run, and how many of them query DNS at the same time: a dead name server costs several seconds. */
const MOST_AT_ONCE = 5
const MOST_A_TURN = 10
/** A check that did not finish, because the process ended, is due again after this time. */
const CLAIM_MS = 10 * 60_000

export interface DomainCare {
  store: Pick<Store, 'domains'>
  resolver: Resolver
  hostname: string
  mtaSts?: OwnMtaSts | null
  sendingAddresses?: readonly string[]
  zone?: string | null
  mintId: MintId
  log: Log
}

/** Checks the DNS of due domains again: those that wait for their records, and daily those with proof of ownership,
 *  since a domain may change hands. Also removes DKIM keys that no mail in transit was signed with. Returns true if
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

async function checkDue(domain: Domain, now: number, { store, log, mintId, ...us }: DomainCare): Promise<void> {
  const { domains } = store
  const about = { domain_id: domain.id, domain: domain.name, organization_id: domain.organizationId }
  try {
    for (const selector of endedSelectors(domain, now)) await domains.removeDkimKey(domain.id, selector)
    await verifyDomain(domain, {
      ...us,
      domains,
      now,
      audit: changeOfOwner(domain, now, mintId),
      onChange: ({ reason }, { before, after }) => {
        if (before === 'verified') log.warn('domain verification lost', { ...about, status: after, reason })
        else if (after === 'verified') log.info('domain verified', about)
      },
    })
  } catch (error) {
    log.error('domain not checked', { ...about, error }) // it is due again soon, and delays no other
  }
}

/** Audit entry for ownership that the server found gained or lost by itself. */
function changeOfOwner(domain: Domain, now: number, mintId: MintId): NonNullable<DomainCheck['audit']> {
  return {
    id: mintId('aud'),
    organizationId: domain.organizationId,
    at: now,
    actor: { type: 'server', id: 'server', name: 'server' },
    resourceId: domain.id,
    createdId: null,
    fields: ['status'],
    ipAddress: null,
    outcome: 'done',
    requestId: mintId('req'),
  }
}
