import { expect } from 'bun:test'
import type { Webhook, WebhookDeliveryStatus } from '../../src/model/webhook.ts'
import type { ClaimedWebhookDelivery, Store } from '../../src/storage/store.ts'
import { ANY, type ClaimChange, claimDue } from '../support/claim.ts'
import type { Holds } from './contract.ts'
import { found, idsByPage, ORGANIZATION, postAttempt, type Records, START, WORKER, YEARS_LATER } from './records.ts'

export function webhookDeliveryPromises(holds: Holds): void {
  holds('an event goes to every active webhook that subscribes to its kind', async (store, records) => {
    const hook = await hooked(store, records, { events: ['message.delivered', 'message.bounced'] })
    const other = await add(store, records, { events: ['message.opened'] })
    const paused = await add(store, records, { status: 'paused' })
    const foreign = records.organization()
    await store.organizations.create(foreign)
    const theirs = await add(store, records, { organizationId: foreign.id })
    const event = records.event()
    await store.events.append([event])
    const claims = await claim(store)
    expect(claims).toEqual([
      {
        id: expect.stringMatching(/^whd_/) as never,
        webhookId: hook.id,
        organizationId: ORGANIZATION,
        eventId: event.id,
        messageId: event.messageId,
        type: 'message.delivered',
        url: hook.url,
        format: 'enveloped',
        secrets: { secret: 'whsec_a', previous: null },
        headers: [],
        body: event.body,
        attempt: 1,
        worker: WORKER,
      },
    ])
    for (const { id } of [other, paused, theirs]) expect((await list(store, id)).length).toBe(0)
  })

  holds('a test event goes to its webhook only, whatever that subscribes to', async (store, records) => {
    await hooked(store, records)
    const only = await add(store, records, { events: [] })
    await store.events.append([records.event()], only.id)
    expect((await claim(store)).map(({ webhookId }) => webhookId)).toEqual([only.id])
  })

  holds(
    'the deliveries of a message are those of all webhooks, of its newest events first, and of no other organization',
    async (store, records) => {
      const hooks = [await hooked(store, records), await add(store, records)]
      const [first, second] = [records.event({ messageId: 'msg_told' }), records.event({ messageId: 'msg_told' })]
      await store.events.append([first, records.event({ messageId: 'msg_other' }), second])
      const { records: published, hasMore } = await store.webhookDeliveries.ofMessage(ORGANIZATION, 'msg_told', 3)
      expect([published.map(({ eventId }) => eventId), hasMore]).toEqual([[second.id, second.id, first.id], true])
      expect(
        published
          .slice(0, 2)
          .map(({ webhookId }) => webhookId)
          .toSorted(),
      ).toEqual(hooks.map(({ id }) => id).toSorted())
      expect((await store.webhookDeliveries.ofMessage('org_none', 'msg_told', 9)).records).toEqual([])
      expect((await store.webhookDeliveries.ofMessage(ORGANIZATION, 'msg_told', 4)).hasMore).toBe(false)
    },
  )

  holds('a delivery reads as its attempts went', async (store, records) => {
    const hook = await hooked(store, records)
    const event = records.event({ body: '{"data":{"to":"zoë@a.example"}}' })
    await store.events.append([event])
    const [claimed] = await claim(store)
    const record = {
      id: claimed!.id,
      webhookId: hook.id,
      eventId: event.id,
      type: 'message.delivered',
      to: 'zoë@a.example',
      status: 'pending',
      attempts: [],
      nextAttemptAt: null,
      createdAt: START,
    }
    expect(await store.webhookDeliveries.get(claimed!.id)).toEqual(record as never)
    const failed = postAttempt({ statusCode: 500, error: 'status 500', responseExcerpt: 'oops\0 🎉' })
    await settle(store, claimed!, 'pending', { attempt: failed, nextAttemptAt: START + 5000 })
    const waiting = { ...record, attempts: [failed], nextAttemptAt: START + 5000 }
    expect(await store.webhookDeliveries.get(claimed!.id)).toEqual(waiting as never)
    expect(await list(store, hook.id)).toEqual([waiting] as never)
    expect(await store.webhookDeliveries.nextDueAt(ANY)).toBe(START + 5000)
    expect(await claim(store, { now: START + 4999 })).toEqual([])
    const [again] = await claim(store, { now: START + 5000 })
    expect(again!.attempt).toBe(2)
    await settle(store, again!, 'delivered')
    const done = await store.webhookDeliveries.get(claimed!.id)
    expect(done).toEqual({
      ...waiting,
      status: 'delivered',
      nextAttemptAt: null,
      attempts: [failed, postAttempt({ number: 2 })],
    } as never)
    expect(await store.webhookDeliveries.get('whd_none')).toBeNull()
  })

  holds('deliveries are listed with their recipient, whatever text their events have', async (store, records) => {
    const hook = await hooked(store, records)
    const to = '"a \\"b\\\\"@\u{1f600}.example'
    const about = { message_id: 'msg_1', from: '"to":"x" <x@y>', to }
    const odd = { subject: '\0 \ud83d', metadata: { to: 'm@x', '\udc00': '"' }, smtp_response: '"to":"\u001f\\u0000' }
    const bodies = [
      { data: { ...about, ...odd } },
      { data: { ...about, large: 'é'.repeat(100_000) } },
      { data: { ...about, to: '\ud83d@x' } },
      { data: {} },
    ].map((body) => JSON.stringify({ id: 'evt_1', type: 'message.delivered', ...body }))
    for (const body of bodies) await store.events.append([records.event({ body })])
    const listed = await list(store, hook.id)
    expect(listed.map((each) => each.to)).toEqual([null, '\ud83d@x', to, to])
    expect((await store.webhookDeliveries.get(listed[3]!.id))!.to).toBe(to)
  })

  holds('a claim stays within its limit and free slots, and takes only what is due', async (store, records) => {
    const [a, b] = [await hooked(store, records), await add(store, records)]
    await store.events.append(Array.from({ length: 4 }, () => records.event()))
    const freeFor = (id: string) => (id === a.id ? 1 : 0)
    expect(await claim(store, { freeFor })).toMatchObject([{ webhookId: a.id }])
    expect(await claim(store, { freeFor: () => 0 })).toEqual([])
    expect(await claim(store, { limit: 2 })).toHaveLength(2)
    const rest = await claim(store)
    expect(rest).toHaveLength(5)
    expect(rest.some(({ webhookId }) => webhookId === b.id)).toBe(true)
    expect(await claim(store, { now: YEARS_LATER })).toEqual([])
    expect(await store.webhookDeliveries.endLeases(WORKER, new Set(), START)).toBe(8)
    const again = await claim(store, { worker: 'w2' })
    expect(again.map(({ attempt }) => attempt)).toEqual(Array(8).fill(2))
  })

  holds('a paused webhook keeps its pending deliveries, and continues when it is resumed', async (store, records) => {
    const hook = await hooked(store, records)
    await store.events.append([records.event()])
    await store.webhooks.update(hook.id, { status: 'paused' }, START)
    await store.events.append([records.event()])
    expect(await claim(store)).toEqual([])
    expect(await store.webhookDeliveries.nextDueAt(ANY)).toBeNull()
    expect((await list(store, hook.id)).map(({ status }) => status)).toEqual(['pending'])
    await store.webhooks.update(hook.id, { status: 'active' }, START + 1)
    expect(await store.webhookDeliveries.nextDueAt(ANY)).toBe(START)
    expect(await claim(store)).toHaveLength(1)
  })

  holds('a webhook that is paused between plan and claim is due again when it is resumed', async (store, records) => {
    const [paused, other] = [await hooked(store, records), await add(store, records)]
    await store.events.append([records.event()])
    const request = { now: START, limit: 9, worker: WORKER }
    const plan = await store.webhookDeliveries.planClaims({ ...request, look: ANY })
    await store.webhooks.update(paused.id, { status: 'paused' }, START)
    const claims = await store.webhookDeliveries.claimDue({ ...request, plan })
    expect(claims.map(({ webhookId }) => webhookId)).toEqual([other.id])
    expect(await store.webhookDeliveries.nextDueAt(ANY)).toBeNull()
    await store.webhooks.update(paused.id, { status: 'active' }, START)
    expect(await store.webhookDeliveries.nextDueAt(ANY)).toBe(START)
    expect(await claim(store)).toMatchObject([{ webhookId: paused.id }])
  })

  holds('a webhook counts its failures in a row and since when', async (store, records) => {
    const hook = await hooked(store, records)
    await store.events.append(Array.from({ length: 4 }, () => records.event()))
    const [first, second, third, fourth] = await claim(store)
    const counted = async (answer: ReturnType<typeof settle>) => {
      expect(await answer).toBe('recorded')
      const { consecutiveFailures, failingSince, lastFailureAt, lastSuccessAt } = (await store.webhooks.get(hook.id))!
      return [consecutiveFailures, failingSince, lastFailureAt, lastSuccessAt].map(
        (n) => (n ?? START) - (n! > 9 ? START : 0),
      )
    }
    const again = { nextAttemptAt: START + 9e9 }
    expect(await counted(settle(store, first!, 'pending', { ...again, now: START + 1 }))).toEqual([0, 1, 1, START])
    expect(await counted(settle(store, second!, 'failed', { now: START + 2 }))).toEqual([1, 1, 2, START])
    expect(await counted(settle(store, third!, 'failed', { now: START + 3 }))).toEqual([2, 1, 3, START])
    expect(await counted(settle(store, fourth!, 'delivered', { now: START + 4 }))).toEqual([0, START, 3, 4])
    expect(await store.webhooks.get(hook.id)).toMatchObject({ consecutiveFailures: 0, failingSince: null })
  })

  holds('an outcome can pause its webhook, for the next claim and the next event', async (store, records) => {
    const hook = await hooked(store, records)
    await store.events.append([records.event(), records.event()])
    const [gone] = await claim(store, { limit: 1 })
    const recording = settle(store, gone!, 'failed', { pauseReason: 'answered 410', now: START + 7 })
    const [recorded, claims] = await Promise.all([recording, claim(store), store.events.append([records.event()])])
    expect(recorded).toBe('recorded')
    const paused = { status: 'paused' as const, disabledReason: 'answered 410', updatedAt: START + 7 }
    expect(await store.webhooks.get(hook.id)).toMatchObject(paused)
    expect(claims).toEqual([])
    expect(await list(store, hook.id)).toHaveLength(2)
  })

  holds(
    'an outcome of an attempt that began before its webhook was changed does not pause it',
    async (store, records) => {
      const hook = await hooked(store, records)
      await store.events.append([records.event(), records.event()])
      const [before, after] = await claim(store)
      await store.webhooks.update(hook.id, { url: 'https://new.example/' }, START + 1)
      const gone = { pauseReason: 'answered 410', now: START + 7 }
      expect(await settle(store, before!, 'failed', gone)).toBe('recorded')
      await store.events.append([records.event()])
      expect(await list(store, hook.id)).toHaveLength(3)
      expect((await store.webhooks.get(hook.id))?.status).toBe('active')
      await settle(store, after!, 'failed', { ...gone, attempt: postAttempt({ at: START + 1 }) })
      expect((await store.webhooks.get(hook.id))?.status).toBe('paused')
    },
  )

  holds(
    'a webhook is paused for its failures as they were read, and not after a change or a success',
    async (store, records) => {
      const hook = await hooked(store, records)
      await store.events.append(Array.from({ length: 3 }, () => records.event()))
      const [first, second, third] = await claim(store)
      const read = async () => (await store.webhooks.get(hook.id))!
      const pause = (seen: Webhook) => store.webhooks.pauseFailing(seen, 'it fails', START + 9)
      expect(await pause(await read())).toBe(false)
      await settle(store, first!, 'failed', { now: START + 1 })
      const failing = await read()
      await settle(store, second!, 'delivered', { now: START + 2 })
      await settle(store, third!, 'failed', { now: START + 3 })
      expect(await pause(failing)).toBe(false)
      const again = await read()
      await store.webhooks.update(hook.id, { description: 'repaired' }, START + 4)
      expect([await pause(again), (await read()).status]).toEqual([false, 'active'])
      expect(await pause(await read())).toBe(true)
      expect(await read()).toMatchObject({ status: 'paused', disabledReason: 'it fails', updatedAt: START + 9 })
      await store.events.append([records.event()])
      expect(await list(store, hook.id)).toHaveLength(3)
      expect(await pause(await read())).toBe(false)
    },
  )

  holds('an outcome is recorded once, for the attempt and the worker that hold the lease', async (store, records) => {
    const hook = await hooked(store, records)
    await store.events.append([records.event()])
    const [claimed] = await claim(store)
    const lost = 'lease_lost'
    expect(await settle(store, { ...claimed!, worker: 'w2' }, 'failed')).toEqual(lost)
    expect(await settle(store, { ...claimed!, attempt: 2 }, 'failed')).toEqual(lost)
    expect(await settle(store, { ...claimed!, id: 'whd_none' }, 'failed', { pauseReason: 'no' })).toEqual(lost)
    await store.webhookDeliveries.endLeases(WORKER, new Set(), START)
    const [taken] = await claim(store)
    expect(await settle(store, claimed!, 'failed')).toEqual(lost)
    const together = [{ ...taken!, worker: 'w2' }, taken!, taken!].map((each) => settle(store, each, 'failed'))
    expect(await Promise.all(together)).toEqual(['lease_lost', 'recorded', 'lease_lost'])
    expect((await store.webhooks.get(hook.id))!).toMatchObject({ consecutiveFailures: 1, status: 'active' })
  })

  holds(
    'a returned delivery counts as never tried, and a lease ends when its worker does not work on it',
    async (store, records) => {
      await hooked(store, records)
      await store.events.append([records.event(), records.event()])
      const [first, second] = await claim(store)
      await store.webhookDeliveries.release([{ id: first!.id, attempt: 1, worker: 'w2' }], START)
      expect(await claim(store)).toEqual([])
      await store.webhookDeliveries.release([{ id: first!.id, attempt: 1, worker: 'w1' }], START)
      expect(await claim(store)).toMatchObject([{ id: first!.id, attempt: 1 }])
      const underWay = new Set([first!.id])
      expect(await store.webhookDeliveries.endLeases('w2', new Set(), START)).toBe(0)
      expect(await store.webhookDeliveries.endLeases(WORKER, underWay, START)).toBe(1)
      expect(await claim(store)).toMatchObject([{ id: second!.id, attempt: 2 }])
      expect(await store.webhookDeliveries.endLeases(WORKER, new Set(), START)).toBe(2)
      expect((await claim(store)).map(({ id, attempt }) => [id, attempt]).sort()).toEqual(
        [
          [first!.id, 2],
          [second!.id, 3],
        ].sort() as never,
      )
    },
  )

  holds('deliveries are listed newest first and by each filter', async (store, records) => {
    const hook = await hooked(store, records, { events: ['message.delivered', 'message.bounced'] })
    await store.events.append([
      records.event(),
      records.event({ type: 'message.bounced', createdAt: START + 5 }),
      records.event({ createdAt: START + 6 }),
    ])
    const [claimed] = await claim(store, { limit: 1 })
    await settle(store, claimed!, 'failed')
    const all = { webhookId: hook.id, status: null, type: null, createdAfter: null, createdBefore: null }
    const ids = await idsByPage((page) => store.webhookDeliveries.list(all, page))
    expect(ids).toHaveLength(3)
    expect(ids[2]).toBe(claimed!.id)
    const only = async (filter: object) =>
      (await store.webhookDeliveries.list({ ...all, ...filter }, { limit: 9, after: null })).records.map(({ id }) => id)
    expect(await only({ status: 'failed' })).toEqual([ids[2]!])
    expect(await only({ status: 'pending' })).toEqual([ids[0]!, ids[1]!])
    expect(await only({ type: 'message.bounced' })).toEqual([ids[1]!])
    expect(await only({ status: 'pending', type: 'message.bounced' })).toEqual([ids[1]!])
    expect(await only({ status: 'delivered' })).toEqual([])
    expect(await only({ createdAfter: START + 5 })).toEqual([ids[0]!, ids[1]!])
    expect(await only({ createdAfter: START + 5, createdBefore: START + 6 })).toEqual([ids[1]!])
    expect(await only({ createdBefore: START + 5 })).toEqual([ids[2]!])
    expect(await only({ createdBefore: START + 6, status: 'pending' })).toEqual([ids[1]!])
    expect(await only({ webhookId: 'whk_none' })).toEqual([])
  })

  holds('a retry makes one more attempt and continues the count', async (store, records) => {
    await hooked(store, records)
    await store.events.append([records.event()])
    const [claimed] = await claim(store)
    expect(await store.webhookDeliveries.retry(claimed!.id, START)).toBe('under_way')
    await settle(store, claimed!, 'delivered')
    expect(await claim(store, { now: START + 9e9 })).toEqual([])
    expect(await store.webhookDeliveries.retry(claimed!.id, START + 3)).toBe('queued')
    expect(await store.webhookDeliveries.get(claimed!.id)).toMatchObject({
      status: 'pending',
      nextAttemptAt: START + 3,
    })
    expect(await store.webhookDeliveries.nextDueAt(ANY)).toBe(START + 3)
    const [again] = await claim(store, { now: START + 3 })
    expect(again).toMatchObject({ id: claimed!.id, attempt: 2 })
    await settle(store, again!, 'failed')
    expect(await store.webhookDeliveries.get(claimed!.id)).toMatchObject({ status: 'failed', nextAttemptAt: null })
  })

  holds('a replay repeats the events of a range, in portions', async (store, records) => {
    const hook = await hooked(store, records, { events: ['message.bounced'] })
    const events = [0, 1, 2, 3, 4, 5].map((late) => records.event({ createdAt: START + late }))
    const bounced = records.event({ type: 'message.bounced', createdAt: START + 3 })
    await store.events.append([...events, bounced])
    await store.events.append([records.event({ organizationId: 'org_b', createdAt: START + 3 })])
    const [pending] = await claim(store, { now: START + 3 })
    expect(pending!.eventId).toBe(bounced.id)
    const range = { from: START + 1, before: START + 5, type: null, afterEvent: null }
    const first = await store.webhookDeliveries.replay(hook.id, range, 2, START + 100)
    expect(first).toEqual({ queued: 2, more: events[2]!.id })
    const rest = { ...range, afterEvent: first.more }
    // The bounce is still pending, so it is kept, and nothing remains after the portion that is exactly full.
    expect(await store.webhookDeliveries.replay(hook.id, rest, 3, START + 100)).toEqual({ queued: 2, more: null })
    expect(await claim(store, { now: START + 99 })).toEqual([])
    const claims = await claim(store, { now: START + 100 })
    expect(claims.map(({ eventId }) => eventId)).toEqual(events.slice(1, 5).map(({ id }) => id))
    expect(claims.map(({ attempt }) => attempt)).toEqual([1, 1, 1, 1])
    for (const { id, eventId } of claims) expect(timeIn(id)).toBe(timeIn(eventId))
    expect(await store.webhookDeliveries.replay(hook.id, range, 9, START + 101)).toEqual({ queued: 0, more: null })
    for (const each of claims) await settle(store, each, 'delivered')
    expect(await store.webhookDeliveries.replay(hook.id, range, 9, START + 100)).toEqual({ queued: 0, more: null })
    expect(await store.webhookDeliveries.replay(hook.id, range, 9, START + 102)).toEqual({ queued: 4, more: null })
    const bounces = { ...range, type: 'message.bounced' as const }
    await settle(store, pending!, 'failed')
    expect(await store.webhookDeliveries.replay(hook.id, bounces, 9, START + 103)).toEqual({ queued: 1, more: null })
  })
}

async function hooked(store: Store, records: Records, change: Partial<Webhook> = {}): Promise<Webhook> {
  await found(store, records)
  return add(store, records, change)
}

async function add(store: Store, records: Records, change: Partial<Webhook> = {}): Promise<Webhook> {
  const hook = records.webhook(change)
  await store.webhooks.create(hook, 'whsec_a')
  return hook
}

function claim(store: Store, change: ClaimChange = {}): Promise<ClaimedWebhookDelivery[]> {
  return claimDue(store.webhookDeliveries, { now: START, limit: 100, worker: WORKER, freeFor: () => 100, ...change })
}

function settle(
  store: Store,
  claimed: ClaimedWebhookDelivery,
  status: WebhookDeliveryStatus,
  change: Partial<Parameters<Store['webhookDeliveries']['record']>[0]> = {},
) {
  return store.webhookDeliveries.record({
    deliveryId: claimed.id,
    worker: claimed.worker,
    attempt: postAttempt({ number: claimed.attempt }),
    status,
    nextAttemptAt: null,
    pauseReason: null,
    now: START,
    ...change,
  })
}

async function list(store: Store, webhookId: string) {
  const filter = { webhookId, status: null, type: null, createdAfter: null, createdBefore: null }
  return (await store.webhookDeliveries.list(filter, { limit: 100, after: null })).records
}

/** The part of an ID that contains a time. */
const timeIn = (id: string) => id.slice(4, 14)
