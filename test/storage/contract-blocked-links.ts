import { expect } from 'bun:test'
import { type BlockedLink, MOST_BLOCKED_LINKS } from '../../src/model/blocked-link.ts'
import type { Holds } from './contract.ts'
import { idsByPage, START } from './records.ts'

export function blockedLinkPromises(holds: Holds): void {
  holds('a blocked target reads as it was written, and clicks on it are blocked until it is removed', async (store) => {
    const [host, url] = [link(1), link(2, { kind: 'url', value: 'good.example/bad', createdAt: START + 10 })]
    for (const each of [host, url]) expect(await store.blockedLinks.add(each)).toBe('added')
    expect(await store.blockedLinks.get(host.id)).toEqual(host)
    expect(await store.blockedLinks.get('blk_none')).toBeNull()
    const areBlocked = () =>
      ['https://evil1.example/x', 'https://good.example/bad/y', 'https://good.example/z'].map(
        store.snapshot.isLinkBlocked,
      )
    expect(areBlocked()).toEqual([true, true, false])
    await store.blockedLinks.remove(host.id)
    expect(areBlocked()).toEqual([false, true, false])
    expect(await store.blockedLinks.get(host.id)).toBeNull()
    expect(await idsByPage(store.blockedLinks.list)).toEqual([url.id])
  })

  holds('blocked targets are listed newest first, also of a time', async (store) => {
    const links = [1, 2, 3].map((n) => link(n, { createdAt: START + n }))
    for (const each of links) await store.blockedLinks.add(each)
    expect(await idsByPage(store.blockedLinks.list)).toEqual(links.map(({ id }) => id).reverse())
    const between = { createdAfter: START + 2, createdBefore: START + 3 }
    expect(await idsByPage((page) => store.blockedLinks.list({ ...page, ...between }))).toEqual([links[1]!.id])
  })

  holds('a target is blocked once, and the number of blocked targets is limited', async (store) => {
    const more = link(MOST_BLOCKED_LINKS)
    for (let n = 0; n < MOST_BLOCKED_LINKS; n++) expect(await store.blockedLinks.add(link(n))).toBe('added')
    expect(await store.blockedLinks.add(more)).toBe('limit')
    expect(await store.blockedLinks.add({ ...more, value: link(5).value })).toBe('conflict')
    await store.blockedLinks.remove(link(5).id)
    expect(await store.blockedLinks.add({ ...more, value: link(6).value })).toBe('conflict')
    expect(await store.blockedLinks.add(more)).toBe('added')
  })
}

const link = (n: number, change: Partial<BlockedLink> = {}): BlockedLink => ({
  id: `blk_${String(n).padStart(26, '0')}`,
  kind: 'host',
  value: `evil${n}.example`,
  reason: 'phishing',
  createdAt: START,
  ...change,
})
