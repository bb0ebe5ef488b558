import { expect } from 'bun:test'
import type { Store } from '../../src/storage/store.ts'
import { claimDue } from '../support/claim.ts'
import type { Holds } from './contract.ts'
import {
  ALL_EVENTS,
  ALL_INBOUND,
  ALL_MESSAGES,
  accept,
  claim,
  DEFERRED,
  found,
  idsByPage,
  lateBounce,
  ORGANIZATION,
  postAttempt,
  type Records,
  recordOf,
  START,
  WORKER,
} from './records.ts'

const DAY = 86_400_000
const OVER = { status: 'delivered' as const, deliveries: [{ status: 'delivered' as const, nextAttemptAt: null }] }

/** Removes everything of the organization older than `before`, at most `most` records in a step. */
export async function removeAll(
  store: Store,
  before: number,
  most = 100,
  unsubscribableSince = before,
): Promise<number> {
  for (let steps = 1; ; steps++) {
    let asked = 0
    const timeIsUp = () => asked++ >= most
    const request = { organizationId: ORGANIZATION, before, unsubscribableSince, timeIsUp }
    if (!(await store.retention.remove(request))) return steps
  }
}

const messageIds = (store: Store, filter: Partial<typeof ALL_MESSAGES> = {}) =>
  idsByPage((page) => store.messages.list({ ...ALL_MESSAGES, ...filter }, page))
const eventIds = (store: Store) => idsByPage((page) => store.events.list(ALL_EVENTS, page))

/** An old delivered message with one of each record that can belong to one. */
async function oldMessage(store: Store, records: Records) {
  const { message, deliveries } = await accept(store, {
    ...records.accepted({ ...OVER, tags: ['news', 'vip'], subject: 'zebra' }),
    events: [records.event()],
  })
  return { message, deliveries }
}

export function retentionPromises(holds: Holds): void {
  holds('old final messages are removed with all their records, and younger ones stay', async (store, records) => {
    await found(store, records)
    const { message, deliveries } = await oldMessage(store, records)
    await store.deliveries.recordLate(lateBounce(deliveries[0]!.id, records.report(), 'delivered'))
    const young = await accept(
      store,
      records.accepted({ ...OVER, createdAt: START + DAY, subject: 'zebra', tags: ['news'] }),
    )
    await store.maintain('recent', () => true)
    await removeAll(store, START + DAY)

    expect(await store.messages.get(message.id)).toBeNull()
    expect(await store.messages.content(message.id)).toBeNull()
    expect(await store.messages.deliveries(message.id)).toEqual([])
    expect(await store.messages.attempts(message.id)).toEqual([])
    expect(await store.deliveries.reports(message.id)).toEqual([])
    expect(await store.deliveries.get(deliveries[0]!.id)).toBeNull()
    expect(await eventIds(store)).toEqual([])
    for (const filter of [{}, { tag: 'news' }, { text: 'zebra' }, { to: 'r0@dest.example' }]) {
      expect(await messageIds(store, filter)).toEqual([young.message.id])
    }
    expect(await messageIds(store, { tag: 'vip' })).toEqual([])
    expect(await store.messages.content(young.message.id)).not.toBeNull()
  })

  holds(
    'open or recently due messages stay, however old, and are removed once they are final',
    async (store, records) => {
      await found(store, records)
      const open = await accept(store, records.accepted())
      const scheduled = { status: 'scheduled' as const, scheduledAt: START + 9 * DAY }
      const later = { status: 'scheduled' as const, nextAttemptAt: START + 9 * DAY }
      const waiting = await accept(store, records.accepted({ ...scheduled, deliveries: [later] }))
      const sentLate = await accept(store, records.accepted({ ...OVER, scheduledAt: START + 9 * DAY }))
      await removeAll(store, START + DAY)
      expect((await messageIds(store)).sort()).toEqual([open, waiting, sentLate].map(({ message }) => message.id))

      const [claimed] = await claim(store)
      await removeAll(store, START + DAY)
      expect(await store.deliveries.record(recordOf(claimed!, DEFERRED))).toBe('recorded')
      await removeAll(store, START + DAY)
      expect(await store.messages.get(open.message.id)).not.toBeNull()
      const [again] = await claim(store, { now: START + 60_000 })
      expect(await store.deliveries.record(recordOf(again!))).toBe('recorded')
      await removeAll(store, START + DAY)
      expect((await messageIds(store)).sort()).toEqual([waiting, sentLate].map(({ message }) => message.id))
      await removeAll(store, START + 9 * DAY + 1)
      expect(await messageIds(store)).toEqual([waiting.message.id])
    },
  )

  holds('another organization keeps its own messages', async (store, records) => {
    await found(store, records)
    const other = { organizationId: 'org_b' }
    const theirs = await accept(store, records.accepted({ ...OVER, ...other }))
    const event = records.event(other)
    await store.events.append([event])
    const route = records.inboundRoute({ ...other, action: { type: 'store', config: {} } })
    const mail = records.acceptedInbound([route])
    await store.inbound.accept(mail)
    await removeAll(store, START + DAY)
    expect(await store.messages.get(theirs.message.id)).not.toBeNull()
    expect(await store.events.get(event.id)).not.toBeNull()
    expect(await store.inbound.get(mail.taken[0]!.message.id)).not.toBeNull()
  })

  holds('events are removed by their own age, with their webhook deliveries', async (store, records) => {
    await found(store, records)
    const hook = records.webhook()
    await store.webhooks.create(hook, 'whsec_a')
    const [old, young] = [records.event(), records.event({ createdAt: START + DAY })]
    await store.events.append([old, young])
    const list = { webhookId: hook.id, status: null, type: null, createdAfter: null, createdBefore: null }
    const request = { now: START, limit: 9, worker: WORKER, freeFor: () => 9 }
    const [claimed] = await claimDue(store.webhookDeliveries, request)
    expect(claimed!.eventId).toBe(old.id)
    await removeAll(store, START + DAY)
    expect(await store.events.get(old.id)).toBeNull()
    expect(await store.webhookDeliveries.get(claimed!.id)).toBeNull()
    const { records: left } = await store.webhookDeliveries.list(list, { limit: 9, after: null })
    expect(left.map(({ eventId }) => eventId)).toEqual([young.id])
    const byType = await store.events.list({ ...ALL_EVENTS, type: young.type }, { limit: 9, after: null })
    expect(byType.records).toEqual([young])
    const result = { deliveryId: claimed!.id, worker: WORKER, status: 'delivered' as const, nextAttemptAt: null }
    const record = { ...result, attempt: postAttempt(), pauseReason: null, now: START }
    expect(await store.webhookDeliveries.record(record)).toBe('lease_lost')
  })

  holds('inbound mail is removed with its last message, and pending mail stays', async (store, records) => {
    await found(store, records)
    const stored = records.inboundRoute({ action: { type: 'store', config: {} } })
    const posted = records.inboundRoute()
    for (const route of [stored, posted]) await store.inboundRoutes.create(route, 'whsec_a')
    const mail = records.acceptedInbound([stored, posted])
    await store.inbound.accept(mail)
    const [kept, owed] = mail.taken.map(({ message }) => message.id)
    await removeAll(store, START + DAY)
    expect(await store.inbound.get(kept!)).toBeNull()
    expect(await store.inbound.raw(owed!)).toEqual(mail.raw)
    await store.inboundRoutes.remove(posted.id)
    await removeAll(store, START + DAY)
    for (const filter of [{}, { to: 'in@a.example' }, { routeId: posted.id }]) {
      const page = { limit: 9, after: null }
      expect((await store.inbound.list({ ...ALL_INBOUND, ...filter }, page)).records).toEqual([])
    }
    expect(await store.inbound.raw(owed!)).toBeNull()
    expect(await store.inboundDeliveries.ofMessage(owed!)).toEqual([])
  })

  holds('counters, volumes and suppressions stay', async (store, records) => {
    await found(store, records)
    const accepted = { ...records.accepted(OVER), suppressions: [records.suppression()] }
    await store.messages.accept([accepted], { organizationId: ORGANIZATION, month: '2026-11', count: 3, limit: -1 })
    await removeAll(store, START + DAY)
    expect(await messageIds(store)).toEqual([])
    const filter = { organizationId: ORGANIZATION, domainId: null, tag: null, mode: 'live' as const }
    expect((await store.stats.hours(filter, [START]))[0]!.accepted).toBe(1)
    expect(await store.messages.volumes(ORGANIZATION)).toEqual([{ month: '2026-11', accepted: 3 }])
    expect(await store.suppressions.find(ORGANIZATION, 'bob@dest.example')).toHaveLength(1)
  })

  holds('a step ends when its time is up, and the next one continues there', async (store, records) => {
    await found(store, records)
    await accept(store, ...Array.from({ length: 250 }, () => records.accepted(OVER)))
    await store.events.append(Array.from({ length: 5 }, () => records.event()))
    const left = async () => (await store.messages.list(ALL_MESSAGES, { limit: 300, after: null })).records.length
    const request = { organizationId: ORGANIZATION, before: START + DAY, unsubscribableSince: START }
    expect(await store.retention.remove({ ...request, timeIsUp: () => true })).toBe(true)
    expect(await left()).toBe(249)
    expect(await store.retention.remove({ ...request, timeIsUp: () => false })).toBe(true)
    expect(await left()).toBe(149)
    expect(await removeAll(store, START + DAY, 10)).toBeGreaterThan(15)
    expect([await left(), await eventIds(store)]).toEqual([0, []])
  })

  holds('old mail behind more than a step of kept mail is found', async (store, records) => {
    await found(store, records)
    await accept(store, ...Array.from({ length: 150 }, () => records.accepted()))
    const { message } = await accept(store, records.accepted(OVER))
    await removeAll(store, START + DAY)
    expect(await store.messages.get(message.id)).toBeNull()
    expect(await messageIds(store)).toHaveLength(150)
  })

  holds('kept mail takes time as well: a step without time reads one record', async (store, records) => {
    await found(store, records)
    await accept(store, ...Array.from({ length: 5 }, () => records.accepted()))
    await accept(store, ...Array.from({ length: 5 }, () => records.accepted({ ...OVER, createdAt: START + DAY })))
    const { message } = await accept(store, records.accepted(OVER))
    const request = { organizationId: ORGANIZATION, before: START + DAY, unsubscribableSince: START }
    const step = () => store.retention.remove({ ...request, timeIsUp: () => true })
    for (let looked = 0; looked < 10; looked++) expect(await step()).toBe(true)
    expect(await store.messages.get(message.id)).not.toBeNull()
    await step()
    expect(await store.messages.get(message.id)).toBeNull()
  })

  holds('the recipient of removed mail is found by its delivery for as long as asked', async (store, records) => {
    await found(store, records)
    const sent = { status: 'delivered' as const, nextAttemptAt: null, attempts: 1, lastAttemptAt: START + 5 }
    const deliveries = [sent, { ...sent, status: 'suppressed' as const, attempts: 0, lastAttemptAt: null }]
    const keyed = records.accepted({ ...OVER, stream: 'bulk', unsubscribe: true, deliveries })
    const plain = records.accepted({ ...OVER, deliveries: [sent] })
    const test = records.accepted({ ...OVER, mode: 'test', unsubscribe: true, deliveries: [sent] })
    const tooOld = records.accepted({ ...OVER, unsubscribe: true, deliveries: [{ ...sent, lastAttemptAt: START - 1 }] })
    await accept(store, keyed, plain, test, tooOld)
    await removeAll(store, START + DAY, 100, START)
    const [one, two] = keyed.deliveries.map(({ id }) => id)
    const facts = { organizationId: ORGANIZATION, domainId: keyed.message.domainId, messageId: keyed.message.id }
    const kept = {
      deliveryId: one!,
      ...facts,
      stream: 'bulk',
      from: 'Ann <ann@a.example>',
      email: 'r0@dest.example',
      sentAt: START + 5,
    }
    expect(await store.deliveries.unsubscribable(one!)).toEqual(kept)
    const others = [two!, ...[plain, test, tooOld].map((each) => each.deliveries[0]!.id)]
    for (const id of others) expect(await store.deliveries.unsubscribable(id)).toBeNull()

    const unsubscribeRequest = () =>
      [records.event({ type: 'message.unsubscribed' }), records.suppression({ email: kept.email })] as const
    expect(await store.deliveries.recordUnsubscribable(one!, ...unsubscribeRequest())).toBe('recorded')
    expect(await store.deliveries.recordUnsubscribable(one!, ...unsubscribeRequest())).toBe('known')
    const [suppression] = await store.suppressions.find(ORGANIZATION, kept.email)
    await store.suppressions.remove([suppression!.id], START)
    expect(await store.deliveries.recordUnsubscribable(one!, ...unsubscribeRequest())).toBe('recorded')
    expect(await eventIds(store)).toHaveLength(2)

    expect(await store.retention.pruneUnsubscribables(START + 5, 9)).toBe(0)
    expect(await store.retention.pruneUnsubscribables(START + 6, 9)).toBe(1)
    expect(await store.deliveries.unsubscribable(one!)).toBeNull()
    expect(await store.deliveries.recordUnsubscribable(one!, ...unsubscribeRequest())).toBe('unknown')
  })

  holds('a cursor whose message was removed continues with older ones', async (store, records) => {
    await found(store, records)
    const old = await accept(store, records.accepted())
    const over = await accept(store, records.accepted(OVER))
    await removeAll(store, START + DAY)
    const page = await store.messages.list(ALL_MESSAGES, { limit: 9, after: over.message.id })
    expect(page.records.map(({ id }) => id)).toEqual([old.message.id])
  })

  holds('space can be returned and the log emptied at any time', async (store, records, { reopen }) => {
    await found(store, records)
    const { message } = await oldMessage(store, records)
    await store.maintain('recent', () => true)
    await removeAll(store, START + DAY)
    while (await store.maintain('removed', () => true));
    await Promise.all([store.maintain('removed', () => true), store.checkWritable()])
    const again = await reopen()
    expect(await again.messages.get(message.id)).toBeNull()
    expect(await claimDue(again.deliveries, { now: START, limit: 1, worker: WORKER, freeFor: () => 1 })).toEqual([])
  })
}
