import { expect } from 'bun:test'
import { destinationOf } from '../../src/model/delivery.ts'
import type { NewDelivery } from '../../src/storage/store.ts'
import { ANY, lookOf, NONE } from '../support/claim.ts'
import type { Holds } from './contract.ts'
import { accept, BOUNCED, claim, contentOf, DEFERRED, found, recordOf, START, WORKER, YEARS_LATER } from './records.ts'

export function claimPromises(holds: Holds): void {
  holds(
    'expired deliveries are claimed whatever has capacity, once, and nothing else with them',
    async (store, records) => {
      await found(store, records)
      const request = { now: START + 100, limit: 100, worker: WORKER }
      const late = { deliveries: [{ email: 'late@dest.example', nextAttemptAt: START }], expiresAt: START + 100 }
      await accept(store, records.accepted({ ...late, deliveries: [{ email: 'leased@dest.example' }] }))
      await claim(store, { now: START + 50 })
      await accept(store, records.accepted(late))
      await accept(store, records.accepted({ ...late, expiresAt: START + 101 }))
      await accept(store, records.accepted({ ...late, expiresAt: null }))
      const claimed = await store.deliveries.claimExpired(request)
      expect(claimed).toMatchObject([{ worker: WORKER, delivery: { email: 'late@dest.example', attempts: 1 } }])
      expect(await store.deliveries.claimExpired(request)).toEqual([])
      await store.deliveries.record(recordOf(claimed[0]!, BOUNCED))
      expect(await claim(store, { now: START + 200 })).toHaveLength(2)
    },
  )

  holds('a claim contains everything an attempt requires, with the attempt counted', async (store, records) => {
    await found(store, records)
    const accepted = await accept(store, records.accepted({ deliveries: [{ email: 'bob@dest.example' }] }))
    const [claimed] = await claim(store, { now: START + 5 })
    expect(claimed).toMatchObject({
      message: accepted.message,
      domainName: 'a.example',
      ownership: { status: 'pending', provedBy: null },
      returnPathHost: 'bounce.example',
      signingKeys: [{ selector: 'one', algorithm: 'rsa-sha256', privateKeyPem: 'private' }],
      worker: WORKER,
      delivery: {
        email: 'bob@dest.example',
        attempts: 1,
        lastAttemptAt: START + 5,
        nextAttemptAt: null,
        status: 'queued',
      },
    })
    expect([...(await contentOf(store, claimed!))]).toEqual([...accepted.content])
    expect((await store.messages.deliveries(accepted.message.id))[0]).toEqual(claimed!.delivery)
  })

  holds(
    'a claim leaves out contents that are too large for it; they can be read separately',
    async (store, records) => {
      await found(store, records)
      const { message, content } = await accept(store, records.accepted())
      const [claimed] = await claim(store, { contentBytes: message.sizeBytes - 1 })
      expect(claimed!.message).toEqual(message)
      expect(claimed!.content).toBeNull()
      expect([...(await store.deliveries.content(message.id))!]).toEqual([...content])
      expect(await store.deliveries.content('msg_none')).toBeNull()
    },
  )

  // threat: clock-changes
  holds('waits that began in the future end, all others and scheduled dates stay', async (store, records) => {
    await found(store, records)
    const HOUR = 3_600_000
    const at = (deliveries: Partial<NewDelivery>, createdAt = START) =>
      accept(store, records.accepted({ deliveries: [deliveries], createdAt }))
    const deferred = { status: 'deferred', attempts: 1 } as const
    const [tried, fresh] = await Promise.all([
      at({ ...deferred, lastAttemptAt: START + HOUR, nextAttemptAt: START + 2 * HOUR }),
      at({ nextAttemptAt: START + HOUR }, START + HOUR),
      at({ ...deferred, lastAttemptAt: START, nextAttemptAt: START + 2 * HOUR }),
      at({ status: 'scheduled', nextAttemptAt: START + 2 * HOUR }, START + HOUR),
    ])
    while (await store.deliveries.endFutureWaits(START + 1));
    const due = (await claim(store, { now: START + 1 })).map(({ message }) => message.id)
    expect(due.sort()).toEqual([tried.message.id, fresh.message.id].sort())
    while (await store.deliveries.endFutureWaits(START + 2));
    expect(await claim(store, { now: START + 2 * HOUR - 1 })).toEqual([])
    expect(await claim(store, { now: START + 2 * HOUR })).toHaveLength(2)
  })

  // threat: clock-changes
  holds('waits from the future end behind any number of others', async (store, records) => {
    await found(store, records)
    const HOUR = 3_600_000
    const later = Array.from({ length: 5_000 }, (_, n) => ({
      email: `${n}@${n % 3}.example`,
      status: 'scheduled' as const,
      nextAttemptAt: START + HOUR,
    }))
    for (let from = 0; from < later.length; from += 500) {
      await accept(store, records.accepted({ deliveries: later.slice(from, from + 500) }))
    }
    const wrong = { email: 'x@z.example', status: 'deferred', attempts: 1 } as const
    await accept(
      store,
      records.accepted({ deliveries: [{ ...wrong, lastAttemptAt: START + 9, nextAttemptAt: START + 10 }] }),
    )
    let calls = 1
    while (await store.deliveries.endFutureWaits(START)) calls++
    expect(calls).toBeGreaterThan(2)
    expect((await claim(store)).map(({ delivery }) => delivery.email)).toEqual(['x@z.example'])
  })

  holds('waiting deliveries are counted by queue, whatever their number', async (store, records) => {
    await found(store, records)
    expect((await store.queues.waiting(START)).deliveries).toEqual({ due: 0, later: 0, oldestDueAt: null })
    for (let message = 0; message < 101; message++) {
      const deliveries = Array.from({ length: 100 }, (_, at) => ({
        email: `${at}@${message % 7}.example`,
        nextAttemptAt: START + (message === 50 && at === 50 ? 5 : message === 60 ? 30 : 10),
      }))
      await accept(store, records.accepted({ deliveries }))
    }
    expect((await store.queues.waiting(START + 4)).deliveries).toEqual({ due: 0, later: 10_100, oldestDueAt: null })
    expect((await store.queues.waiting(START + 20)).deliveries).toEqual({
      due: 10_000,
      later: 100,
      oldestDueAt: START + 5,
    })
    await claim(store, { now: START + 20, limit: 40 })
    expect((await store.queues.waiting(START + 20)).deliveries).toMatchObject({ due: 9_960, later: 140 })
  })

  holds(
    'leases of a worker end however many claims it made since, and only those that it still holds',
    async (store, records) => {
      await found(store, records)
      const deliveries = Array.from({ length: 45 }, (_, at) => ({ email: `${at}@dest.example` }))
      await accept(store, records.accepted({ deliveries }))
      const [first] = await claim(store, { limit: 1 })
      for (let count = 0; count < 40; count++) {
        const [claimed] = await claim(store, { limit: 1 })
        await store.deliveries.record(recordOf(claimed!))
      }
      const [released] = await claim(store, { limit: 1 })
      const { id, attempts: attempt } = released!.delivery
      await store.deliveries.release([{ id, attempt, worker: WORKER }], START + 1e6)
      await claim(store, { limit: 1 })
      expect(await store.deliveries.endLeases(WORKER, new Set([first!.delivery.id]), START)).toBe(1)
      expect(await store.deliveries.endLeases(WORKER, new Set(), START)).toBe(1)
      expect(await store.deliveries.endLeases(WORKER, new Set(), START)).toBe(0)
    },
  )

  holds('nothing is claimed before it is due, and nothing twice while it is held', async (store, records) => {
    await found(store, records)
    await accept(store, records.accepted({ deliveries: [{ nextAttemptAt: START + 10 }] }))
    expect(await store.deliveries.nextDueAt(ANY)).toBe(START + 10)
    expect(await claim(store, { now: START + 9 })).toEqual([])
    expect(await claim(store, { now: START + 10 })).toHaveLength(1)
    expect(await claim(store, { now: START + 11 })).toEqual([])
    expect(await store.deliveries.nextDueAt(ANY)).toBeNull()
    expect(await claim(store, { now: YEARS_LATER })).toEqual([])
    await store.deliveries.endLeases(WORKER, new Set(), START + 20)
    expect(await store.deliveries.nextDueAt(ANY)).toBe(START + 20)
    const [again] = await claim(store, { now: START + 20, worker: 'w2' })
    expect(again).toMatchObject({ delivery: { attempts: 2 }, worker: 'w2' })
  })

  holds('a claim stays within its limit and the capacity of each destination', async (store, records) => {
    await found(store, records)
    for (const domain of ['a', 'b', 'c']) {
      const deliveries = [1, 2, 3, 4].map((n) => ({ email: `${n}@${domain}.example` }))
      await accept(store, records.accepted({ deliveries }))
    }
    const free: Record<string, number> = { 'a.example': 1, 'b.example': 0, 'c.example': 3 }
    const freeFor = (queue: string) => free[destinationOf(queue)]!
    const first = await claim(store, { freeFor })
    expect(first.map(({ delivery }) => destinationOf(delivery.queue)).sort()).toEqual([
      'a.example',
      'c.example',
      'c.example',
      'c.example',
    ])
    expect(await claim(store, { limit: 2 })).toHaveLength(2)
    expect(await claim(store, { limit: 0 })).toEqual([])
    expect(await claim(store, { freeFor: () => 0 })).toEqual([])
    expect(await store.deliveries.nextDueAt(NONE)).toBeNull()
    expect(await claim(store)).toHaveLength(6)
  })

  holds('the destination that has waited longest goes first, and each one in due order', async (store, records) => {
    await found(store, records)
    const due = (email: string, late: number) => ({ email, nextAttemptAt: START - late })
    await accept(
      store,
      records.accepted({
        deliveries: [
          due('1@new.example', 1),
          due('2@old.example', 50),
          due('3@old.example', 90),
          due('4@mid.example', 60),
        ],
      }),
    )
    const order: string[] = []
    for (let i = 0; i < 4; i++) order.push((await claim(store, { limit: 1 }))[0]!.delivery.email)
    expect(order).toEqual(['3@old.example', '4@mid.example', '2@old.example', '1@new.example'])
  })

  // threat: shared-destination-backlog
  holds('organizations that send to one destination take turns there', async (store, records) => {
    await found(store, records)
    await store.organizations.create(records.organization({ id: 'org_b' }))
    const backlog = Array.from({ length: 50 }, (_, n) => ({ email: `${n}@a.example`, nextAttemptAt: START - 1000 }))
    const two = ['x@a.example', 'y@a.example'].map((email) => ({ email, nextAttemptAt: START - 1 }))
    await accept(store, records.accepted({ deliveries: backlog }))
    await accept(store, records.accepted({ organizationId: 'org_b', deliveries: two }))
    const order: string[] = []
    for (let n = 0; n < 5; n++) {
      await store.deliveries.freed(['site'])
      const look = () => ({ quotas: [{ name: 'site', most: 1 }] })
      const plan = await store.deliveries.planClaims({ now: START, limit: 100, look })
      const claimed = await store.deliveries.claimDue({ now: START, limit: 100, worker: WORKER, plan })
      order.push(claimed.map(({ delivery }) => delivery.email).join())
    }
    expect(order).toEqual(['0@a.example', 'x@a.example', '1@a.example', 'y@a.example', '2@a.example'])
  })

  holds('a destination without capacity hides nothing of the others', async (store, records) => {
    await found(store, records)
    const backlog = Array.from({ length: 300 }, (_, n) => ({ email: `${n}@full.example`, nextAttemptAt: START - 1000 }))
    await accept(
      store,
      records.accepted({ deliveries: backlog }),
      records.accepted({ deliveries: [{ email: 'x@free.example' }] }),
    )
    const freeFor = (queue: string) => (destinationOf(queue) === 'full.example' ? 0 : 5)
    expect(await store.deliveries.nextDueAt(lookOf(freeFor))).toBe(START)
    expect((await claim(store, { freeFor })).map(({ delivery }) => delivery.email)).toEqual(['x@free.example'])
    expect(await store.deliveries.nextDueAt(lookOf(freeFor))).toBeNull()
    expect(await store.deliveries.nextDueAt(ANY)).toBe(START - 1000)
    expect(await claim(store, { limit: 1000, freeFor: () => 1000 })).toHaveLength(300)
  })

  holds('an empty store has nothing due', async (store) => {
    expect(await store.deliveries.nextDueAt(ANY)).toBeNull()
    expect(await claim(store)).toEqual([])
  })

  holds('concurrent claims share the work', async (store, records) => {
    await found(store, records)
    await accept(store, records.accepted({ deliveries: Array.from({ length: 10 }, () => ({})) }))
    const plan = await store.deliveries.planClaims({ now: START, limit: 9, look: ANY })
    const request = { now: START, limit: 4, worker: WORKER, plan }
    const claims = await Promise.all([1, 2, 3].map(() => store.deliveries.claimDue(request)))
    expect(claims.map((each) => each.length)).toEqual([4, 4, 2])
    expect(new Set(claims.flat().map(({ delivery }) => delivery.id)).size).toBe(10)
  })

  holds('a returned delivery counts as never tried', async (store, records) => {
    await found(store, records)
    const { message } = await accept(store, records.accepted())
    const [claimed] = await claim(store)
    const { id } = claimed!.delivery
    await store.deliveries.release([{ id, attempt: 1, worker: 'w1' }], START + 7)
    const [released] = await store.messages.deliveries(message.id)
    expect(released).toMatchObject({ attempts: 0, lastAttemptAt: null, nextAttemptAt: START + 7 })
    expect(await store.deliveries.nextDueAt(ANY)).toBe(START + 7)
    const [again] = await claim(store, { now: START + 7 })
    expect(again!.delivery.attempts).toBe(1)
    await store.deliveries.record(recordOf(again!, DEFERRED))
    const [third] = await claim(store, { now: START + 60_000 })
    await store.deliveries.release([{ id, attempt: 2, worker: 'w1' }], START + 60_001)
    expect((await store.messages.deliveries(message.id))[0]).toMatchObject({ attempts: 1, lastAttemptAt: START })
    expect(await store.deliveries.record(recordOf(third!))).toBe('lease_lost')
  })

  holds('only the holder returns a delivery, and only once', async (store, records) => {
    await found(store, records)
    const { message } = await accept(store, records.accepted())
    const [claimed] = await claim(store)
    const held = { id: claimed!.delivery.id, attempt: 1, worker: 'w1' }
    await store.deliveries.release(
      [
        { ...held, worker: 'w2' },
        { ...held, attempt: 2 },
        { ...held, id: 'dlv_none' },
      ],
      START,
    )
    expect(await claim(store)).toEqual([])
    await store.deliveries.release([held, held], START)
    expect((await store.messages.deliveries(message.id))[0]!.attempts).toBe(0)
    await store.deliveries.release([], START)
    expect(await claim(store)).toHaveLength(1)
  })

  holds(
    'leases of workers that ended can be ended, their attempts stay counted',
    async (store, records, { reopen }) => {
      await found(store, records)
      await accept(store, records.accepted({ deliveries: [{}, {}, {}] }))
      await claim(store, { limit: 2 })
      await claim(store, { limit: 1, worker: 'w2' })
      const again = await reopen()
      expect(await again.workers.ended('w2')).toEqual([WORKER])
      expect(await again.workers.ended(WORKER)).toEqual(['w2'])
      expect((await again.workers.ended('w3')).sort()).toEqual([WORKER, 'w2'])
      expect(await again.deliveries.endLeases(WORKER, new Set(), START + 3)).toBe(2)
      expect(await again.deliveries.endLeases(WORKER, new Set(), START + 3)).toBe(0)
      expect(await again.workers.ended('w2')).toEqual([])
      const claims = await claim(again, { now: START + 3 })
      expect(claims.map(({ delivery }) => delivery.attempts)).toEqual([2, 2])
    },
  )

  holds('a delivery whose process died three times waits, one that was deferred does not', async (store, records) => {
    await found(store, records)
    const deferrals = { attempts: 5, status: 'deferred' as const }
    const mail = await accept(store, records.accepted({ deliveries: [{ email: 'kills@dest.example' }] }))
    const patient = records.accepted({ deliveries: [{ ...deferrals, email: 'patient@dest.example' }] })
    const { attempt } = recordOf({ ...(await claim(store))[0]! }, DEFERRED)
    await store.deliveries.endLeases(WORKER, new Set(), START)
    patient.attempts = [1, 2, 3, 4, 5].map((number) => ({
      deliveryId: patient.deliveries[0]!.id,
      attempt: { ...attempt, number },
    }))
    await accept(store, patient)
    for (let death = 2; death <= 3; death++) {
      expect(await claim(store, { worker: 'dies' })).toHaveLength(2)
      await store.deliveries.endLeases('dies', new Set(), START)
    }
    const waiting = (await store.messages.deliveries(mail.message.id))[0]!
    expect(waiting.nextAttemptAt).toBe(START + 5_000)
    expect((await claim(store)).map(({ delivery }) => delivery.email)).toEqual(['patient@dest.example'])
    const [later] = await claim(store, { now: waiting.nextAttemptAt! })
    expect(later!.delivery).toMatchObject({ email: 'kills@dest.example', attempts: 4 })
  })
}
