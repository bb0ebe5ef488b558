import { expect } from 'bun:test'
import type { InboundRoute } from '../../src/model/inbound-route.ts'
import type { Webhook } from '../../src/model/webhook.ts'
import type { Store } from '../../src/storage/store.ts'
import { ANY, claimDue } from '../support/claim.ts'
import type { Holds } from './contract.ts'
import { accept, claim, found, lateBounce, type Records, recordOf, START, WORKER } from './records.ts'

const HOUR_MS = 3_600_000
const RESTORED = { restoredAt: START + HOUR_MS, madeAt: START }
const NOTHING = { deliveries: 0, webhookDeliveries: 0, inboundDeliveries: 0 }

export function heldPromises(holds: Holds): void {
  holds('a store that was never restored holds nothing', async (store, records) => {
    await found(store, records)
    const { message } = await accept(store, records.accepted())
    expect(await store.held.restored()).toBeNull()
    expect(await store.held.count()).toEqual(NOTHING)
    expect(await store.held.isHeld(message.id)).toBe(false)
    expect(await store.held.release('deliveries', { dueAfter: null, now: START })).toBe(0)
    expect(await claim(store)).toHaveLength(1)
  })

  holds(
    'waiting and current deliveries are held over a restart, and later mail is sent',
    async (store, records, means) => {
      const { message } = await waiting(store, records)
      await claim(store, { limit: 1 })
      await store.held.noteRestored(RESTORED)
      await store.held.hold()
      const again = await means.reopen()
      expect(await again.held.restored()).toEqual(RESTORED)
      expect(await again.held.count()).toEqual({ deliveries: 3, webhookDeliveries: 1, inboundDeliveries: 1 })
      expect(await again.held.isHeld(message.id)).toBe(true)
      expect(await again.deliveries.endLeases(WORKER, new Set(), LATER)).toBe(0)
      expect(await claimed(again)).toEqual(NOTHING)
      expect(await again.deliveries.nextDueAt(ANY)).toBeNull()

      await accept(again, records.accepted())
      expect(await claimed(again)).toEqual({ ...NOTHING, deliveries: 1 })
    },
  )

  holds('a hold of webhook deliveries leaves mail as it is, also in progress', async (store, records) => {
    await waiting(store, records)
    const [sent] = await claim(store, { limit: 1 })
    await store.held.hold(['webhookDeliveries'])
    expect(await store.held.count()).toEqual({ ...NOTHING, webhookDeliveries: 1 })
    expect(await store.deliveries.record(recordOf(sent!))).toBe('recorded')
    expect(await claimed(store)).toEqual({ deliveries: 1, webhookDeliveries: 0, inboundDeliveries: 1 })
  })

  holds('released mail continues at its time, each queue separately', async (store, records) => {
    await waiting(store, records)
    await claim(store, { limit: 1 })
    await store.held.hold()
    expect(await store.held.release('webhookDeliveries', { dueAfter: null, now: LATER })).toBe(1)
    expect(await store.held.release('inboundDeliveries', { dueAfter: null, now: LATER })).toBe(1)
    expect(await claimed(store)).toEqual({ deliveries: 0, webhookDeliveries: 1, inboundDeliveries: 1 })
    // A delivery in progress is not released either: it was due before.
    expect(await store.held.release('deliveries', { dueAfter: START + 60_000, now: LATER })).toBe(1)
    expect(await store.deliveries.nextDueAt(ANY)).toBe(START + 24 * HOUR_MS)
    expect(await store.held.release('deliveries', { dueAfter: null, now: LATER })).toBe(2)
    expect(await claimed(store)).toEqual({ ...NOTHING, deliveries: 2 })
    expect(await store.held.count()).toEqual(NOTHING)
  })

  holds('discarded mail is final and is not tried', async (store, records) => {
    const { message, hook, inbound } = await waiting(store, records)
    await store.held.hold()
    for (const queue of ['deliveries', 'webhookDeliveries', 'inboundDeliveries'] as const)
      await store.held.discard(queue, LATER)
    expect(await store.held.count()).toEqual(NOTHING)
    expect((await store.messages.get(message.id))?.status).toBe('cancelled')
    expect((await store.messages.deliveries(message.id)).map(({ status }) => status)).toEqual([
      'cancelled',
      'cancelled',
    ])
    const filter = { webhookId: hook.id, status: null, type: null, createdAfter: null, createdBefore: null }
    const posts = await store.webhookDeliveries.list(filter, { limit: 9, after: null })
    expect(posts.records.map(({ status }) => status)).toEqual(['failed'])
    expect((await store.inboundDeliveries.ofMessage(inbound))[0]?.status).toBe('failed')
    expect(await store.inboundDeliveries.redeliver(inbound, 'whd_again', LATER)).toBe('queued')
    expect(await claimed(store)).toEqual({ ...NOTHING, inboundDeliveries: 1 })
  })

  holds('mail that its author cancelled or moved meanwhile stays so', async (store, records) => {
    const { message, later } = await waiting(store, records)
    await store.held.hold()
    expect(await store.messages.cancel(message.id, LATER)).toBe('cancelled')
    expect(await store.messages.reschedule(later, START + 48 * HOUR_MS, LATER)).toBe('rescheduled')
    expect((await store.held.count()).deliveries).toBe(0)
    expect(await store.held.isHeld(later)).toBe(false)
    expect(await store.held.release('deliveries', { dueAfter: null, now: LATER })).toBe(0)
    expect(await store.deliveries.nextDueAt(ANY)).toBe(START + 48 * HOUR_MS)
    expect((await store.held.count()).deliveries).toBe(0)
  })

  holds('mail on hold that a late report ends is on hold no more', async (store, records) => {
    const { message } = await waiting(store, records)
    await store.held.hold()
    const [first, second] = await store.messages.deliveries(message.id)
    const late = lateBounce(first!.id, records.report(), 'queued')
    expect(await store.deliveries.recordLate(late)).toBe('recorded')
    const still = { ...lateBounce(second!.id, records.report(), 'queued'), change: null }
    expect(await store.deliveries.recordLate(still)).toBe('recorded')
    expect((await store.held.count()).deliveries).toBe(2)
    expect(await store.held.release('deliveries', { dueAfter: null, now: LATER })).toBe(2)
    const statuses = (await store.messages.deliveries(message.id)).map(({ status }) => status)
    expect(statuses).toEqual(['bounced', 'queued'])
  })

  holds('a delivery that somebody asked for after a restore is held by the next one', async (store, records) => {
    const { hook, later } = await waiting(store, records)
    await store.held.hold()
    const filter = { webhookId: hook.id, status: null, type: null, createdAfter: null, createdBefore: null }
    const [post] = (await store.webhookDeliveries.list(filter, { limit: 9, after: null })).records
    expect(await store.webhookDeliveries.retry(post!.id, LATER)).toBe('queued')
    expect((await store.held.count()).webhookDeliveries).toBe(0)
    expect(await store.messages.reschedule(later, START + 48 * HOUR_MS, LATER)).toBe('rescheduled')
    await store.held.hold()
    expect(await store.held.count()).toEqual({ deliveries: 3, webhookDeliveries: 1, inboundDeliveries: 1 })
    expect(await store.held.release('deliveries', { dueAfter: LATER, now: LATER })).toBe(1)
    expect(await store.deliveries.nextDueAt(ANY)).toBe(START + 48 * HOUR_MS)
  })
}

const LATER = START + 2 * HOUR_MS

/** A message to two recipients that is due, one for tomorrow, a webhook post and an inbound post. */
async function waiting(store: Store, records: Records) {
  await found(store, records)
  const { message } = await accept(store, records.accepted({ deliveries: [{}, {}] }))
  const at = START + 24 * HOUR_MS
  const scheduled = { status: 'scheduled' as const, scheduledAt: at }
  const later = await accept(
    store,
    records.accepted({ ...scheduled, deliveries: [{ status: 'scheduled', nextAttemptAt: at }] }),
  )
  const hook: Webhook = records.webhook()
  await store.webhooks.create(hook, 'whsec_a')
  await store.events.append([records.event()])
  const route: InboundRoute = records.inboundRoute()
  await store.inboundRoutes.create(route, 'secret')
  const mail = records.acceptedInbound([route])
  await store.inbound.accept(mail)
  return { message, later: later.message.id, hook, inbound: mail.taken[0]!.message.id }
}

/** How many of each queue are released now. */
async function claimed(store: Store) {
  const request = { now: LATER, limit: 100, worker: 'w2', freeFor: () => 100 }
  return {
    deliveries: (await claimDue(store.deliveries, request)).length,
    webhookDeliveries: (await claimDue(store.webhookDeliveries, request)).length,
    inboundDeliveries: (await claimDue(store.inboundDeliveries, request)).length,
  }
}
