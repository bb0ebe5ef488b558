import { expect } from 'bun:test'
import type { Holds } from './contract.ts'
import { accept, claim, DOMAIN, found, idsByPage, ORGANIZATION, recordOf, START } from './records.ts'

export function domainPromises(holds: Holds): void {
  holds(
    'organizations are paged newest first, and have each a name of their own',
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

  holds('a name belongs to one organization', async (store, records) => {
    await found(store, records)
    const other = records.organization()
    await store.organizations.create(other)
    const taken = records.domain({ name: 'a.example', organizationId: other.id })
    expect(await store.domains.create(taken, 0)).toBe('conflict')
    expect(await store.domains.get(taken.id)).toBeNull()
  })

  holds('the number of domains is limited, also for those that come at once', async (store, records) => {
    await found(store, records)
    const answers = await Promise.all([1, 2, 3].map(() => store.domains.create(records.domain(), 3)))
    expect(answers).toEqual(['created', 'created', 'limit'])
    expect(await store.domains.create(records.domain(), -1)).toBe('created')
  })

  holds('domains are listed newest first, past a record that has gone', async (store, records) => {
    await found(store, records)
    const domains = [records.domain(), records.domain(), records.domain()]
    for (const domain of domains) await store.domains.create(domain, -1)
    const ids = domains.map((domain) => domain.id).reverse()
    const list = (page: { limit: number; after: string | null }) => store.domains.list(ORGANIZATION, page)
    // Ids of real domains stand in the order of time; `dom_a` of these tests stands before them all.
    expect(await idsByPage(list)).toEqual([DOMAIN, ...ids])
    await store.domains.remove(ids[1]!, START)
    expect((await list({ limit: 9, after: ids[1]! })).records.map(({ id }) => id)).toContain(ids[2]!)
    expect((await list({ limit: 9, after: ids[1]! })).records.map(({ id }) => id)).not.toContain(ids[0]!)
    expect(await store.domains.list('org_none', { limit: 9, after: null })).toEqual({ records: [], hasMore: false })
  })

  holds('tracking, checks and keys change one by one', async (store, records) => {
    await found(store, records)
    const tracking = { opens: true, clicks: true, unsubscribe: true, host: 't.a.example' }
    await store.domains.setTracking(DOMAIN, tracking)
    const check = { status: 'verified' as const, verifiedAt: START, checkedAt: START + 1, findings: [] }
    await store.domains.recordCheck(DOMAIN, check)
    await store.domains.addDkimKeys(DOMAIN, [records.dkimKey({ selector: 'three', createdAt: START + 9 })])
    await store.domains.setDkimState(DOMAIN, 'one', 'retiring')
    await store.domains.removeDkimKey(DOMAIN, 'two')
    const domain = (await store.domains.get(DOMAIN))!
    expect(domain).toMatchObject({ status: 'verified', verifiedAt: START, lastCheckedAt: START + 1, tracking })
    expect(domain.dkim.map(({ selector, state }) => [selector, state])).toEqual([
      ['one', 'retiring'],
      ['three', 'pending'],
    ])
  })

  holds('a claim signs with the keys that are active when it is made', async (store, records) => {
    await found(store, records)
    await accept(store, records.accepted())
    expect((await claim(store))[0]!.signingKeys.map((key) => key.selector)).toEqual(['one'])
    await store.domains.setDkimState(DOMAIN, 'two', 'active')
    await accept(store, records.accepted())
    const [claimed] = await claim(store)
    expect(claimed!.signingKeys.map((key) => key.selector)).toEqual(['one', 'two'])
    expect(claimed).toMatchObject({ domainName: 'a.example', returnPathHost: 'bounce.example' })
  })

  holds('a domain stays while something of it is to be tried', async (store, records) => {
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

  holds('the keys of a removed domain open nothing from then on', async (store, records) => {
    await found(store, records)
    const [secret, other] = [records.hash(), records.hash()]
    await store.apiKeys.create(records.apiKey(), secret)
    await store.apiKeys.create(records.apiKey({ domainId: 'dom_other' }), other)
    expect(store.apiKeys.findBySecret(secret)!.revokedAt).toBeNull()
    await store.domains.remove(DOMAIN, START + 5)
    expect(store.apiKeys.findBySecret(secret)!.revokedAt).toBe(START + 5)
    expect(store.apiKeys.findBySecret(other)!.revokedAt).toBeNull()
  })
}
