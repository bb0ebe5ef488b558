import { expect } from 'bun:test'
import type { Holds } from './contract.ts'
import { found, idsByPage, ORGANIZATION, START } from './records.ts'

export function apiKeyPromises(holds: Holds): void {
  holds('a key is found by the hash of its secret and by nothing else', async (store, records) => {
    await found(store, records)
    const secret = records.hash()
    expect(store.snapshot.apiKeyBySecret(secret)).toBeNull()
    const key = records.apiKey({ permissions: ['send', 'manage'], mode: 'test', expiresAt: START + 9 })
    await store.apiKeys.create(key, secret)
    expect(store.snapshot.apiKeyBySecret(secret)).toEqual(key)
    expect(store.snapshot.apiKeyBySecret(new Uint8Array(secret))).toEqual(key)
    expect(store.snapshot.apiKeyBySecret(records.hash())).toBeNull()
    expect(await store.apiKeys.get(key.id)).toEqual(key)
    expect(await store.apiKeys.get('key_none')).toBeNull()
  })

  holds('keys are listed newest first', async (store, records) => {
    await found(store, records)
    const keys = [records.apiKey(), records.apiKey(), records.apiKey()]
    for (const key of keys) await store.apiKeys.create(key, records.hash())
    const ids = await idsByPage((page) => store.apiKeys.list(ORGANIZATION, page))
    expect(ids).toEqual(keys.map(({ id }) => id).reverse())
    expect((await store.apiKeys.list('org_none', { limit: 9, after: null })).records).toEqual([])
  })

  holds('a change of a key keeps what it does not name, and is seen at once', async (store, records) => {
    await found(store, records)
    const [key, secret] = [records.apiKey({ allowedNetworks: ['192.0.2.0/24'] }), records.hash()]
    await store.apiKeys.create(key, secret)
    store.snapshot.apiKeyBySecret(secret)
    expect(await store.apiKeys.update(key.id, { name: 'CI' })).toEqual({ ...key, name: 'CI' })
    const changed = { ...key, name: 'CI', allowedNetworks: ['198.51.100.7/32'] }
    expect(await store.apiKeys.update(key.id, { allowedNetworks: changed.allowedNetworks })).toEqual(changed)
    expect(await store.apiKeys.get(key.id)).toEqual(changed)
    expect(store.snapshot.apiKeyBySecret(secret)).toEqual(changed)
    expect(await store.apiKeys.update('key_none', { name: 'CI' })).toBeNull()
  })

  holds('a revoked key is revoked at once and keeps its first time', async (store, records) => {
    await found(store, records)
    const [key, secret] = [records.apiKey(), records.hash()]
    await store.apiKeys.create(key, secret)
    store.snapshot.apiKeyBySecret(secret)
    await store.apiKeys.revoke(key.id, START + 1)
    await store.apiKeys.revoke(key.id, START + 2)
    expect(store.snapshot.apiKeyBySecret(secret)!.revokedAt).toBe(START + 1)
    expect((await store.apiKeys.get(key.id))!.revokedAt).toBe(START + 1)
  })

  holds('rotation gives the old key its end and never a later one', async (store, records) => {
    await found(store, records)
    const [key, secret, fresh, freshSecret] = [records.apiKey(), records.hash(), records.apiKey(), records.hash()]
    await store.apiKeys.create(key, secret)
    store.snapshot.apiKeyBySecret(secret)
    expect(await store.apiKeys.rotate(key.id, fresh, freshSecret, START + 60, START)).toBe('rotated')
    expect(store.snapshot.apiKeyBySecret(secret)).toMatchObject({ expiresAt: START + 60, rotatedTo: fresh.id })
    expect(store.snapshot.apiKeyBySecret(freshSecret)).toEqual(fresh)
    const short = records.apiKey({ expiresAt: START + 10 })
    await store.apiKeys.create(short, records.hash())
    await store.apiKeys.rotate(short.id, records.apiKey(), records.hash(), START + 60, START)
    expect((await store.apiKeys.get(short.id))!.expiresAt).toBe(START + 10)
  })

  holds('a key that was rotated, revoked or has expired is not rotated again', async (store, records) => {
    await found(store, records)
    const [rotated, revoked, expired] = [records.apiKey(), records.apiKey(), records.apiKey({ expiresAt: START })]
    for (const key of [rotated, revoked, expired]) await store.apiKeys.create(key, records.hash())
    await store.apiKeys.rotate(rotated.id, records.apiKey(), records.hash(), START + 60, START)
    await store.apiKeys.revoke(revoked.id, START)
    for (const { id } of [rotated, revoked, expired]) {
      const fresh = records.apiKey()
      expect(await store.apiKeys.rotate(id, fresh, records.hash(), START + 60, START)).toBe('invalid_state')
      expect(await store.apiKeys.get(fresh.id)).toBeNull()
    }
  })

  holds('two concurrent rotations give one new key', async (store, records) => {
    await found(store, records)
    const key = records.apiKey()
    await store.apiKeys.create(key, records.hash())
    const rotate = () => store.apiKeys.rotate(key.id, records.apiKey(), records.hash(), START + 60, START)
    expect(await Promise.all([rotate(), rotate()])).toEqual(['rotated', 'invalid_state'])
  })

  holds('the latest use is kept, in whatever order uses are reported', async (store, records) => {
    await found(store, records)
    const [a, b] = [records.apiKey(), records.apiKey()]
    for (const key of [a, b]) await store.apiKeys.create(key, records.hash())
    await store.apiKeys.recordUse([
      { id: a.id, at: START + 9 },
      { id: a.id, at: START + 3 },
      { id: 'key_none', at: START },
    ])
    expect((await store.apiKeys.get(a.id))!.lastUsedAt).toBe(START + 9)
    expect((await store.apiKeys.get(b.id))!.lastUsedAt).toBeNull()
  })
}
