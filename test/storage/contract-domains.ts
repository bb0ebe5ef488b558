import { expect } from 'bun:test'
import type { Domain } from '../../src/model/domain.ts'
import type { DomainCheck, Store } from '../../src/storage/store.ts'
import type { Holds } from './contract.ts'
import { accept, claim, DOMAIN, found, idsByPage, ORGANIZATION, type Records, recordOf, START } from './records.ts'

export function domainPromises(holds: Holds): void {
  holds(
    'organizations are listed newest first, in pages, and have unique names',
    async ({ organizations }, records) => {
      const made = ['a', 'b', 'c'].map((name) => records.organization({ id: `org_${name}`, name }))
      for (const organization of made) await organizations.create(organization)
      expect(await idsByPage((page) => organizations.page(page))).toEqual(['org_c', 'org_b', 'org_a'])
      await organizations.get('org_a')
      expect(await organizations.rename('org_a', 'b')).toBe('conflict')
      expect((await organizations.get('org_a'))!.name).toBe('a')
      expect(await organizations.rename('org_a', 'z')).toBe('renamed')
      expect((await organizations.get('org_a'))!.name).toBe('z')
    },
  )

  holds('organizations are found by id and by name', async (store, records) => {
    const [a, b] = [records.organization({ name: 'A' }), records.organization({ name: 'B' })]
    await store.organizations.create(a)
    await store.organizations.create(b)
    expect(await store.organizations.get(a.id)).toEqual(a)
    expect(await store.organizations.get('org_none')).toBeNull()
    expect(await store.organizations.find('B')).toEqual(b)
    expect(await store.organizations.find(a.id)).toEqual(a)
    expect(await store.organizations.find('C')).toBeNull()
    expect(await store.organizations.list()).toEqual([a, b])
    await store.organizations.setPlan(a.id, 'pro')
    expect((await store.organizations.get(a.id))!.plan).toBe('pro')
    expect(await store.organizations.create(records.organization({ name: 'A' }))).toBe('conflict')
    expect(await store.organizations.list()).toHaveLength(2)
  })

  holds('a domain reads as it was written', async (store, records) => {
    await found(store, records)
    const finding = {
      type: 'TXT' as const,
      name: 'a.example',
      purpose: 'spf' as const,
      status: 'valid' as const,
      found: ['v'],
    }
    const domain = records.domain({
      status: 'verified',
      verifiedAt: START,
      lastCheckedAt: START + 1,
      dkim: [
        records.dkimKey({ state: 'active' }),
        records.dkimKey({ algorithm: 'ed25519-sha256', createdAt: START + 1 }),
      ],
      tracking: { opens: true, clicks: false, unsubscribe: true, host: 't.example' },
      findings: [finding],
    })
    expect(await store.domains.create(domain, -1)).toBe('created')
    expect(await store.domains.get(domain.id)).toEqual(domain)
    expect(await store.domains.findByName(domain.name)).toEqual(domain)
    expect(await store.domains.get('dom_none')).toBeNull()
    expect(await store.domains.findByName('none.example')).toBeNull()
  })

  holds('a proved name belongs to one organization, and no organization has a name twice', async (store, records) => {
    await found(store, records)
    await store.domains.recordCheck(DOMAIN, VERIFIED)
    const other = records.organization()
    await store.organizations.create(other)
    const taken = records.domain({ name: 'a.example', organizationId: other.id })
    expect(await store.domains.create(taken, 0)).toBe('conflict')
    expect(await store.domains.create(records.domain({ name: 'a.example' }), -1)).toBe('conflict')
    expect(await store.domains.get(taken.id)).toBeNull()
  })

  // threat: claim-of-a-name
  holds('the first of several claims that is proved owns the name, and the others fail', async (store, records) => {
    await found(store, records)
    const [b, c] = await claimants(store, records, 'a.example')
    expect((await store.domains.findByName('a.example'))!.id).toBe(b!.id) // the oldest claim by its id
    expect(await store.domains.recordCheck(c!.id, VERIFIED)).toEqual({
      before: 'pending',
      after: 'verified',
      reason: null,
    })
    for (const id of [DOMAIN, b!.id]) {
      expect(await store.domains.get(id)).toMatchObject({ status: 'failed', reason: 'claimed', nextCheckAt: null })
      expect(await store.domains.recordCheck(id, VERIFIED)).toMatchObject({ after: 'failed', reason: 'claimed' })
      const pending = { ...VERIFIED, status: 'pending' as const, verifiedAt: null }
      expect(await store.domains.recordCheck(id, pending)).toMatchObject({ after: 'failed', reason: 'claimed' })
      expect((await store.domains.get(id))!.verifiedAt).toBeNull()
    }
    expect((await store.domains.findByName('a.example'))!.id).toBe(c!.id)
    expect(store.snapshot.domainByName('a.example')!.id).toBe(c!.id)
    expect((await store.domains.findOf(b!.organizationId, 'a.example'))!.id).toBe(b!.id)
    expect((await store.domains.claimsOf('a.example', 2)).map(({ id }) => id)).toEqual([b!.id, c!.id])
  })

  holds('of two claims proved at the same moment one owns the name', async (store, records) => {
    await found(store, records)
    const claims = await claimants(store, records, 'a.example')
    const ids = [DOMAIN, ...claims.map(({ id }) => id)]
    const changes = await Promise.all(ids.map((id) => store.domains.recordCheck(id, VERIFIED)))
    expect(changes.map((change) => change!.after)).toEqual(['verified', 'failed', 'failed'])
    const all = await Promise.all(ids.map((id) => store.domains.get(id)))
    expect(all.map((domain) => domain!.status)).toEqual(['verified', 'failed', 'failed'])
  })

  holds('a name that its owner removes or loses can be proved by another claim', async (store, records) => {
    await found(store, records)
    const [b, c] = await claimants(store, records, 'a.example')
    await store.domains.recordCheck(DOMAIN, VERIFIED)
    const lost = { ...VERIFIED, status: 'failed' as const, reason: 'proof_lost' as const, checkedAt: START + 7 }
    expect(await store.domains.recordCheck(DOMAIN, lost)).toMatchObject({ before: 'verified', after: 'failed' })
    expect(await store.domains.get(b!.id)).toMatchObject({ status: 'pending', reason: null, nextCheckAt: START + 7 })
    expect((await store.domains.claimDue(START + 7, 9, START + 9)).map(({ id }) => id)).toEqual([b!.id, c!.id])
    expect(await store.domains.claimDue(START + 8, 9, START + 99)).toEqual([])
    expect(await store.domains.recordCheck(b!.id, VERIFIED)).toMatchObject({ after: 'verified' })
    // A former owner has lost it again; an unproved claim has not.
    await store.domains.remove(b!.id, START + 10)
    expect(await store.domains.get(DOMAIN)).toMatchObject({ status: 'failed', reason: 'proof_lost' })
    expect(await store.domains.recordCheck(DOMAIN, VERIFIED)).toMatchObject({ after: 'verified' })
  })

  holds('a check that another one overtook changes nothing', async (store, records) => {
    await found(store, records)
    await store.domains.recordCheck(DOMAIN, { ...VERIFIED, since: null })
    const late = { ...VERIFIED, status: 'pending' as const, verifiedAt: null, since: null }
    expect(await store.domains.recordCheck(DOMAIN, late)).toBeNull()
    expect((await store.domains.get(DOMAIN))!.status).toBe('verified')
    expect(await store.domains.recordCheck('dom_none', VERIFIED)).toBeNull()
  })

  holds('an owner that gains or loses a name has an entry in the audit log', async (store, records) => {
    await found(store, records)
    const lost = { ...VERIFIED, status: 'failed' as const, reason: 'proof_lost' as const }
    await store.domains.recordCheck(DOMAIN, { ...VERIFIED, audit: entry('aud_1') })
    await store.domains.recordCheck(DOMAIN, { ...VERIFIED, audit: entry('aud_2') })
    await store.domains.recordCheck(DOMAIN, { ...lost, audit: entry('aud_3') })
    const { records: entries } = await store.auditLog.list(ALL_ENTRIES, { limit: 9, after: null })
    expect(entries.map(({ id, action }) => [id, action])).toEqual([
      ['aud_3', 'domains_lost'],
      ['aud_1', 'domains_proved'],
    ])
  })

  // threat: derived-host-claimed
  holds('no domain is a host of another domain, at or below it', async (store, records) => {
    await found(store, records)
    const other = records.organization()
    await store.organizations.create(other)
    const owned = records.domain({
      name: 'shop.example',
      returnPathHost: 'bounces.shop.example',
      tracking: { ...NOTHING, host: 'links.shop.example' },
    })
    await store.domains.create(owned, -1)
    const claim = (name: string, organizationId = other.id, host: string | null = null) =>
      records.domain({ name, organizationId, returnPathHost: `bounces.${name}`, tracking: { ...NOTHING, host } })
    const derived = ['bounces.shop.example', 'links.shop.example', 'a.b.links.shop.example', 'mta-sts.shop.example']
    for (const name of derived) {
      expect([name, await store.domains.clashes(claim(name), false)]).toEqual([name, false]) // a claim takes nothing
      expect([name, await store.domains.clashes(claim(name), true)]).toEqual([name, true])
      expect([name, await store.domains.clashes(claim(name, ORGANIZATION), false)]).toEqual([name, true])
    }
    await store.domains.recordCheck(owned.id, VERIFIED)
    for (const name of derived) expect([name, await store.domains.create(claim(name), -1)]).toEqual([name, 'conflict'])
    // Another organization may prove a name above or below, but not with a host in use.
    const below = claim('team.shop.example')
    expect(await store.domains.create(below, -1)).toBe('created')
    expect(await store.domains.create(claim('example.org', other.id, 'links.shop.example'), -1)).toBe('conflict')
    await store.domains.recordCheck(below.id, VERIFIED)
    const host = (host: string) => store.domains.setTracking(owned.id, { ...NOTHING, host })
    expect(await host('team.shop.example')).toBe('conflict')
    expect(await host('bounces.team.shop.example')).toBe('conflict')
    expect(await host('mta-sts.team.shop.example')).toBe('conflict')
    expect(await host('links.team.shop.example')).toBe('conflict')
    expect(await host('go.shop.example')).toBe('changed')
    expect((await store.domains.get(owned.id))!.tracking.host).toBe('go.shop.example')
  })

  holds('a claim whose hosts now belong to another organization proves nothing', async (store, records) => {
    await found(store, records)
    const other = records.organization()
    await store.organizations.create(other)
    const squatter = records.domain({ name: 'bounce.example', organizationId: other.id })
    expect(await store.domains.create(squatter, -1)).toBe('created')
    await store.domains.recordCheck(DOMAIN, VERIFIED) // its return path is bounce.example
    expect(await store.domains.recordCheck(squatter.id, VERIFIED)).toMatchObject({ after: 'failed', reason: 'claimed' })
  })

  holds('the number of domains is limited, also for concurrent ones', async (store, records) => {
    await found(store, records)
    const answers = await Promise.all([1, 2, 3].map(() => store.domains.create(records.domain(), 3)))
    expect(answers).toEqual(['created', 'created', 'limit'])
    expect(await store.domains.create(records.domain(), -1)).toBe('created')
  })

  holds('domains are listed newest first, past a deleted record', async (store, records) => {
    await found(store, records)
    const domains = [records.domain(), records.domain(), records.domain()]
    for (const domain of domains) await store.domains.create(domain, -1)
    const ids = domains.map((domain) => domain.id).reverse()
    const list = (page: { limit: number; after: string | null }) => store.domains.list(ORGANIZATION, page)
    // Ids of real domains sort by time; `dom_a` of these tests sorts before them all.
    expect(await idsByPage(list)).toEqual([DOMAIN, ...ids])
    await store.domains.remove(ids[1]!, START)
    expect((await list({ limit: 9, after: ids[1]! })).records.map(({ id }) => id)).toContain(ids[2]!)
    expect((await list({ limit: 9, after: ids[1]! })).records.map(({ id }) => id)).not.toContain(ids[0]!)
    expect(await store.domains.list('org_none', { limit: 9, after: null })).toEqual({ records: [], hasMore: false })
  })

  holds('tracking, checks and keys change separately', async (store, records) => {
    await found(store, records)
    const tracking = { opens: true, clicks: true, unsubscribe: true, host: 't.a.example' }
    await store.domains.setTracking(DOMAIN, { opens: true, host: 't.a.example' })
    await store.domains.setTracking(DOMAIN, { clicks: true, unsubscribe: true })
    const check = { status: 'verified' as const, verifiedAt: START, checkedAt: START + 1, findings: [] }
    await store.domains.recordCheck(DOMAIN, check)
    const third = records.dkimKey({ selector: 'three', createdAt: START + 9 })
    await expect(store.domains.addDkimKeys(DOMAIN, [third])).rejects.toThrow('already wait for DNS') // 'two' does
    await store.domains.removeDkimKey(DOMAIN, 'two')
    await store.domains.addDkimKeys(DOMAIN, [third])
    const retired = { selector: 'one', from: 'active' as const, to: 'retiring' as const, since: START + 3 }
    const late = { selector: 'three', from: 'active' as const, to: 'retiring' as const, since: START + 3 }
    await store.domains.setDkimStates(DOMAIN, [retired, late], { ...entry('aud_5'), action: 'domains_dkim_rotated' })
    await store.domains.setDkimStates(DOMAIN, [retired], { ...entry('aud_6'), action: 'domains_dkim_rotated' }) // done
    const domain = (await store.domains.get(DOMAIN))!
    expect(domain).toMatchObject({ status: 'verified', verifiedAt: START, lastCheckedAt: START + 1, tracking })
    expect(domain.dkim.map(({ selector, state, since }) => [selector, state, since])).toEqual([
      ['one', 'retiring', START + 3],
      ['three', 'pending', null],
    ])
    const { records: entries } = await store.auditLog.list(ALL_ENTRIES, { limit: 9, after: null })
    expect(entries.map(({ action }) => action)).toEqual(['domains_dkim_rotated'])
  })

  holds('domains with pending keys are counted and listed, the oldest keys first', async (store, records) => {
    await found(store, records)
    const { organizationId } = (await store.domains.get(DOMAIN))!
    await store.domains.removeDkimKey(DOMAIN, 'two')
    expect(await store.domains.countRotating()).toEqual({ domains: 0, oldestAt: null })
    expect(await store.domains.rotating(9)).toEqual([])
    const others = ['dom_b', 'dom_c'].map((id) =>
      records.domain({ id, organizationId, name: `${id.slice(4)}.example` }),
    )
    for (const domain of others) await store.domains.create(domain, -1)
    const pending = (selector: string, at: number) => records.dkimKey({ selector, createdAt: START + at })
    await store.domains.addDkimKeys(DOMAIN, [pending('three', 5), pending('four', 9)])
    await store.domains.addDkimKeys('dom_c', [pending('three', 3)])
    expect(await store.domains.countRotating()).toEqual({ domains: 2, oldestAt: START + 3 })
    const rotating = await store.domains.rotating(9)
    expect(rotating.map(({ id }) => id)).toEqual(['dom_c', DOMAIN])
    expect(rotating[1]).toEqual((await store.domains.get(DOMAIN))!)
    expect((await store.domains.rotating(1)).map(({ id }) => id)).toEqual(['dom_c'])
    await store.domains.setDkimStates('dom_c', [{ selector: 'three', from: 'pending', to: 'active', since: START + 9 }])
    expect(await store.domains.countRotating()).toEqual({ domains: 1, oldestAt: START + 5 })
  })

  holds('keys that the provider did not take are listed until it does, or new ones begin', async (store, records) => {
    await found(store, records)
    await store.domains.removeDkimKey(DOMAIN, 'two')
    const stored = async () => {
      const { publishAt, publishFault } = (await store.domains.get(DOMAIN))!
      return [publishAt, publishFault, (await store.domains.notPublished(9)).map(({ id }) => id)]
    }
    expect(await stored()).toEqual([null, null, []])
    await store.domains.setPublication(DOMAIN, START + 9, 'refused')
    expect(await stored()).toEqual([START + 9, 'refused', [DOMAIN]])
    expect(await store.domains.notPublished(0)).toEqual([])
    await store.domains.setPublication(DOMAIN, START + 20, null)
    expect(await stored()).toEqual([START + 20, null, []])
    await store.domains.setPublication(DOMAIN, START + 20, 'refused')
    await store.domains.addDkimKeys(DOMAIN, [records.dkimKey({ selector: 'three', state: 'pending' })])
    expect(await stored()).toEqual([null, null, []])
  })

  holds('a claim signs with the keys that are active when it is made', async (store, records) => {
    await found(store, records)
    await accept(store, records.accepted())
    expect((await claim(store))[0]!.signingKeys.map((key) => key.selector)).toEqual(['one'])
    await store.domains.setDkimStates(DOMAIN, [{ selector: 'two', from: 'pending', to: 'active', since: START }])
    await accept(store, records.accepted())
    const [claimed] = await claim(store)
    expect(claimed!.signingKeys.map((key) => key.selector)).toEqual(['one', 'two'])
    expect(claimed).toMatchObject({ domainName: 'a.example', returnPathHost: 'bounce.example' })
  })

  holds('a domain stays while it has deliveries to try', async (store, records) => {
    await found(store, records)
    await accept(store, records.accepted())
    expect(await store.domains.remove(DOMAIN, START)).toBe('in_use')
    const [claimed] = await claim(store)
    expect(await store.domains.remove(DOMAIN, START)).toBe('in_use')
    await store.deliveries.record(recordOf(claimed!))
    expect(await store.domains.remove(DOMAIN, START)).toBe('removed')
    expect(await store.domains.get(DOMAIN)).toBeNull()
    expect(await store.domains.remove(DOMAIN, START)).toBe('removed')
    expect(await store.domains.create(records.domain({ name: 'a.example' }), -1)).toBe('created')
  })

  holds('the keys of a removed domain are invalid from then on', async (store, records) => {
    await found(store, records)
    const [secret, other] = [records.hash(), records.hash()]
    await store.apiKeys.create(records.apiKey(), secret)
    await store.apiKeys.create(records.apiKey({ domainId: 'dom_other' }), other)
    expect(store.snapshot.apiKeyBySecret(secret)!.revokedAt).toBeNull()
    await store.domains.remove(DOMAIN, START + 5)
    expect(store.snapshot.apiKeyBySecret(secret)!.revokedAt).toBe(START + 5)
    expect(store.snapshot.apiKeyBySecret(other)!.revokedAt).toBeNull()
  })
}

const VERIFIED = { status: 'verified' as const, verifiedAt: START, checkedAt: START, findings: [] }
const NOTHING = { opens: false, clicks: false, unsubscribe: false }
const ALL_ENTRIES = {
  organizationId: ORGANIZATION,
  actorId: null,
  action: null,
  resourceId: null,
  createdAfter: null,
  createdBefore: null,
}

const entry = (id: string): NonNullable<DomainCheck['audit']> => ({
  id,
  organizationId: ORGANIZATION,
  at: START,
  actor: { type: 'server', id: 'server', name: 'server' },
  resourceId: DOMAIN,
  createdId: null,
  fields: ['status'],
  ipAddress: null,
  outcome: 'done',
  requestId: 'req_a',
})

/** Two more organizations that claim the name. */
async function claimants(store: Store, records: Records, name: string): Promise<Domain[]> {
  const made: Domain[] = []
  for (const organization of [records.organization(), records.organization()]) {
    await store.organizations.create(organization)
    const domain = records.domain({ name, organizationId: organization.id })
    expect(await store.domains.create(domain, -1)).toBe('created')
    made.push(domain)
  }
  return made
}
