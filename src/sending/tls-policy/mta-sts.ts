import { type MtaSts, readMtaStsId } from '../../mail/mta-sts.ts'
import type { KeptMtaSts } from '../../model/mta-sts.ts'
import type { Resolver } from '../../net/dns/resolver.ts'
import type { Clock } from '../../os/clock.ts'
import { setNewest } from '../../os/set-newest.ts'
import type { Store } from '../../storage/store.ts'
import type { FetchPolicy, PolicyFailure } from './fetch-policy.ts'

/** MTA-STS policies of recipient domains (RFC 8461): fetched once, stored, and refreshed before they expire. A policy
 *  is cached in memory for the TTL of its TXT record and used a little longer while it is looked up again, so that only
 *  the first mail to a domain waits for it. */
export interface MtaStsPolicies {
  /** Domain (A-label, lower case) → its policy, null if none; a promise if it must be fetched, which takes at most a
   *  minute. If the fetch fails, the previous policy applies while valid, else none (RFC 8461 §3.3, §5). Address
   *  literals have none. Rejects only when the store cannot be read. */
  find(domain: string): MtaSts | null | Promise<MtaSts | null>
  /** Refreshes due policies, some domains per call; a call during another does nothing. */
  refresh(now: number): Promise<void>
}

/** Creates MtaStsPolicies from the store, DNS and a FetchPolicy. `onFailure` receives policies that are announced and
 *  cannot be fetched. */
export function createMtaStsPolicies(deps: {
  store: Pick<Store, 'mtaSts'>
  resolver: Pick<Resolver, 'txt'>
  fetchPolicy: FetchPolicy
  clock: Clock
  onFailure?: (domain: string, failure: PolicyFailure) => void
}): MtaStsPolicies {
  const { store, resolver, fetchPolicy, clock } = deps
  /** Least recently looked up first. */
  const entries = new Map<string, Entry>()
  const asking = new Map<string, Promise<KeptMtaSts | null>>()
  /** When the policy with that id last failed to load. */
  const failed = new Map<string, { policyId: string; at: number }>()

  let isRefreshing = false

  const ask = (domain: string): Promise<KeptMtaSts | null> => {
    const underWay = asking.get(domain)
    if (underWay !== undefined) return underWay
    const answer = look(domain).finally(() => asking.delete(domain))
    asking.set(domain, answer)
    return answer
  }

  const look = async (domain: string): Promise<KeptMtaSts | null> => {
    const now = clock.now()
    const known = entries.get(domain)?.kept ?? null
    // Another node may have refreshed it.
    const before = known !== null && known.refreshAt > now ? known : await store.mtaSts.get(domain)
    const held = before !== null && before.expiresAt > now ? before : null
    const txt = await resolver.txt(`_mta-sts.${domain}`)
    const policyId = txt.kind === 'records' ? readMtaStsId(txt.records) : null
    const kept =
      policyId === null || policyId === held?.policyId
        ? await touched(held, now)
        : ((await fetched(domain, policyId, now)) ?? held)
    const isMissing = policyId !== null && kept?.policyId !== policyId
    setNewest(entries, domain, { kept, askAgainAt: clock.now() + (isMissing ? FAILED_MS : freshMs(txt)) }, REMEMBERED)
    return kept
  }

  /** Null if it cannot be fetched; retried for the same id only after some minutes. */
  const fetched = async (domain: string, policyId: string, usedAt: number): Promise<KeptMtaSts | null> => {
    const failure = failed.get(domain)
    if (failure?.policyId === policyId && clock.now() - failure.at < FAILED_MS) return null
    const answer = await fetchPolicy(domain)
    const now = clock.now()
    if ('failure' in answer) {
      if (failed.size >= REMEMBERED) failed.clear()
      failed.set(domain, { policyId, at: now })
      deps.onFailure?.(domain, answer)
      return null
    }
    failed.delete(domain)
    const lifeMs = Math.max(answer.maxAgeSeconds * 1000, SHORTEST_MS)
    const refreshAt = now + Math.min(REFRESH_MS, lifeMs / 2)
    const kept = { domain, policyId, policy: answer, expiresAt: now + lifeMs, refreshAt, usedAt }
    await store.mtaSts.keep(kept).catch(() => {}) // a full disk costs another fetch, not the mail
    return kept
  }

  const touched = async (kept: KeptMtaSts | null, now: number): Promise<KeptMtaSts | null> => {
    if (kept === null || now - kept.usedAt < DAY_MS) return kept
    const used = { ...kept, usedAt: now }
    await store.mtaSts.keep(used).catch(() => {})
    return used
  }

  const refreshOne = async (kept: KeptMtaSts, now: number): Promise<void> => {
    const { domain, policyId, usedAt, expiresAt } = kept
    if (expiresAt <= now) {
      await store.mtaSts.remove(domain)
      return
    }
    const isWanted = now - usedAt < UNUSED_MS
    const fresh = isWanted ? await fetched(domain, policyId, usedAt) : null
    if (fresh !== null) {
      const entry = entries.get(domain)
      if (entry !== undefined) entries.set(domain, { ...entry, kept: fresh })
      return
    }
    const refreshAt = isWanted ? Math.min(now + REFRESH_AGAIN_MS, expiresAt) : expiresAt
    await store.mtaSts.keep({ ...kept, refreshAt })
  }

  return {
    find: (domain) => {
      if (domain.startsWith('[')) return null
      const entry = entries.get(domain)
      const now = clock.now()
      const isOver = entry === undefined || (entry.kept?.expiresAt ?? entry.askAgainAt + STALE_MS) <= now
      if (isOver) return ask(domain).then((kept) => kept?.policy ?? null)
      if (entry.askAgainAt <= now) void ask(domain).catch(() => {})
      return entry.kept?.policy ?? null
    },
    refresh: async (now) => {
      if (isRefreshing) return
      isRefreshing = true
      try {
        const due = await store.mtaSts.due(now, REFRESHED_AT_ONCE)
        await Promise.all(due.map((kept) => refreshOne(kept, now)))
      } finally {
        isRefreshing = false
      }
    },
  }
}

interface Entry {
  kept: KeptMtaSts | null
  askAgainAt: number
}

const MINUTE_MS = 60_000
const DAY_MS = 24 * 60 * MINUTE_MS
/** A policy is fetched again every day, or at half of its lifetime. */
const REFRESH_MS = DAY_MS
const REFRESH_AGAIN_MS = 60 * MINUTE_MS
/** "No policy" stays valid for this long after its recheck is due, not for as long as no mail goes to the domain. */
const STALE_MS = 10 * MINUTE_MS
const REFRESHED_AT_ONCE = 50
/** Policies of domains unused for this long may expire. */
const UNUSED_MS = 60 * DAY_MS
/** RFC 8461 §3.3: at most every five minutes. */
const FAILED_MS = 5 * MINUTE_MS
/** A policy with max_age 0 would otherwise be fetched for every mail. */
const SHORTEST_MS = 5 * MINUTE_MS
const REMEMBERED = 50_000

/** How long a TXT answer is used: its TTL between one minute and one hour, five minutes for a missing record, one
 *  minute after a failure. */
function freshMs(txt: Awaited<ReturnType<Resolver['txt']>>): number {
  if (txt.kind === 'records') return Math.min(Math.max(txt.ttlSeconds * 1000, MINUTE_MS), 60 * MINUTE_MS)
  return txt.kind === 'temporary' ? MINUTE_MS : 5 * MINUTE_MS
}
