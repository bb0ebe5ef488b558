import { createHash } from 'node:crypto'
import { type DkimKeyRecord, type Domain, isReadyToSend } from '../model/domain.ts'
import type { Resolver } from '../net/dns/resolver.ts'
import type { DkimChange } from '../storage/store.ts'
import { freeSlots, freeStem, isAtProvider, slotStems, zoneTarget } from './delegated-zone.ts'
import { retirementMs } from './keys.ts'
import type { Survey } from './publication.ts'

/** Rotation of DKIM keys without anyone's help, for domains whose selectors are CNAME records to the delegated zone, and for
 *  those in a zone that the server may change at its provider. */

/** Domain and interval → when new keys are made (ms UTC), in the past while that is overdue; null if not by itself: while
 *  keys wait for DNS, and for domains that do not send or lack a record (as the last DNS check found), or neither publish their
 *  selectors as CNAME records nor are in a zone of `providerZones`.
 *
 *  Each domain has its own moment in every interval, so that all domains of an installation spread evenly, also when it
 *  begins to rotate. Keys rotate at that moment if they signed for half an interval. A moment that passed up to a week ago,
 *  while no server ran, still counts. */
export function nextRotationAt(
  domain: Domain,
  everyMs: number,
  now: number,
  providerZones: readonly string[] = [],
): number | null {
  if (everyMs === 0 || !isReadyToSend(domain) || domain.missingSince !== null) return null
  if (!hasSlots(domain) && !isAtProvider(domain, providerZones)) return null
  if (domain.dkim.some(({ state }) => state === 'pending')) return null
  const signingSince = Math.max(
    ...domain.dkim.filter(({ state }) => state === 'active').map(({ since, createdAt }) => since ?? createdAt),
  )
  const missedMs = Math.min(WEEK_MS, everyMs / 2)
  const earliest = Math.max(signingSince + everyMs / 2, now - missedMs)
  const phase = createHash('sha256').update(`postrider-rotation ${domain.id}`).digest().readUIntBE(0, 6) % everyMs
  return phase + everyMs * Math.ceil((earliest - phase) / everyMs)
}

/** When one of the domain's two pairs of selectors is free again, whose keys both are in use now (ms UTC); null if no key of
 *  them retires. `maxAgeMs`: maximum age of a message. */
export function nextFreeStemAt({ id, dkim }: Pick<Domain, 'id' | 'dkim'>, maxAgeMs: number): number | null {
  const freeAt = slotStems(id).map((stem) =>
    Math.max(
      ...dkim
        .filter(({ selector }) => selector.startsWith(stem))
        .map(({ state, since, createdAt }) =>
          state === 'retiring' ? (since ?? createdAt) + retirementMs(maxAgeMs) : Number.POSITIVE_INFINITY,
        ),
    ),
  )
  const soonest = Math.min(...freeAt)
  return Number.isFinite(soonest) ? soonest : null
}

function hasSlots(domain: Domain): boolean {
  return freeSlots(domain).every(({ selector }) =>
    domain.findings.some(
      ({ name, type, status }) =>
        name === `${selector}._domainkey.${domain.name}` && type === 'CNAME' && status === 'valid',
    ),
  )
}

/** The beginning of the selectors for new keys; null if both pairs are in use, or DNS does not have the CNAME records of
 *  the free pair now. */
export async function stemToRotateTo(
  domain: Domain,
  zone: string,
  resolver: Pick<Resolver, 'cname'>,
): Promise<string | null> {
  const stem = freeStem(domain)
  if (stem === null) return null
  for (const { selector } of freeSlots(domain).filter((slot) => slot.selector.startsWith(stem))) {
    const name = `${selector}._domainkey.${domain.name}`
    const lookup = await resolver.cname(name)
    const target = zoneTarget({ purpose: 'dkim', name }, domain, zone)
    if (lookup.kind !== 'records' || lookup.records[0] !== target) return null
  }
  return stem
}

/** Whether this server publishes the keys of the domain: behind CNAME records, or at the provider. */
export const areOurs = (domain: Domain, keys: readonly DkimKeyRecord[], providerZones: readonly string[] = []) =>
  isAtProvider(domain, providerZones) ||
  keys.every(({ selector }) => slotStems(domain.id).some((stem) => selector.startsWith(stem)))

/** Pending keys, and whether the usual check saw them → what becomes of them. With a survey, they sign only after it found them
 *  everywhere, twice with `SETTLE_MS` between: resolvers that nobody asks may have the empty record of the slot, or none, until
 *  its TTL ends. Without one they sign at once when they are seen. */
export async function changesOfPending(
  domain: Domain,
  {
    pending,
    isSeen,
    survey,
    now,
  }: { pending: readonly DkimKeyRecord[]; isSeen: boolean; survey?: Survey | undefined; now: number },
): Promise<DkimChange[]> {
  if (pending.length === 0) return []
  const become = (to: 'pending' | 'active', since: number | null) =>
    pending.map(({ selector }): DkimChange => ({ selector, from: 'pending', to, since }))
  if (survey === undefined) return isSeen ? become('active', now) : []
  const isShown = isSeen && (await survey(domain, pending)).length === 0
  const known = pending.map(({ since }) => since)
  if (!isShown) return known.every((since) => since === null) ? [] : become('pending', null)
  const shownSince = known.reduce((a, b) => (a === null || b === null ? null : Math.max(a, b)))
  if (shownSince === null) return become('pending', now)
  return now - shownSince >= SETTLE_MS ? become('active', now) : []
}

/** Longer than the TTL of the zone's records, also for resolvers that round it up. */
export const SETTLE_MS = 60 * 60_000
const WEEK_MS = 7 * 86_400_000
