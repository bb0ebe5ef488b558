import { endedSelectors, retirementMs } from '../../domains/keys.ts'
import type { ChangeKeys, KeyChanges } from '../../domains/provider/keys.ts'
import { type Domain, isReadyToSend } from '../../model/domain.ts'
import type { Log } from '../../os/log.ts'
import type { Store } from '../../storage/store.ts'

export interface ProviderKeysDeps {
  store: { domains: Pick<Store['domains'], 'get' | 'setPublication' | 'removeDkimKey'> }
  now: () => number
  leads: () => boolean
  change: ChangeKeys
  /** Maximum age of a message (ms). */
  maxAgeMs: number
  log: Log
  /** Called after a change of keys. */
  onKeys?: () => void
}

/** Domain id → its pending DKIM keys get into its zone at the provider, and ended ones out of it, if that is due. Domains wait
 *  for each other, and nothing waits for them: a provider may take minutes. The keys in the store say what to do, so what is
 *  lost with the process begins again at the next check of the domain. */
export function createProviderKeys(deps: ProviderKeysDeps): (domainId: string) => void {
  const waiting = new Set<string>()
  let isWorking = false
  const work = async () => {
    isWorking = true
    for (const id of waiting) {
      waiting.delete(id)
      if (!deps.leads()) continue
      await publish(id, deps).catch((error) => deps.log.error('DKIM keys not published', { domain_id: id, error }))
    }
    isWorking = false
  }
  return (id) => {
    waiting.add(id)
    if (!isWorking) void work()
  }
}

async function publish(id: string, deps: ProviderKeysDeps): Promise<void> {
  const { store, maxAgeMs, log } = deps
  const now = deps.now()
  const domain = await store.domains.get(id)
  if (domain === null) return
  const changes = changesOf(domain, now, maxAgeMs)
  if (changes === null) {
    if (domain.publishAt !== null) await store.domains.setPublication(id, null, null)
    return
  }
  const { since, added, removed } = changes
  if (now < (domain.publishAt ?? 0) || now - since > GIVE_UP_MS) return
  const nextAt = now + Math.min(Math.max(now - since, LEAST_WAIT_MS), MOST_WAIT_MS)
  // First, so that a process that ends meanwhile does not ask again at once.
  await store.domains.setPublication(id, nextAt, domain.publishFault)
  const fault = await deps.change(domain, changes)
  await store.domains.setPublication(id, nextAt, fault)
  const selectorsOf = (keys: KeyChanges['added']) => keys.map(({ selector }) => selector).join()
  const about = { domain_id: id, domain: domain.name, added: selectorsOf(added), removed: selectorsOf(removed) }
  if (fault !== null) {
    log.warn('DKIM keys not published', { ...about, fault, next_try_at: new Date(nextAt).toISOString() })
    return
  }
  log.info('DKIM keys published', about)
  for (const { selector } of removed) await store.domains.removeDkimKey(id, selector)
  if (removed.length > 0) deps.onKeys?.()
}

/** What the zone of a domain lacks, and since when; null for nothing, and without proof of the domain. */
function changesOf(domain: Domain, now: number, maxAgeMs: number): (KeyChanges & { since: number }) | null {
  if (!isReadyToSend(domain) || domain.missingSince !== null) return null
  const { dkim, findings } = domain
  const isSeen = (selector: string) =>
    findings.some(({ name, status }) => name === `${selector}._domainkey.${domain.name}` && status === 'valid')
  const pending = dkim.filter(({ state }) => state === 'pending')
  const isPublished = pending.every(({ selector }) => isSeen(selector))
  const added = isPublished || dkim.length > MOST_KEYS ? [] : pending
  const ended = endedSelectors(domain, now, retirementMs(maxAgeMs))
  const removed = dkim.filter(({ selector }) => ended.includes(selector))
  const endedAt = removed.map((key) => (key.since ?? key.createdAt) + retirementMs(maxAgeMs))
  const since = Math.min(...(added.length > 0 ? added.map(({ createdAt }) => createdAt) : endedAt))
  return Number.isFinite(since) ? { added, removed, since } : null
}

/** After a failure, the server waits for as long as the keys have waited already, within these limits, and gives up in the
 *  end. A key that the provider never removed leaves the store then. */
const LEAST_WAIT_MS = 5 * 60_000
const MOST_WAIT_MS = 86_400_000
export const GIVE_UP_MS = 30 * 86_400_000
/** Keys that sign, that retire and that wait. A tenant who rotates without end gets no more into the zone. */
const MOST_KEYS = 6
