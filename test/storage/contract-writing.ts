import { expect } from 'bun:test'
import { IDEMPOTENCY_KEPT_MS } from '../../src/model/idempotency.ts'
import { AlreadyRemembered } from '../../src/storage/store.ts'
import { ANY, claimDue } from '../support/claim.ts'
import type { Holds } from './contract.ts'
import { template } from './contract-limits.ts'
import { ALL_EVENTS, ALL_MESSAGES, accept, claim, found, ORGANIZATION, recordOf, START } from './records.ts'

const VOLUME = { organizationId: ORGANIZATION, month: '2026-11', count: 1, limit: 10 }

export function writingPromises(holds: Holds): void {
  holds('a resolved change is there after a restart', async (store, records, { reopen }) => {
    await found(store, records)
    const { message } = await accept(store, records.accepted())
    const again = await reopen()
    expect((await again.messages.get(message.id))!.id).toBe(message.id)
    expect(await claim(again)).toHaveLength(1)
  })

  holds('a change that throws in a burst affects no other', async (store, records) => {
    await found(store, records)
    const all = Array.from({ length: 20 }, () => records.accepted())
    all[7]!.message.id = all[3]!.message.id
    all[13]!.deliveries[0]!.id = all[3]!.deliveries[0]!.id
    const outcomes = await Promise.allSettled(
      all.map((each) => store.messages.accept([each], { ...VOLUME, limit: -1 }, records.remember())),
    )
    const failed = outcomes.flatMap(({ status }, at) => (status === 'rejected' ? [at] : []))
    expect(failed).toEqual([7, 13])
    expect(await store.messages.volume(ORGANIZATION, '2026-11')).toBe(18)
    const page = await store.messages.list(ALL_MESSAGES, { limit: 100, after: null })
    expect(page.records).toHaveLength(18)
    expect(await claim(store)).toHaveLength(18)
  })

  holds('when one message of many cannot be written, none is', async (store, records) => {
    await found(store, records)
    const [first, second] = [records.accepted({ tags: ['t'] }), records.accepted()]
    first.events = [records.event({ messageId: first.message.id })]
    first.suppressions = [records.suppression()]
    second.message.id = first.message.id
    const remember = records.remember()
    expect(store.messages.accept([first, second], VOLUME, remember)).rejects.toThrow()
    expect(await store.messages.get(first.message.id)).toBeNull()
    expect(await store.messages.volume(ORGANIZATION, '2026-11')).toBe(0)
    expect(await store.idempotency.find(ORGANIZATION, remember.keyHash, 0)).toBeNull()
    expect((await store.events.list(ALL_EVENTS, { limit: 10, after: null })).records).toEqual([])
    expect(await store.suppressions.find(ORGANIZATION, 'bob@dest.example')).toEqual([])
    expect(await claim(store)).toEqual([])
  })

  holds('a claim that shares its burst with a change that throws loses no work', async (store, records) => {
    await found(store, records)
    const { message } = await accept(store, records.accepted())
    const twice = records.accepted({ id: message.id })
    const [refused, claims] = await Promise.allSettled([accept(store, twice), claim(store), claim(store)])
    expect(refused.status).toBe('rejected')
    expect(claims).toMatchObject({ status: 'fulfilled', value: [{ delivery: { attempts: 1 } }] })
    expect(await claim(store)).toEqual([])
    await store.deliveries.endLeases('w1', new Set(), START)
    const [later] = await claim(store)
    expect(later!.delivery.attempts).toBe(2)
  })

  holds('a change of a burst is visible to the next one', async (store, records) => {
    await found(store, records)
    const hook = records.webhook()
    await store.webhooks.create(hook, 'whsec_a')
    await store.events.append([records.event()])
    await Promise.all([
      store.webhooks.update(hook.id, { status: 'paused' }, START),
      store.events.append([records.event()]),
    ])
    const filter = { webhookId: hook.id, status: null, type: null, createdAfter: null, createdBefore: null }
    expect((await store.webhookDeliveries.list(filter, { limit: 9, after: null })).records).toHaveLength(1)
    await Promise.all([store.webhooks.remove(hook.id), store.events.append([records.event()])])
    expect((await store.events.list(ALL_EVENTS, { limit: 9, after: null })).records).toHaveLength(3)
  })

  holds('a change that was rolled back leaves nothing in memory', async (store, records) => {
    await found(store, records)
    const hook = records.webhook()
    const event = records.event()
    const outcomes = await Promise.allSettled([
      store.webhooks.create(hook, 'whsec_a'),
      store.events.append([event]),
      store.organizations.create(records.organization({ id: ORGANIZATION })),
      store.webhooks.update(hook.id, { status: 'paused' }, START),
    ])
    expect(outcomes.map(({ status }) => status)).toEqual(['fulfilled', 'fulfilled', 'rejected', 'fulfilled'])
    await store.events.append([records.event()])
    const filter = { webhookId: hook.id, status: null, type: null, createdAfter: null, createdBefore: null }
    const deliveries = await store.webhookDeliveries.list(filter, { limit: 9, after: null })
    expect(deliveries.records.map((delivery) => delivery.eventId)).toEqual([event.id])
  })

  holds('two requests for the last of the volume have one winner', async (store, records) => {
    await found(store, records)
    const volume = { ...VOLUME, count: 6 }
    const answers = await Promise.all(
      [1, 2].map(() => store.messages.accept([records.accepted()], volume, records.remember())),
    )
    expect(answers).toEqual([{ kind: 'accepted' }, { kind: 'volume_exceeded', used: 6 }])
    expect((await store.messages.list(ALL_MESSAGES, { limit: 9, after: null })).records).toHaveLength(1)
  })

  holds('a burst larger than one group is written whole', async (store, records) => {
    await found(store, records)
    const all = Array.from({ length: 600 }, () => records.accepted())
    await Promise.all(all.map((each) => accept(store, each)))
    expect(await claim(store, { limit: 1000, freeFor: () => 1000 })).toHaveLength(600)
  })

  holds('closing waits for current writes', async (store, records, { reopen }) => {
    await found(store, records)
    const accepted = records.accepted()
    const writing = accept(store, accepted)
    const again = await reopen()
    await writing
    expect(await again.messages.get(accepted.message.id)).not.toBeNull()
  })

  holds('a secret is created once', async (store, records, { reopen }) => {
    const first = await store.secret('verp', records.hash())
    const again = await reopen()
    expect(await again.secret('verp', records.hash())).toEqual(first)
    expect(await again.secret('other', records.hash())).not.toEqual(first)
  })

  holds('a store that can write says so', async (store) => {
    expect(await store.checkWritable()).toBeUndefined()
  })

  holds('an answer is stored with its change, for its time', async (store, records) => {
    await found(store, records)
    const [old, fresh] = [records.remember(), records.remember({ createdAt: START + 5000 })]
    await store.messages.accept([records.accepted()], VOLUME, old)
    await store.messages.accept([records.accepted()], VOLUME, fresh)
    const kept = await store.idempotency.find(ORGANIZATION, old.keyHash, START - 1)
    expect({ ...kept, body: [...kept!.body], requestHash: [...kept!.requestHash], keyHash: null }).toEqual({
      ...old,
      body: [...old.body],
      requestHash: [...old.requestHash],
      keyHash: null,
    } as never)
    expect(await store.idempotency.find(ORGANIZATION, old.keyHash, START)).toBeNull()
    expect(await store.idempotency.find('org_b', old.keyHash, 0)).toBeNull()
    expect(await store.idempotency.find(ORGANIZATION, records.hash(), 0)).toBeNull()
    expect(await store.idempotency.prune(START, 10)).toBe(0)
    expect(await store.idempotency.prune(START + 5001, 1)).toBe(1)
    expect(await store.idempotency.find(ORGANIZATION, old.keyHash, 0)).toBeNull()
    expect(await store.idempotency.find(ORGANIZATION, fresh.keyHash, 0)).not.toBeNull()
  })

  holds('an answer to a refused volume is not stored', async (store, records) => {
    await found(store, records)
    const remember = records.remember()
    await store.messages.accept([records.accepted()], { ...VOLUME, count: 11 }, remember)
    expect(await store.idempotency.find(ORGANIZATION, remember.keyHash, 0)).toBeNull()
  })

  holds('an expired answer is replaced by a new one', async (store, records) => {
    await found(store, records)
    const old = records.remember()
    await store.messages.accept([records.accepted()], VOLUME, old)
    const fresh = { ...old, status: 200, createdAt: START + IDEMPOTENCY_KEPT_MS, requestHash: records.hash() }
    await store.messages.accept([records.accepted()], VOLUME, fresh)
    const kept = await store.idempotency.find(ORGANIZATION, old.keyHash, START)
    expect([kept!.status, [...kept!.requestHash]]).toEqual([200, [...fresh.requestHash]])
  })

  holds('two calls at once with the same answer are one', async (store, records) => {
    await found(store, records)
    const answer = records.remember()
    const mails = [records.accepted(), records.accepted()]
    const results = await Promise.allSettled(mails.map((mail) => store.messages.accept([mail], VOLUME, answer)))
    expect(results.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected'])
    const refused = results.findIndex(({ status }) => status === 'rejected')
    expect((results[refused] as PromiseRejectedResult).reason).toBeInstanceOf(AlreadyRemembered)
    expect(await store.messages.get(mails[refused]!.message.id)).toBeNull()
    expect(await store.messages.volume(ORGANIZATION, '2026-11')).toBe(1)
  })

  holds('of two changes with one idempotency key the second is not made', async (store, records) => {
    await found(store, records)
    const used = records.remember()
    await store.messages.accept([records.accepted()], VOLUME, used)
    const late = { ...used, requestHash: records.hash(), createdAt: START + IDEMPOTENCY_KEPT_MS - 1 }
    const second = records.accepted()
    const letter = template(1)
    const domain = records.domain()
    const route = records.inboundRoute()
    const hook = records.webhook()
    const key = records.apiKey()
    const suppression = records.suppression()
    for (const change of [
      () => store.messages.accept([second], VOLUME, late),
      () => store.templates.create(letter, late),
      () => store.domains.create(domain, -1, late),
      () => store.inboundRoutes.create(route, 'secret', late),
      () => store.webhooks.create(hook, 'whsec_a', late),
      () => store.apiKeys.create(key, records.hash(), late),
      () => store.suppressions.add(suppression, late),
    ]) {
      await expect(change()).rejects.toBeInstanceOf(AlreadyRemembered)
    }
    expect(await store.messages.get(second.message.id)).toBeNull()
    expect(await store.templates.get(letter.id)).toBeNull()
    expect(await store.domains.get(domain.id)).toBeNull()
    expect(await store.inboundRoutes.get(route.id)).toBeNull()
    expect(await store.webhooks.get(hook.id)).toBeNull()
    expect(await store.apiKeys.get(key.id)).toBeNull()
    expect(await store.suppressions.get(suppression.id)).toBeNull()
    expect(await store.messages.volume(ORGANIZATION, '2026-11')).toBe(1)
    const kept = await store.idempotency.find(ORGANIZATION, used.keyHash, 0)
    expect([...kept!.requestHash]).toEqual([...used.requestHash])
  })

  holds('of many changes at once with one idempotency key one is made', async (store, records) => {
    await found(store, records)
    const answers = Array.from({ length: 3 }, () => records.remember())
    const calls = answers.flatMap((answer) => Array.from({ length: 5 }, () => answer))
    const volume = { ...VOLUME, limit: -1 }
    const results = await Promise.allSettled(
      calls.map((answer) => store.messages.accept([records.accepted()], volume, answer)),
    )
    const winners = calls.filter((_, at) => results[at]!.status === 'fulfilled')
    expect(new Set(winners)).toEqual(new Set(answers))
    expect(winners).toHaveLength(3)
    expect(await store.messages.volume(ORGANIZATION, '2026-11')).toBe(3)
  })

  holds('a repeated request uses nothing of a limit', async (store, records) => {
    await found(store, records)
    const [used, other] = [records.remember(), records.remember()]
    await store.messages.accept([records.accepted()], { ...VOLUME, limit: 2 }, used)
    const calls = [used, used, other].map((answer) =>
      store.messages.accept([records.accepted()], { ...VOLUME, limit: 2 }, answer),
    )
    const results = await Promise.allSettled(calls)
    expect(results.map(({ status }) => status)).toEqual(['rejected', 'rejected', 'fulfilled'])
    expect(results[2]).toMatchObject({ value: { kind: 'accepted' } })
  })

  holds('an answer is replaced by that of the same request only', async (store, records) => {
    await found(store, records)
    const used = records.remember()
    await store.messages.accept([], VOLUME, used)
    await store.idempotency.replace({ ...used, status: 200, body: new Uint8Array([7]) })
    await store.idempotency.replace({ ...used, status: 201, requestHash: records.hash() })
    await store.idempotency.replace({ ...records.remember(), status: 201 })
    const kept = await store.idempotency.find(ORGANIZATION, used.keyHash, 0)
    expect([kept!.status, [...kept!.body]]).toEqual([200, [7]])
    expect(await store.idempotency.prune(START + 1, 10)).toBe(1)
  })

  holds('every creation stores its answer', async (store, records) => {
    await found(store, records)
    const answers = Array.from({ length: 6 }, () => records.remember())
    const [key, hook] = [records.apiKey(), records.webhook()]
    await store.domains.create(records.domain(), -1, answers[0])
    await store.apiKeys.create(key, records.hash(), answers[1])
    await store.apiKeys.rotate(key.id, records.apiKey(), records.hash(), START, START, answers[2])
    await store.suppressions.add(records.suppression(), answers[3])
    await store.webhooks.create(hook, 'whsec_a', answers[4])
    await store.webhooks.rotateSecret(hook.id, 'whsec_b', START, START, answers[5])
    for (const { keyHash } of answers) expect(await store.idempotency.find(ORGANIZATION, keyHash, 0)).not.toBeNull()
  })

  holds('a refused creation stores no answer', async (store, records) => {
    await found(store, records)
    const answers = Array.from({ length: 4 }, () => records.remember())
    const suppression = records.suppression()
    await store.suppressions.add(suppression)
    expect(await store.domains.create(records.domain({ name: 'a.example' }), -1, answers[0])).toBe('conflict')
    expect(await store.domains.create(records.domain(), 1, answers[1])).toBe('limit')
    expect((await store.suppressions.add(records.suppression(), answers[2])).kind).toBe('exists')
    const rotated = await store.apiKeys.rotate('key_none', records.apiKey(), records.hash(), START, START, answers[3])
    expect(rotated).toBe('invalid_state')
    for (const { keyHash } of answers) expect(await store.idempotency.find(ORGANIZATION, keyHash, 0)).toBeNull()
  })

  holds(
    'outcome, events, webhook deliveries and suppression are written together or not at all',
    async (store, records) => {
      await found(store, records)
      await store.webhooks.create(records.webhook(), 'whsec_a')
      await accept(store, records.accepted())
      const [claimed] = await claim(store)
      const event = records.event()
      const broken = { ...records.event(), body: null as never }
      const record = recordOf(claimed!, undefined, { events: [event, broken], suppression: records.suppression() })
      expect(store.deliveries.record(record)).rejects.toThrow()
      expect((await store.messages.deliveries(claimed!.message.id))[0]!.status).toBe('queued')
      expect(await store.events.get(event.id)).toBeNull()
      expect(await store.messages.attempts(claimed!.message.id)).toEqual([])
      expect(await store.suppressions.find(ORGANIZATION, 'bob@dest.example')).toEqual([])
      expect((await store.webhookDeliveries.nextDueAt(ANY)) ?? START).toBe(START)
      expect(await claimDue(store.webhookDeliveries, { now: START, limit: 9, worker: 'w1', freeFor: () => 9 })).toEqual(
        [],
      )
      expect(await store.deliveries.record({ ...record, events: [event] })).toBe('recorded')
      expect(
        await claimDue(store.webhookDeliveries, { now: START, limit: 9, worker: 'w1', freeFor: () => 9 }),
      ).toHaveLength(1)
    },
  )
}
