import { expect } from 'bun:test'
import type { InboundDeliveryStatus } from '../../src/model/inbound-message.ts'
import type { InboundRoute } from '../../src/model/inbound-route.ts'
import type { ClaimedInboundDelivery, Store } from '../../src/storage/store.ts'
import { ANY, type ClaimChange, claimDue, NONE } from '../support/claim.ts'
import type { Holds } from './contract.ts'
import { ALL_INBOUND, found, postAttempt, type Records, START, WORKER, YEARS_LATER } from './records.ts'

type Change = Parameters<Store['inboundRoutes']['update']>[1]

const WAITING: [what: string, change: Change, back: (route: InboundRoute) => Change][] = [
  ['is disabled', { enabled: false }, () => ({ enabled: true })],
  ['is no webhook any more', { action: { type: 'store', config: {} } }, ({ action }) => ({ action })],
]

export function inboundDeliveryPromises(holds: Holds): void {
  holds('a claim has the mail and its route as it is now', async (store, records) => {
    const route = await routed(store, records)
    const { message, deliveryId } = await take(store, records, route)
    const action = { type: 'webhook' as const, config: { url: 'https://new.example/', includeAttachments: true } }
    await store.inboundRoutes.update(route.id, { action })
    expect(await claim(store)).toEqual([
      {
        id: deliveryId,
        message,
        route: {
          id: route.id,
          url: 'https://new.example/',
          includeAttachments: true,
          replies: true,
          secret: 'secret',
          headers: [],
        },
        attempt: 1,
        worker: WORKER,
      },
    ])
  })

  holds('a delivery reads as its attempts went', async (store, records) => {
    const route = await routed(store, records)
    const { message, deliveryId } = await take(store, records, route)
    const one = { id: deliveryId, inboundMessageId: message.id, routeId: route.id, createdAt: START }
    const read = () => store.inboundDeliveries.ofMessage(message.id)
    expect(await read()).toEqual([{ ...one, status: 'pending', attempts: [], nextAttemptAt: START }])
    const [claimed] = await claim(store)
    expect(await read()).toEqual([{ ...one, status: 'pending', attempts: [], nextAttemptAt: null }])
    const failed = postAttempt({ statusCode: 500, error: 'status 500', responseExcerpt: 'oops 🎉' })
    await settle(store, claimed!, 'pending', { attempt: failed, nextAttemptAt: START + 60 })
    expect(await read()).toEqual([{ ...one, status: 'pending', attempts: [failed], nextAttemptAt: START + 60 }])
    expect(await store.inboundDeliveries.nextDueAt(ANY)).toBe(START + 60)
    expect(await claim(store, { now: START + 59 })).toEqual([])
    const [again] = await claim(store, { now: START + 60 })
    expect(again!.attempt).toBe(2)
    await settle(store, again!, 'delivered')
    const attempts = [failed, postAttempt({ number: 2 })]
    expect(await read()).toEqual([{ ...one, status: 'delivered', attempts, nextAttemptAt: null }])
    expect(await claim(store, { now: START + 9e9 })).toEqual([])
    expect(await store.inboundDeliveries.ofMessage('inb_none')).toEqual([])
  })

  holds('a claim stays within its limit and free slots, and takes only what is due', async (store, records) => {
    const [a, b] = [await routed(store, records), await add(store, records)]
    for (const route of [a, a, a, a, b, b, b, b]) await take(store, records, route)
    const freeFor = (id: string) => (id === a.id ? 1 : 0)
    expect(await claim(store, { freeFor })).toMatchObject([{ route: { id: a.id } }])
    expect(await claim(store, { freeFor: () => 0 })).toEqual([])
    expect(await store.inboundDeliveries.nextDueAt(NONE)).toBeNull()
    expect(await claim(store, { limit: 2 })).toHaveLength(2)
    expect(await claim(store)).toHaveLength(5)
    expect(await claim(store, { now: YEARS_LATER })).toEqual([])
    expect(await store.inboundDeliveries.endLeases(WORKER, new Set(), START)).toBe(8)
    const again = await claim(store, { worker: 'w2' })
    expect(again.map(({ attempt }) => attempt)).toEqual(Array(8).fill(2))
  })

  for (const [what, change, back] of WAITING) {
    holds(
      `deliveries of a route that ${what} wait, and continue when it is a webhook again`,
      async (store, records) => {
        const route = await routed(store, records)
        await take(store, records, route)
        await store.inboundRoutes.update(route.id, change)
        expect(await claim(store)).toEqual([])
        await take(store, records, route)
        expect(await claim(store)).toEqual([])
        expect(await store.inboundDeliveries.nextDueAt(ANY)).toBeNull()
        await store.inboundRoutes.update(route.id, back(route))
        expect(await store.inboundDeliveries.nextDueAt(ANY)).toBe(START)
        expect(await claim(store)).toHaveLength(2)
      },
    )
  }

  holds('a route that is disabled between plan and claim is due again when it is enabled', async (store, records) => {
    const [disabled, other] = [await routed(store, records), await add(store, records)]
    for (const route of [disabled, other]) await take(store, records, route)
    const request = { now: START, limit: 9, worker: WORKER }
    const plan = await store.inboundDeliveries.planClaims({ ...request, look: ANY })
    await store.inboundRoutes.update(disabled.id, { enabled: false })
    const claims = await store.inboundDeliveries.claimDue({ ...request, plan })
    expect(claims.map(({ route }) => route.id)).toEqual([other.id])
    expect(await store.inboundDeliveries.nextDueAt(ANY)).toBeNull()
    await store.inboundRoutes.update(disabled.id, { enabled: true })
    expect(await store.inboundDeliveries.nextDueAt(ANY)).toBe(START)
    expect(await claim(store)).toMatchObject([{ route: { id: disabled.id } }])
  })

  holds('an outcome is recorded once, for the attempt and the worker that hold the lease', async (store, records) => {
    const route = await routed(store, records)
    const { message } = await take(store, records, route)
    const [claimed] = await claim(store)
    expect(await settle(store, { ...claimed!, worker: 'w2' }, 'failed')).toBe('lease_lost')
    expect(await settle(store, { ...claimed!, attempt: 2 }, 'failed')).toBe('lease_lost')
    expect(await settle(store, { ...claimed!, id: 'whd_none' }, 'failed')).toBe('lease_lost')
    await store.inboundDeliveries.endLeases(WORKER, new Set(), START)
    const [taken] = await claim(store)
    expect(await settle(store, claimed!, 'failed')).toBe('lease_lost')
    const together = [settle(store, { ...taken!, worker: 'w2' }, 'delivered'), settle(store, taken!, 'failed')]
    expect(await Promise.all([...together, settle(store, taken!, 'delivered')])).toEqual([
      'lease_lost',
      'recorded',
      'lease_lost',
    ])
    expect(await store.inboundDeliveries.ofMessage(message.id)).toMatchObject([
      { status: 'failed', attempts: [{ number: 2 }] },
    ])
  })

  holds(
    'a returned delivery counts as never tried, and a lease ends when its worker does not work on it',
    async (store, records) => {
      const route = await routed(store, records)
      for (const each of [route, route]) await take(store, records, each)
      const [first, second] = await claim(store)
      await store.inboundDeliveries.release([{ id: first!.id, attempt: 1, worker: 'w2' }], START)
      expect(await claim(store)).toEqual([])
      await store.inboundDeliveries.release([{ id: first!.id, attempt: 1, worker: 'w1' }], START)
      expect(await claim(store)).toMatchObject([{ id: first!.id, attempt: 1 }])
      const underWay = new Set([first!.id])
      expect(await store.inboundDeliveries.endLeases('w2', new Set(), START)).toBe(0)
      expect(await store.inboundDeliveries.endLeases(WORKER, underWay, START)).toBe(1)
      expect(await claim(store)).toMatchObject([{ id: second!.id, attempt: 2 }])
      expect(await store.inboundDeliveries.endLeases(WORKER, new Set(), START)).toBe(2)
      expect((await claim(store)).map(({ id, attempt }) => [id, attempt]).sort()).toEqual(
        [
          [first!.id, 2],
          [second!.id, 3],
        ].sort() as never,
      )
    },
  )

  holds('waiting deliveries are claimed after a restart', async (store, records, { reopen }) => {
    const route = await routed(store, records)
    const { deliveryId } = await take(store, records, route)
    const again = await reopen()
    expect(await again.inboundDeliveries.nextDueAt(ANY)).toBe(START)
    expect(await claim(again)).toMatchObject([{ id: deliveryId }])
  })

  holds(
    'a mail is delivered again once no delivery of it is pending, and is listed by its newest delivery',
    async (store, records) => {
      const route = await routed(store, records)
      const { message, deliveryId } = await take(store, records, route)
      const { redeliver, ofMessage } = store.inboundDeliveries
      const listed = async (status: InboundDeliveryStatus) =>
        (await store.inbound.list({ ...ALL_INBOUND, status }, { limit: 9, after: null })).records.length
      const counts = () => Promise.all([listed('pending'), listed('delivered'), listed('failed')])
      expect(await counts()).toEqual([1, 0, 0])
      expect(await redeliver(message.id, 'whd_two', START)).toBe('under_way')
      const [claimed] = await claim(store)
      expect(await redeliver(message.id, 'whd_two', START)).toBe('under_way')
      await settle(store, claimed!, 'failed')
      expect(await counts()).toEqual([0, 0, 1])
      expect(await redeliver(message.id, 'whd_two', START + 7)).toBe('queued')
      expect(await counts()).toEqual([1, 0, 0])
      expect(await redeliver(message.id, 'whd_three', START + 8)).toBe('under_way')
      expect(await store.inboundDeliveries.nextDueAt(ANY)).toBe(START + 7)
      const [again] = await claim(store, { now: START + 7 })
      expect(again).toMatchObject({ id: 'whd_two', attempt: 1, message: { id: message.id } })
      await settle(store, again!, 'delivered')
      expect(await counts()).toEqual([0, 1, 0])
      expect(await ofMessage(message.id)).toMatchObject([
        { id: 'whd_two', status: 'delivered', createdAt: START + 7 },
        { id: deliveryId, status: 'failed', createdAt: START },
      ])
    },
  )
}

async function routed(store: Store, records: Records): Promise<InboundRoute> {
  await found(store, records)
  return add(store, records)
}

async function add(store: Store, records: Records): Promise<InboundRoute> {
  const route = records.inboundRoute()
  await store.inboundRoutes.create(route, 'secret')
  return route
}

async function take(store: Store, records: Records, route: InboundRoute) {
  const mail = records.acceptedInbound([route])
  await store.inbound.accept(mail)
  const { message, deliveryId } = mail.taken[0]!
  return { message, deliveryId: deliveryId! }
}

function claim(store: Store, change: ClaimChange = {}): Promise<ClaimedInboundDelivery[]> {
  return claimDue(store.inboundDeliveries, { now: START, limit: 100, worker: WORKER, freeFor: () => 100, ...change })
}

function settle(
  store: Store,
  claimed: ClaimedInboundDelivery,
  status: InboundDeliveryStatus,
  change: Partial<Parameters<Store['inboundDeliveries']['record']>[0]> = {},
) {
  return store.inboundDeliveries.record({
    deliveryId: claimed.id,
    worker: claimed.worker,
    attempt: postAttempt({ number: claimed.attempt }),
    status,
    nextAttemptAt: null,
    now: START,
    ...change,
  })
}
