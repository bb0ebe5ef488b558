import { expect } from 'bun:test'
import type { AuditEntry } from '../../src/model/audit-entry.ts'
import type { AuditNote, Store } from '../../src/storage/store.ts'
import type { Holds } from './contract.ts'
import { accept, found, idsByPage, ORGANIZATION, START } from './records.ts'

export const entry = (number: number, change: Partial<AuditEntry> = {}): AuditEntry => ({
  id: `aud_${String(number).padStart(26, '0')}`,
  organizationId: ORGANIZATION,
  at: START + number,
  actor: { type: 'api_key', id: 'key_a', name: 'shop' },
  action: 'suppressions_create',
  resourceId: 'sup_a',
  createdId: null,
  fields: ['email', 'tracking.opens'],
  ipAddress: '192.0.2.1',
  outcome: 'done',
  requestId: 'req_a',
  ...change,
})
const noteOf = (reported: () => AuditEntry): AuditNote => ({ entry: reported, isKept: false })
const ALL = {
  organizationId: ORGANIZATION,
  actorId: null,
  action: null,
  resourceId: null,
  createdAfter: null,
  createdBefore: null,
}
const listed = async (store: Store, filter: object = {}) =>
  (await store.auditLog.list({ ...ALL, ...filter }, { limit: 9, after: null })).records

export function auditLogPromises(holds: Holds): void {
  holds(
    'a change has its entry in its transaction, whatever else is written at the same time',
    async (store, records) => {
      await found(store, records)
      const note = noteOf(() => entry(1))
      const theirs = store.suppressions.add(records.suppression({ email: 'theirs@dest.example' }))
      const ours = store.auditLog.during(note, () => store.suppressions.add(records.suppression()))
      await Promise.all([theirs, ours])
      expect(note.isKept).toBe(true)
      expect(await listed(store)).toEqual([entry(1)])
    },
  )

  // threat: actions-without-audit
  holds(
    'mail that an action accepts has its entry in its transaction, beside mail of others',
    async (store, records) => {
      await found(store, records)
      const note = noteOf(() => entry(1))
      const theirs = accept(store, records.accepted())
      const ours = store.auditLog.during(note, () => accept(store, records.accepted()))
      await Promise.all([theirs, ours])
      expect(note.isKept).toBe(true)
      expect(await listed(store)).toEqual([entry(1)])
    },
  )

  // threat: actions-without-audit
  holds('a change whose entry cannot be written does not happen', async (store, records) => {
    await found(store, records)
    const suppression = records.suppression()
    const untold = noteOf(() => {
      throw new Error('no words')
    })
    const change = store.auditLog.during(untold, () => store.suppressions.add(suppression))
    expect(change).rejects.toThrow('no words')
    await change.catch(() => {})
    expect(await store.suppressions.get(suppression.id)).toBeNull()
  })

  holds('a change of nothing, and a read, has no entry', async (store, records) => {
    await found(store, records)
    const suppression = records.suppression()
    await store.suppressions.add(suppression)
    const note = noteOf(() => entry(1))
    const answer = await store.auditLog.during(note, async () => {
      await store.suppressions.get(suppression.id)
      return store.suppressions.add(suppression)
    })
    expect([answer.kind, note.isKept, await listed(store)]).toEqual(['exists', false, []])
  })

  holds('an action of several changes has one entry, which can get its outcome later', async (store, records) => {
    await found(store, records)
    let resourceId: string | null = null
    const note = noteOf(() => entry(1, { resourceId }))
    await store.auditLog.during(note, async () => {
      await store.suppressions.add(records.suppression({ email: 'one@dest.example' }))
      resourceId = 'sup_b'
      await store.suppressions.add(records.suppression({ email: 'two@dest.example' }))
    })
    expect(await listed(store)).toEqual([entry(1, { resourceId: 'sup_b' })])
    await store.auditLog.put(entry(1, { outcome: 'unavailable' }))
    expect(await listed(store)).toEqual([entry(1, { outcome: 'unavailable' })])
  })

  holds(
    'entries are listed newest first, by actor, action and time, for each organization separately',
    async (store) => {
      const operator = { type: 'operator' as const, id: 'operator', name: 'root' }
      const all = [
        entry(1),
        entry(2, { actor: operator, ipAddress: null }),
        entry(3, { action: 'webhooks_delete', resourceId: null }),
        entry(4, { organizationId: null }),
        entry(5, { organizationId: 'org_b' }),
      ]
      for (const each of all) await store.auditLog.put(each)
      const ids = (...numbers: number[]) => numbers.map((number) => entry(number).id)
      const of = async (filter: object) => (await listed(store, filter)).map(({ id }) => id)
      expect(await listed(store)).toEqual([all[2]!, all[1]!, all[0]!])
      expect(await idsByPage((page) => store.auditLog.list(ALL, page))).toEqual(ids(3, 2, 1))
      expect(await of({ actorId: 'operator' })).toEqual(ids(2))
      expect(await of({ action: 'webhooks_delete' })).toEqual(ids(3))
      expect(await of({ resourceId: 'sup_a' })).toEqual(ids(2, 1))
      expect(await of({ createdAfter: START + 2, createdBefore: START + 3 })).toEqual(ids(2))
      expect(await of({ organizationId: null })).toEqual(ids(5, 4, 3, 2, 1))
    },
  )

  holds('old entries are removed, a few at a time', async (store) => {
    for (const number of [1, 2, 3, 4]) await store.auditLog.put(entry(number))
    expect(await store.auditLog.prune(START + 4, 2)).toBe(2)
    expect(await store.auditLog.prune(START + 4, 2)).toBe(1)
    expect((await listed(store)).map(({ at }) => at)).toEqual([START + 4])
  })
}
