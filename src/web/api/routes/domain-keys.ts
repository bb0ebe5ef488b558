import { freeStem } from '../../../domains/delegated-zone.ts'
import { endedSelectors, mintDkimKeys, retirementMs } from '../../../domains/keys.ts'
import { nextFreeStemAt } from '../../../domains/rotation.ts'
import type { DkimKeyRecord, Domain } from '../../../model/domain.ts'
import { iso } from '../../../model/event.ts'
import { Refusal } from '../../../model/refusal.ts'
import type { Random } from '../../../os/random.ts'
import type { Store } from '../../../storage/store.ts'

const MOST_CLAIMS = 100 // claims of the same name whose DKIM selectors are compared

/** The DKIM keys of domains: their first ones, and rotation. */
export function domainKeys({
  store,
  random,
  zone,
  maxAgeMs,
}: {
  store: Pick<Store, 'domains'>
  random: Random
  /** The zone delegated to this server, or null. */
  zone: string | null
  /** Maximum age of a message (ms). */
  maxAgeMs: number
}) {
  /** The beginning of the next selectors: with a delegated zone, a pair that the domain's CNAME records already name.
   *  Undefined: a random one. */
  const stemFor = (domain: Domain) => (zone === null ? undefined : (freeStem(domain) ?? undefined))

  return {
    /** New DKIM keys, with selectors that no other organization's domain of this name uses. */
    async create(domain: Domain, now: number): Promise<DkimKeyRecord[]> {
      const claims = await store.domains.claimsOf(domain.name, MOST_CLAIMS)
      const used = new Set(claims.flatMap(({ dkim }) => dkim.map(({ selector }) => selector)))
      let keys = await mintDkimKeys('active', now, random, stemFor(domain))
      for (let turn = 0; turn < 3 && keys.some(({ selector }) => used.has(selector)); turn++) {
        keys = await mintDkimKeys('active', now, random)
      }
      return keys
    },

    /** Stores two new keys, which sign once their records are in DNS. Rejects with `invalid_state` during a rotation, and
     *  while both pairs of selectors in a delegated zone are in use. */
    async rotate(resource: Domain, now: number): Promise<void> {
      if (isRotating(resource)) throw rotating()
      // Only in a zone do they keep selectors from new ones. Elsewhere maintenance removes them, at the provider first.
      const domain = zone === null ? resource : await withoutEnded(resource, now)
      const freeAt = zone === null || freeStem(domain) !== null ? null : nextFreeStemAt(domain, maxAgeMs)
      if (freeAt !== null) throw tooSoon(freeAt)
      const keys = await mintDkimKeys('pending', now, random, stemFor(domain))
      await store.domains.addDkimKeys(domain.id, keys).catch(async (error) => {
        const present = await store.domains.get(domain.id)
        throw present !== null && isRotating(present) ? rotating() : error // another call was faster
      })
    },
  }

  /** Removes keys that no mail in transit was signed with, as maintenance does daily. */
  async function withoutEnded(domain: Domain, now: number): Promise<Domain> {
    const ended = endedSelectors(domain, now, retirementMs(maxAgeMs))
    for (const selector of ended) await store.domains.removeDkimKey(domain.id, selector)
    return { ...domain, dkim: domain.dkim.filter(({ selector }) => !ended.includes(selector)) }
  }
}

const isRotating = ({ dkim }: Domain) => dkim.some(({ state }) => state === 'pending')

function rotating(): Refusal {
  const message = 'A rotation is in progress. Publish its DNS records and verify the domain first.'
  return new Refusal('invalid_state', message)
}

function tooSoon(freeAt: number): Refusal {
  const at = iso(freeAt)
  const message = `Mail signed with the previous keys may still be in transit, and both pairs of selectors are in use. Rotate again after ${at}.`
  return new Refusal('invalid_state', message, { details: { retry_at: at } })
}
