import { expect } from 'bun:test'
import type { Store } from '../../src/storage/store.ts'
import { ANY, claimDue } from '../support/claim.ts'
import type { Holds } from './contract.ts'
import { found, idsByPage, ORGANIZATION, type Records, START } from './records.ts'

const HEADERS = [
  ['X-Api-Key', 'key of the gateway'],
  ['Authorization', 'Bearer abc'],
] as const

/** The headers that the next claim of a webhook sends. */
async function headersSent(store: Store, records: Records) {
  await store.events.append([records.event()])
  const [claimed] = await claimDue(store.webhookDeliveries, { now: START, limit: 9, worker: 'w', freeFor: () => 9 })
  return claimed!.headers
}

export function webhookPromises(holds: Holds): void {
  holds('a webhook reads as it was written', async (store, records) => {
    await found(store, records)
    const hook = records.webhook({ events: ['message.bounced', 'quality.alert'], description: 'd', status: 'paused' })
    await store.webhooks.create(hook, 'whsec_a')
    expect(await store.webhooks.get(hook.id)).toEqual(hook)
    expect(await store.webhooks.secrets(hook.id)).toEqual({ secret: 'whsec_a', previous: null })
    expect(await store.webhooks.get('whk_none')).toBeNull()
    expect(await store.webhooks.secrets('whk_none')).toBeNull()
  })

  holds('webhooks are listed newest first, past a deleted one', async (store, records) => {
    await found(store, records)
    const hooks = [records.webhook(), records.webhook(), records.webhook()]
    for (const hook of hooks) await store.webhooks.create(hook, 'whsec_a')
    const ids = hooks.map(({ id }) => id)
    expect(await idsByPage((page) => store.webhooks.list(ORGANIZATION, page))).toEqual([...ids].reverse())
    await store.webhooks.remove(ids[1]!)
    const rest = await store.webhooks.list(ORGANIZATION, { limit: 9, after: ids[1]! })
    expect(rest.records).toEqual([hooks[0]!])
    expect(await store.webhooks.get(ids[1]!)).toBeNull()
  })

  holds('a change affects only the given fields', async (store, records) => {
    await found(store, records)
    const hook = records.webhook()
    await store.webhooks.create(hook, 'whsec_a')
    const paused = await store.webhooks.update(hook.id, { status: 'paused', disabledReason: 'why' }, START + 1)
    expect(paused).toEqual({ ...hook, status: 'paused', disabledReason: 'why', updatedAt: START + 1 })
    const moved = await store.webhooks.update(
      hook.id,
      { url: 'https://new.example/', events: [], description: 'x' },
      START + 2,
    )
    expect(moved).toEqual({
      ...paused!,
      url: 'https://new.example/',
      events: [],
      description: 'x',
      updatedAt: START + 2,
    })
    const resumed = await store.webhooks.update(hook.id, { status: 'active', disabledReason: null }, START + 3)
    expect(resumed).toMatchObject({ status: 'active', disabledReason: null })
    expect(await store.webhooks.get(hook.id)).toEqual(resumed)
    expect(await store.webhooks.update('whk_none', { status: 'active' }, START)).toBeNull()
  })

  holds('a rotated secret keeps the previous one', async (store, records) => {
    await found(store, records)
    const hook = records.webhook()
    await store.webhooks.create(hook, 'whsec_a')
    await store.webhooks.rotateSecret(hook.id, 'whsec_b', START + 60, START + 1)
    const previous = { secret: 'whsec_a', expiresAt: START + 60 }
    expect(await store.webhooks.secrets(hook.id)).toEqual({ secret: 'whsec_b', previous })
    await store.webhooks.rotateSecret(hook.id, 'whsec_c', START + 70, START + 2)
    expect((await store.webhooks.secrets(hook.id))!.previous).toEqual({ secret: 'whsec_b', expiresAt: START + 70 })
  })

  holds('a claim signs with the newest secret of a webhook', async (store, records) => {
    await found(store, records)
    const hook = records.webhook()
    await store.webhooks.create(hook, 'whsec_a')
    await store.webhooks.rotateSecret(hook.id, 'whsec_b', START + 60, START + 1)
    await store.events.append([records.event()])
    const [claimed] = await claimDue(store.webhookDeliveries, { now: START, limit: 1, worker: 'w', freeFor: () => 1 })
    expect(claimed!.secrets.secret).toBe('whsec_b')
  })

  // threat: secrets-exposed
  holds('a claim has the headers of a webhook, and its record has only their names', async (store, records) => {
    await found(store, records)
    const hook = records.webhook()
    await store.webhooks.create({ ...hook, headers: HEADERS }, 'whsec_a')
    const names = ['X-Api-Key', 'Authorization']
    expect(await store.webhooks.get(hook.id)).toEqual({ ...hook, headerNames: names })
    const listed = await store.webhooks.list(ORGANIZATION, { limit: 9, after: null })
    expect(JSON.stringify(listed)).not.toContain('gateway')
    expect(await headersSent(store, records)).toEqual(HEADERS)
    await store.webhooks.rotateSecret(hook.id, 'whsec_b', START + 60, START + 1)
    const replaced = await store.webhooks.update(hook.id, { headers: [['X-B', 'b']] }, START + 2)
    expect(replaced).toMatchObject({ url: hook.url, headerNames: ['X-B'] })
    expect(await headersSent(store, records)).toEqual([['X-B', 'b']])
    expect(await store.webhooks.update(hook.id, { headers: [] }, START + 3)).toMatchObject({ headerNames: [] })
    expect(await headersSent(store, records)).toEqual([])
  })

  // threat: endpoint-headers-moved
  holds('headers stay with a URL of the same origin, and end with another one', async (store, records) => {
    await found(store, records)
    const hook = records.webhook({ url: 'https://hooks.example:8443/in' })
    await store.webhooks.create({ ...hook, headers: HEADERS }, 'whsec_a')
    const move = (url: string, headers?: typeof HEADERS) =>
      store.webhooks.update(hook.id, { url, ...(headers && { headers }) }, START + 1)
    expect((await move('https://HOOKS.example:8443/other?a=b'))!.headerNames.length).toBe(2)
    expect(await headersSent(store, records)).toEqual(HEADERS)
    expect((await move('https://elsewhere.example/', HEADERS))!.headerNames.length).toBe(2)
    expect(await headersSent(store, records)).toEqual(HEADERS)
    for (const url of ['https://elsewhere.example:8443/', 'https://hooks.example/in', 'https://elsewhere.example/']) {
      expect((await move(url))!.headerNames).toEqual([])
      expect(await headersSent(store, records)).toEqual([])
    }
  })

  holds('a removed webhook removes its deliveries, also those under way', async (store, records) => {
    await found(store, records)
    const hook = records.webhook()
    await store.webhooks.create(hook, 'whsec_a')
    await store.events.append([records.event(), records.event()])
    const request = { now: START, limit: 1, worker: 'w', freeFor: () => 1 }
    const [claimed] = await claimDue(store.webhookDeliveries, request)
    await store.webhooks.remove(hook.id)
    expect(await store.webhookDeliveries.get(claimed!.id)).toBeNull()
    expect(await claimDue(store.webhookDeliveries, { ...request, now: START + 99, limit: 9 })).toEqual([])
    expect(await store.webhookDeliveries.nextDueAt(ANY)).toBeNull()
    const record = {
      deliveryId: claimed!.id,
      worker: 'w',
      status: 'delivered' as const,
      nextAttemptAt: null,
      pauseReason: null,
    }
    const attempt = { number: 1, at: START, durationMs: 1, statusCode: 200, error: null, responseExcerpt: null }
    expect(await store.webhookDeliveries.record({ ...record, attempt, now: START })).toBe('lease_lost')
    await store.webhooks.remove(hook.id)
    await store.events.append([records.event()], hook.id)
    await store.events.append([records.event()])
  })

  holds(
    'a webhook with many deliveries is removed with all of them, and gets no new ones meanwhile',
    async (store, records) => {
      await found(store, records)
      const [hook, other] = [records.webhook(), records.webhook()]
      for (const each of [hook, other]) await store.webhooks.create(each, 'whsec_a')
      const first = records.event()
      await store.events.append([first, ...Array.from({ length: 600 }, () => records.event())])
      const removed = store.webhooks.remove(hook.id)
      await store.events.append([records.event()])
      await removed
      while (await store.webhookDeliveries.fanOutSome());
      expect(await store.webhooks.get(hook.id)).toBeNull()
      const count = async (webhookId: string) => {
        const filter = { webhookId, status: null, type: null, createdAfter: null, createdBefore: null }
        return (await store.webhookDeliveries.list(filter, { limit: 1000, after: null })).records.length
      }
      expect([await count(hook.id), await count(other.id)]).toEqual([0, 602])
      expect(await store.events.get(first.id)).not.toBeNull()
    },
  )
}
