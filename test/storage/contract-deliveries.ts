import { expect } from 'bun:test'
import type { ClaimedDelivery } from '../../src/storage/store.ts'
import { ANY } from '../support/claim.ts'
import type { Holds } from './contract.ts'
import {
  ALL_EVENTS,
  accept,
  attempt,
  BOUNCED,
  claim,
  DEFERRED,
  found,
  ORGANIZATION,
  recordOf,
  START,
  WORKER,
} from './records.ts'

export function deliveryPromises(holds: Holds): void {
  holds('a delivered message is delivered', async (store, records) => {
    await found(store, records)
    const { message } = await accept(store, records.accepted())
    const [claimed] = await claim(store)
    const event = records.event({ messageId: message.id })
    expect(await store.deliveries.record(recordOf(claimed!, undefined, { events: [event] }))).toBe('recorded')
    expect((await store.messages.get(message.id))!.status).toBe('delivered')
    expect(await store.messages.deliveries(message.id)).toEqual([
      {
        ...claimed!.delivery,
        status: 'delivered',
        deliveredAt: START + 1000,
        smtpResponse: '250 2.0.0 ok',
        mxHost: 'mx.dest.example',
        tls: 'TLSv1.3 TLS_AES_256_GCM_SHA384',
      },
    ])
    expect(await store.messages.attempts(message.id)).toEqual([{ email: 'r0@dest.example', attempt: attempt() }])
    expect(await store.events.get(event.id)).toEqual(event)
    expect((await store.deliveries.nextDueAt(ANY)) ?? Number.MAX_VALUE).toBeGreaterThan(START)
    expect(await claim(store, { now: START + 1e9 })).toEqual([])
    expect(await store.deliveries.nextDueAt(ANY)).toBeNull()
  })

  holds('a bounced delivery keeps its reason and suppresses', async (store, records) => {
    await found(store, records)
    const { message } = await accept(store, records.accepted())
    const suppression = records.suppression({ messageId: message.id })
    await store.deliveries.record(recordOf((await claim(store))[0]!, BOUNCED, { suppression }))
    expect((await store.messages.deliveries(message.id))[0]).toMatchObject({
      status: 'bounced',
      bounceType: 'hard',
      bounceCode: '5.1.1',
      deliveredAt: null,
      smtpResponse: '550 5.1.1 unknown',
    })
    expect(await store.suppressions.find(ORGANIZATION, suppression.email)).toEqual([suppression])
  })

  holds('a deferred delivery is due again at its time, and not before', async (store, records) => {
    await found(store, records)
    const { message } = await accept(store, records.accepted())
    const bounceNow = {
      isSoftBounceReported: true,
      attempt: attempt({ tlsVersion: null, tlsCipher: null, outcome: 'deferred' }),
    }
    await store.deliveries.record(recordOf((await claim(store))[0]!, DEFERRED, bounceNow))
    expect((await store.messages.get(message.id))!.status).toBe('deferred')
    expect((await store.messages.deliveries(message.id))[0]).toMatchObject({
      status: 'deferred',
      nextAttemptAt: START + 60_000,
      isSoftBounceReported: true,
      tls: null,
      bounceType: null,
    })
    expect(await store.deliveries.nextDueAt(ANY)).toBe(START + 60_000)
    expect(await claim(store, { now: START + 59_999 })).toEqual([])
    const [again] = await claim(store, { now: START + 60_000 })
    await store.deliveries.record(recordOf(again!, DEFERRED, { nextAttemptAt: START + 90_000 }))
    expect((await store.messages.deliveries(message.id))[0]!.isSoftBounceReported).toBe(true)
    expect(await store.messages.attempts(message.id)).toHaveLength(2)
  })

  holds('a suppressed delivery ends without the attempt of its claim, and with its event', async (store, records) => {
    await found(store, records)
    const scheduled = { status: 'scheduled' as const, scheduledAt: START, deliveries: [{}, {}] }
    const { message } = await accept(store, records.accepted(scheduled))
    const event = () => records.event({ type: 'message.suppressed', messageId: message.id, body: '{"data":{}}' })
    const end = ({ delivery, worker }: ClaimedDelivery, worker2 = worker) =>
      store.deliveries.recordSuppressed({ id: delivery.id, attempt: delivery.attempts, worker: worker2 }, event())
    const [first, second] = await claim(store)
    expect(await end(first!, 'w2')).toBe('lease_lost')
    expect((await store.events.list(ALL_EVENTS, { limit: 9, after: null })).records).toEqual([])
    expect(await end(first!)).toBe('recorded')
    expect(await end(first!)).toBe('lease_lost')
    const [never] = await store.messages.deliveries(message.id)
    expect(never).toEqual({ ...first!.delivery, status: 'suppressed', attempts: 0, lastAttemptAt: null })
    expect((await store.events.list(ALL_EVENTS, { limit: 9, after: null })).records).toHaveLength(1)
    await store.deliveries.record(recordOf(second!, DEFERRED))
    const [, deferred] = await store.messages.deliveries(message.id)
    const [again] = await claim(store, { now: START + 60_000 })
    expect(await end(again!)).toBe('recorded')
    const [, ended] = await store.messages.deliveries(message.id)
    expect(ended).toEqual({ ...deferred!, status: 'suppressed', nextAttemptAt: null })
    expect(ended).toMatchObject({ attempts: 1, smtpResponse: expect.any(String), lastAttemptAt: expect.any(Number) })
    expect((await store.messages.get(message.id))!.status).toBe('suppressed')
    expect(await store.messages.attempts(message.id)).toHaveLength(1)
    expect((await store.usage.of(ORGANIZATION, START)).scheduledMessages).toBe(0)
    expect(await claim(store, { now: START + 1e9 })).toEqual([])
    expect(await store.deliveries.nextDueAt(ANY)).toBeNull()
  })

  holds('the status of a message reflects all its recipients', async (store, records) => {
    await found(store, records)
    const { message } = await accept(store, records.accepted({ deliveries: [{}, {}, {}] }))
    const [first, second, third] = await claim(store)
    const statuses: string[] = []
    for (const record of [recordOf(first!), recordOf(second!, DEFERRED), recordOf(third!, BOUNCED)]) {
      await store.deliveries.record(record)
      statuses.push((await store.messages.get(message.id))!.status)
    }
    const [again] = await claim(store, { now: START + 60_000 })
    await store.deliveries.record(recordOf(again!))
    statuses.push((await store.messages.get(message.id))!.status)
    expect(statuses).toEqual(['queued', 'deferred', 'deferred', 'partial'])
  })

  holds('an outcome is recorded once, for the attempt and the worker that hold the lease', async (store, records) => {
    await found(store, records)
    const { message } = await accept(store, records.accepted())
    const [claimed] = await claim(store)
    const record = recordOf(claimed!, DEFERRED, { events: [records.event()], suppression: records.suppression() })
    expect(await store.deliveries.record({ ...record, worker: 'w2' })).toBe('lease_lost')
    expect(await store.deliveries.record({ ...record, attempt: attempt({ number: 2 }) })).toBe('lease_lost')
    expect(await store.deliveries.record({ ...record, deliveryId: 'dlv_none' })).toBe('lease_lost')
    expect((await store.events.list(ALL_EVENTS, { limit: 9, after: null })).records).toEqual([])
    expect(await store.suppressions.find(ORGANIZATION, 'bob@dest.example')).toEqual([])
    const together = [{ ...record, worker: 'w2' }, record, record].map((each) => store.deliveries.record(each))
    expect(await Promise.all(together)).toEqual(['lease_lost', 'recorded', 'lease_lost'])
    expect(await store.deliveries.record(record)).toBe('lease_lost')
    expect((await store.events.list(ALL_EVENTS, { limit: 9, after: null })).records).toHaveLength(1)
    expect(await store.messages.attempts(message.id)).toHaveLength(1)
  })

  holds('an outcome that comes after its lease was taken over changes nothing', async (store, records) => {
    await found(store, records)
    const { message } = await accept(store, records.accepted())
    const [lost] = await claim(store)
    await store.deliveries.endLeases(WORKER, new Set(), START)
    const [taken] = await claim(store)
    expect(await store.deliveries.record(recordOf(lost!))).toBe('lease_lost')
    expect((await store.messages.deliveries(message.id))[0]).toEqual(taken!.delivery)
    expect(await store.deliveries.record(recordOf(taken!))).toBe('recorded')
    expect((await store.messages.attempts(message.id)).map((each) => each.attempt.number)).toEqual([2])
  })

  holds('a lease that has ended is lost to its worker', async (store, records) => {
    await found(store, records)
    await accept(store, records.accepted())
    const [claimed] = await claim(store)
    await store.deliveries.endLeases(WORKER, new Set(), START)
    expect(await store.deliveries.record(recordOf(claimed!))).toBe('lease_lost')
    expect(await claim(store)).toHaveLength(1)
  })
}
