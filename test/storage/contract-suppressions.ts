import { expect } from 'bun:test'
import { TRANSACTIONAL } from '../../src/model/message.ts'
import type { Suppression } from '../../src/model/suppression.ts'
import type { Holds } from './contract.ts'
import { DOMAIN, found, idsByPage, ORGANIZATION, START } from './records.ts'

const MAIL = { organizationId: ORGANIZATION, domainId: DOMAIN, stream: TRANSACTIONAL, mode: 'live' as const }

export function suppressionPromises(holds: Holds): void {
  holds('the first suppression of an address stays', async (store, records) => {
    await found(store, records)
    const [first, second] = [records.suppression({ messageId: 'msg_1' }), records.suppression({ reason: 'complaint' })]
    expect(await store.suppressions.add(first)).toEqual({ kind: 'added' })
    expect(await store.suppressions.add(second)).toEqual({ kind: 'exists', suppression: first })
    expect(await store.suppressions.get(first.id)).toEqual(first)
    expect(await store.suppressions.get(second.id)).toBeNull()
  })

  holds('two concurrent equal suppressions are one', async (store, records) => {
    await found(store, records)
    const answers = await Promise.all([1, 2].map(() => store.suppressions.add(records.suppression())))
    expect(answers.map(({ kind }) => kind)).toEqual(['added', 'exists'])
  })

  holds('the new ones of many are added, with their evidence', async (store, records) => {
    await found(store, records)
    const before = records.suppression()
    await store.suppressions.add(before)
    const fresh = records.suppression({ email: 'new@dest.example', evidence: 'Postmark: HardBounce' })
    const again = records.suppression({ email: 'new@dest.example', reason: 'manual' })
    expect(
      await store.suppressions.addAll([records.suppression({ reason: 'complaint' }), fresh, again], START),
    ).toEqual({
      added: 1,
      limit: null,
    })
    expect(await store.suppressions.find(ORGANIZATION, 'new@dest.example')).toEqual([fresh])
    expect(await store.suppressions.find(ORGANIZATION, before.email)).toEqual([before])
    expect(await store.suppressions.addAll([], START)).toEqual({ added: 0, limit: null })
  })

  holds('one domain, another and the whole organization are different scopes', async (store, records) => {
    await found(store, records)
    const here = records.suppression()
    const there = records.suppression({ domainId: 'dom_b' })
    const all = records.suppression({ domainId: null, email: 'all@dest.example' })
    const both = records.suppression({ domainId: null })
    for (const each of [here, there, all, both]) expect((await store.suppressions.add(each)).kind).toBe('added')
    expect(await store.suppressions.get(all.id)).toEqual(all)
    expect(await store.suppressions.find(ORGANIZATION, here.email)).toEqual([here, there, both])
    expect(await store.suppressions.find('org_b', here.email)).toEqual([])
    expect(await store.suppressions.remove([both.id, here.id], START)).toBe(2)
    const emails = [here.email, all.email, 'free@dest.example']
    const among = async (domainId: string) => [
      ...(await store.suppressions.among({ ...MAIL, domainId }, emails)).keys(),
    ]
    expect(await among(DOMAIN)).toEqual([all.email])
    expect(await among('dom_b')).toEqual([here.email, all.email])
    expect(await among('')).toEqual([all.email])
    await store.suppressions.add(records.suppression({ domainId: DOMAIN, email: all.email, reason: 'complaint' }))
    const reasons = await store.suppressions.among(MAIL, emails)
    expect([...reasons]).toEqual([[all.email, { reason: 'complaint', stream: null }]])
    expect([
      ...(await store.suppressions.among({ ...MAIL, organizationId: 'org_b', domainId: 'dom_b' }, emails)),
    ]).toEqual([])
    expect([...(await store.suppressions.among(MAIL, []))]).toEqual([])
  })

  holds(
    'an unsubscription applies to its stream, a complaint to all but transactional, others to all',
    async (store, records) => {
      await found(store, records)
      const of = (email: string, stream: string | null, reason: Suppression['reason']) =>
        store.suppressions.add(records.suppression({ email, stream, reason }))
      await of('left@dest.example', 'bulk', 'unsubscribe')
      await of('spam@dest.example', 'bulk', 'complaint')
      await of('spam.all@dest.example', TRANSACTIONAL, 'complaint')
      await of('gone@dest.example', null, 'hard_bounce')
      await of('one@dest.example', 'bulk', 'hard_bounce')
      const emails = ['left', 'spam', 'spam.all', 'gone', 'one', 'free'].map((local) => `${local}@dest.example`)
      const among = async (stream: string) =>
        [...(await store.suppressions.among({ ...MAIL, stream }, emails))].map(
          ([email, why]) => `${email.split('@')[0]} ${why.reason} ${why.stream}`,
        )
      const everywhere = ['spam.all complaint transactional', 'gone hard_bounce null']
      expect(await among(TRANSACTIONAL)).toEqual(everywhere)
      const spam = ['spam complaint bulk', ...everywhere]
      expect(await among('news')).toEqual(spam)
      expect(await among('bulk')).toEqual(['left unsubscribe bulk', ...spam, 'one hard_bounce bulk'])
    },
  )

  holds(
    'an address has one suppression for each stream, and a complaint beside an unsubscription',
    async (store, records) => {
      await found(store, records)
      const made = [
        records.suppression({ stream: 'bulk', reason: 'unsubscribe' }),
        records.suppression({ stream: 'news', reason: 'unsubscribe' }),
        records.suppression({ stream: 'bulk', reason: 'complaint' }),
        records.suppression({ stream: null, reason: 'manual' }),
      ]
      for (const each of made) expect(await store.suppressions.add(each)).toEqual({ kind: 'added' })
      const again = records.suppression({ stream: 'news', reason: 'manual' })
      expect(await store.suppressions.add(again)).toEqual({ kind: 'exists', suppression: made[1]! })
      const complaint = records.suppression({ stream: null, reason: 'complaint' })
      expect(await store.suppressions.add(complaint)).toEqual({ kind: 'exists', suppression: made[3]! })
      const more = [...made, records.suppression({ stream: 'third' })].map((each) => ({ ...each, id: `${each.id}x` }))
      expect(await store.suppressions.addAll(more, START)).toEqual({ added: 1, limit: null })
      const email = made[0]!.email
      await store.suppressions.remove([made[1]!.id, made[3]!.id], START)
      const left = await store.suppressions.find(ORGANIZATION, email)
      expect(left.map(({ stream, reason }) => `${stream} ${reason}`).sort()).toEqual([
        'bulk complaint',
        'bulk unsubscribe',
        'third hard_bounce',
      ])
      expect((await store.usage.of(ORGANIZATION, START)).suppressions).toBe(3)
    },
  )

  holds('suppressions are found by the beginning of the address or of its domain', async (store, records) => {
    await found(store, records)
    const emails = ['ann@shop.example', 'anna@dest.example', 'bob@ann.example', 'bob@shop.example', 'a%n@dest.example']
    const all = emails.map((email) => records.suppression({ email }))
    await store.suppressions.addAll(all, START)
    await store.suppressions.addAll(
      [records.suppression({ email: 'ann@shop.example', organizationId: 'org_b' })],
      START,
    )
    const filter = { organizationId: ORGANIZATION, email: null, reason: null, createdAfter: null, createdBefore: null }
    const foundBy = async (beginning: string, limit = 9, after: string | null = null) => {
      const { records } = await store.suppressions.list({ ...filter, beginning }, { limit, after })
      return records.map(({ email }) => email)
    }
    expect(await foundBy('ann')).toEqual(['bob@ann.example', 'anna@dest.example', 'ann@shop.example'])
    expect(await foundBy('ann', 2)).toEqual(['bob@ann.example', 'anna@dest.example'])
    expect(await foundBy('ann', 2, all[1]!.id)).toEqual(['ann@shop.example'])
    expect(await foundBy('ann@')).toEqual(['ann@shop.example'])
    expect(await foundBy('shop.ex')).toEqual(['bob@shop.example', 'ann@shop.example'])
    expect(await foundBy('a%')).toEqual(['a%n@dest.example'])
    expect(await foundBy('nn')).toEqual([])
    const quoted = records.suppression({ email: '"x@inner.example"@outer.example' })
    await store.suppressions.addAll([quoted], START)
    const byParts = async () => [await foundBy('outer.'), await foundBy('inner.'), await foundBy('"x@inner')]
    expect(await byParts()).toEqual([[quoted.email], [], [quoted.email]])
    // More than a list sorts by itself.
    const many = Array.from({ length: 1_010 }, (_, n) => records.suppression({ email: `many.${n}@dest.example` }))
    await store.suppressions.addAll(many, START)
    expect(await foundBy('many.', 2)).toEqual(['many.1009@dest.example', 'many.1008@dest.example'])
    expect(await foundBy('many.', 2, many[1]!.id)).toEqual(['many.0@dest.example'])
    const alike = Array.from({ length: 1_010 }, (_, n) =>
      records.suppression({ email: `"x@inner.${n}"@outer.example` }),
    )
    await store.suppressions.addAll(alike, START)
    expect(await foundBy('inner.', 2)).toEqual([])
    expect((await foundBy('outer.', 2)).length).toBe(2)
  })

  holds(
    'suppressions are listed newest first, by address and by reason, past a deleted one',
    async (store, records) => {
      await found(store, records)
      const all = [
        records.suppression({ email: 'a@dest.example' }),
        records.suppression({ email: 'b@dest.example', reason: 'manual' }),
        records.suppression({ email: 'a@dest.example', domainId: null, createdAt: START + 9 }),
      ]
      for (const each of all) await store.suppressions.add(each)
      const everything = {
        organizationId: ORGANIZATION,
        email: null,
        reason: null,
        createdAfter: null,
        createdBefore: null,
      }
      const ids = all.map(({ id }) => id)
      expect(await idsByPage((page) => store.suppressions.list(everything, page))).toEqual([...ids].reverse())
      const list = async (filter: object, after: string | null = null) =>
        (await store.suppressions.list({ ...everything, ...filter }, { limit: 9, after })).records.map(({ id }) => id)
      expect(await list({ email: 'a@dest.example' })).toEqual([ids[2]!, ids[0]!])
      expect(await list({ reason: 'manual' })).toEqual([ids[1]!])
      const ofStream = records.suppression({ email: 'a@dest.example', stream: 'bulk' })
      await store.suppressions.add(ofStream)
      expect(await list({ stream: 'bulk' })).toEqual([ofStream.id])
      expect(await list({ stream: 'bulk', email: 'b@dest.example' })).toEqual([])
      expect(await list({ stream: 'bulk', beginning: 'a@' })).toEqual([ofStream.id])
      expect(await list({ email: 'a@dest.example', beginning: 'dest.' })).toEqual([ofStream.id, ids[2]!, ids[0]!])
      expect(await list({ email: 'a@dest.example', beginning: 'b@' })).toEqual([])
      await store.suppressions.remove([ofStream.id], START)
      expect(await list({ createdAfter: START + 9 })).toEqual([ids[2]!])
      expect(await list({ createdBefore: START + 9, email: 'a@dest.example' })).toEqual([ids[0]!])
      expect(await list({ organizationId: 'org_b' })).toEqual([])
      await store.suppressions.remove([ids[1]!], START)
      expect(await list({}, ids[1]!)).toEqual([ids[0]!])
    },
  )

  holds('removing returns how many were removed', async (store, records) => {
    await found(store, records)
    const suppression = records.suppression()
    await store.suppressions.add(suppression)
    expect(await store.suppressions.remove([suppression.id, 'sup_none', suppression.id], START)).toBe(1)
    expect(await store.suppressions.remove([], START)).toBe(0)
    expect((await store.suppressions.add(records.suppression())).kind).toBe('added')
  })
}
