import { expect } from 'bun:test'
import type { Store } from '../../src/storage/store.ts'
import type { Holds } from './contract.ts'
import {
  ALL_EVENTS,
  accept,
  claim,
  DEFERRED,
  found,
  lateBounce,
  ORGANIZATION,
  type Records,
  recordOf,
  START,
  WORKER,
  YEARS_LATER,
} from './records.ts'

export function reportPromises(holds: Holds): void {
  holds('a delivery is found with its message', async (store, records) => {
    const { message, id } = await delivered(store, records)
    const found = (await store.deliveries.get(id))!
    expect(found.message).toEqual((await store.messages.get(message.id))!)
    expect(found.delivery).toEqual((await store.messages.deliveries(message.id))[0]!)
    expect(found.delivery.status).toBe('delivered')
    expect(await store.deliveries.get('dlv_none')).toBeNull()
  })

  holds('a late bounce changes the delivery and its message, with event and suppression', async (store, records) => {
    const { message, id } = await delivered(store, records)
    const event = records.event({ type: 'message.bounced', messageId: message.id })
    const late = lateBounce(id, records.report(), 'delivered', { events: [event], suppression: records.suppression() })
    expect(await store.deliveries.recordLate(late)).toBe('recorded')
    const { delivery } = (await store.deliveries.get(id))!
    expect(delivery).toMatchObject({ ...late.change!, deliveredAt: null, nextAttemptAt: null, attempts: 1 })
    expect((await store.messages.get(message.id))!.status).toBe('bounced')
    expect((await store.events.list(ALL_EVENTS, { limit: 9, after: null })).records).toEqual([event])
    expect(await store.suppressions.find(ORGANIZATION, 'bob@dest.example')).toHaveLength(1)
    expect(await store.messages.attempts(message.id)).toHaveLength(1)
  })

  holds('only the reported recipient of several changes', async (store, records) => {
    await found(store, records)
    const { message, deliveries } = await accept(store, records.accepted({ deliveries: [{}, {}] }))
    for (const claimed of await claim(store)) await store.deliveries.record(recordOf(claimed))
    await store.deliveries.recordLate(lateBounce(deliveries[1]!.id, records.report(), 'delivered'))
    const statuses = (await store.messages.deliveries(message.id)).map(({ status }) => status)
    expect(statuses).toEqual(['delivered', 'bounced'])
    expect((await store.messages.get(message.id))!.status).toBe('partial')
  })

  holds('the same report twice counts once, also in one burst and after its change', async (store, records) => {
    const { message, id } = await delivered(store, records)
    const report = records.report()
    const late = () => lateBounce(id, report, 'delivered', { events: [records.event()] })
    const answers = await Promise.all([store.deliveries.recordLate(late()), store.deliveries.recordLate(late())])
    expect(answers).toEqual(['recorded', 'duplicate'])
    expect(await store.deliveries.recordLate(late())).toBe('duplicate')
    expect(await store.deliveries.reports(message.id)).toHaveLength(1)
    expect((await store.events.list(ALL_EVENTS, { limit: 9, after: null })).records).toHaveLength(1)
  })

  holds('one report may be about two deliveries', async (store, records) => {
    await found(store, records)
    const { message, deliveries } = await accept(store, records.accepted({ deliveries: [{}, {}] }))
    const report = records.report()
    for (const { id } of deliveries) {
      expect(await store.deliveries.recordLate(lateBounce(id, report, 'queued'))).toBe('recorded')
    }
    expect((await store.deliveries.reports(message.id)).map(({ email }) => email)).toEqual([
      'r0@dest.example',
      'r1@dest.example',
    ])
  })

  holds('a decision for another state, or for an unknown delivery, writes nothing', async (store, records) => {
    const { message, id } = await delivered(store, records)
    const published = { events: [records.event()], suppression: records.suppression() }
    expect(await store.deliveries.recordLate(lateBounce(id, records.report(), 'deferred', published))).toBe('changed')
    const only = { ...published, change: null }
    expect(await store.deliveries.recordLate(lateBounce(id, records.report(), 'queued', only))).toBe('changed')
    const unknown = lateBounce('dlv_none', records.report(), 'delivered', published)
    expect(await store.deliveries.recordLate(unknown)).toBe('unknown')
    expect((await store.deliveries.get(id))!.delivery.status).toBe('delivered')
    expect(await store.deliveries.reports(message.id)).toEqual([])
    expect((await store.events.list(ALL_EVENTS, { limit: 9, after: null })).records).toEqual([])
    expect(await store.suppressions.find(ORGANIZATION, 'bob@dest.example')).toEqual([])
  })

  holds('a report that changes nothing is kept with its cause', async (store, records) => {
    const { message, id } = await delivered(store, records)
    const before = await store.deliveries.get(id)
    const event = records.event({ type: 'message.complained', messageId: message.id })
    const suppression = records.suppression({ reason: 'complaint' })
    const late = lateBounce(id, records.report(), 'delivered', { change: null, events: [event], suppression })
    expect(await store.deliveries.recordLate(late)).toBe('recorded')
    expect(await store.deliveries.get(id)).toEqual(before)
    expect((await store.events.list(ALL_EVENTS, { limit: 9, after: null })).records).toEqual([event])
    expect(await store.suppressions.find(ORGANIZATION, suppression.email)).toEqual([suppression])
  })

  holds('reports read as they were written, oldest first', async (store, records) => {
    const { message, id } = await delivered(store, records)
    const reports = [
      records.report({ receivedAt: START + 9, kind: 'complaint', feedbackType: 'abuse', cause: null, status: null }),
      records.report({ receivedAt: START + 3, reporter: null, diagnostic: '🎉 ü' }),
      records.report({ receivedAt: START + 3, kind: 'auto_reply' }),
    ]
    for (const report of reports) {
      await store.deliveries.recordLate(lateBounce(id, report, 'delivered', { change: null }))
    }
    const email = 'r0@dest.example'
    expect(await store.deliveries.reports(message.id)).toEqual(
      [reports[1]!, reports[2]!, reports[0]!].map((report) => ({ email, report })),
    )
    expect(await store.deliveries.reports('msg_none')).toEqual([])
  })

  holds('an open delivery that a report ends is not tried again', async (store, records) => {
    await found(store, records)
    const { message, deliveries } = await accept(store, records.accepted())
    const [claimed] = await claim(store)
    await store.deliveries.record(recordOf(claimed!, DEFERRED))
    await store.deliveries.recordLate(lateBounce(deliveries[0]!.id, records.report(), 'deferred'))
    expect(await claim(store, { now: START + 9e9 })).toEqual([])
    expect((await store.messages.get(message.id))!.status).toBe('bounced')
  })

  holds('a worker loses the lease of a delivery that a report ended', async (store, records) => {
    await found(store, records)
    const { message, deliveries } = await accept(store, records.accepted())
    const [claimed] = await claim(store)
    const { id } = deliveries[0]!
    expect(await store.deliveries.recordLate(lateBounce(id, records.report(), 'queued'))).toBe('recorded')
    expect(await store.deliveries.record(recordOf(claimed!))).toBe('lease_lost')
    await store.deliveries.release([{ id, attempt: 1, worker: WORKER }], START)
    expect(await store.deliveries.endLeases(WORKER, new Set(), START)).toBe(0)
    expect(await claim(store, { now: YEARS_LATER })).toEqual([])
    expect((await store.messages.get(message.id))!.status).toBe('bounced')
    expect(await store.messages.attempts(message.id)).toEqual([])
  })

  holds('a report that leaves a delivery open keeps its turn and its worker', async (store, records) => {
    await found(store, records)
    const { deliveries } = await accept(store, records.accepted())
    const [claimed] = await claim(store)
    const change = { status: 'deferred' as const, smtpResponse: '451 later', bounceType: null, bounceCode: null }
    const late = lateBounce(deliveries[0]!.id, records.report({ kind: 'delayed' }), 'queued', { change })
    expect(await store.deliveries.recordLate(late)).toBe('recorded')
    expect((await store.deliveries.get(deliveries[0]!.id))!.delivery).toMatchObject(change)
    expect(await store.deliveries.record(recordOf(claimed!))).toBe('recorded')
  })

  holds('a report of delivery says when', async (store, records) => {
    await found(store, records)
    const { deliveries } = await accept(store, records.accepted())
    const change = { status: 'delivered' as const, smtpResponse: '250 ok', bounceType: null, bounceCode: null }
    await store.deliveries.recordLate(lateBounce(deliveries[0]!.id, records.report(), 'queued', { change }))
    const { delivery } = (await store.deliveries.get(deliveries[0]!.id))!
    expect(delivery).toMatchObject({ status: 'delivered', deliveredAt: START + 5000, nextAttemptAt: null })
  })
}

async function delivered(store: Store, records: Records) {
  await found(store, records)
  const { message, deliveries } = await accept(store, records.accepted())
  const [claimed] = await claim(store)
  await store.deliveries.record(recordOf(claimed!))
  return { message, id: deliveries[0]!.id }
}
