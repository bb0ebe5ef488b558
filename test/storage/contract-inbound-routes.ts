import { expect } from 'bun:test'
import type { GivenAction, InboundRoute } from '../../src/model/inbound-route.ts'
import { ANY, claimDue } from '../support/claim.ts'
import type { Holds } from './contract.ts'
import { ALL_INBOUND, DOMAIN, found, idsByPage, ORGANIZATION, START, WORKER, YEARS_LATER } from './records.ts'

const FORWARD: InboundRoute['action'] = { type: 'forward', config: { to: ['ann@out.example', 'bob@out.example'] } }

export function inboundRoutePromises(holds: Holds): void {
  holds('a route reads as it was written, whatever it matches and does', async (store, records) => {
    await found(store, records)
    const routes = [
      records.inboundRoute({ authentication: 'require_pass', priority: -3 }),
      records.inboundRoute({ match: { type: 'pattern', value: '*-in@a.example' }, action: FORWARD, enabled: false }),
      records.inboundRoute({ match: { type: 'domain', value: 'a.example' }, action: { type: 'store', config: {} } }),
      records.inboundRoute({ match: { type: 'catch_all', value: null }, authentication: 'dmarc' }),
    ]
    for (const route of routes) await store.inboundRoutes.create(route, 'secret')
    for (const route of routes) expect(await store.inboundRoutes.get(route.id)).toEqual(route)
    expect(await store.inboundRoutes.get('rte_none')).toBeNull()
    const ids = routes.map(({ id }) => id).reverse()
    expect(await idsByPage((page) => store.inboundRoutes.list(ORGANIZATION, page))).toEqual(ids)
    expect((await store.inboundRoutes.list('org_b', { limit: 9, after: null })).records).toEqual([])
  })

  holds('a route and the answer with its secret are stored together', async (store, records) => {
    await found(store, records)
    const remember = records.remember()
    await store.inboundRoutes.create(records.inboundRoute(), 'secret', remember)
    expect((await store.idempotency.find(ORGANIZATION, remember.keyHash, 0))!.status).toBe(202)
  })

  holds('a change affects only the given fields', async (store, records) => {
    await found(store, records)
    const route = records.inboundRoute()
    await store.inboundRoutes.create(route, 'secret')
    const change = { name: 'new', action: FORWARD, enabled: false }
    expect(await store.inboundRoutes.update(route.id, change)).toEqual({ ...route, ...change })
    const rest = {
      match: { type: 'catch_all', value: null },
      authentication: 'dmarc',
      priority: 9,
      enabled: true,
    } as const
    expect(await store.inboundRoutes.update(route.id, rest)).toEqual({ ...route, ...change, ...rest })
    expect(await store.inboundRoutes.get(route.id)).toEqual({ ...route, ...change, ...rest })
    expect(await store.inboundRoutes.update('rte_none', change)).toBeNull()
  })

  // threat: endpoint-headers-moved
  holds(
    'a claim has the headers of a route, until its action or the origin of its URL changes',
    async (store, records) => {
      await found(store, records)
      const route = records.inboundRoute()
      const headers = [['X-Api-Key', 'key of the gateway']] as const
      const webhook = (url: string, given?: typeof headers) => ({
        type: 'webhook' as const,
        config: { url, includeAttachments: false, ...(given && { headers: given }) },
      })
      const FIRST = 'https://hooks.example/mail'
      await store.inboundRoutes.create({ ...route, action: webhook(FIRST, headers) }, 'secret')
      const names = { url: FIRST, includeAttachments: false, headerNames: ['X-Api-Key'] }
      expect((await store.inboundRoutes.get(route.id))!.action).toEqual({ type: 'webhook', config: names })
      expect(JSON.stringify(store.snapshot.enabledRoutes(ORGANIZATION))).not.toContain('gateway')
      const sent = async (action?: GivenAction) => {
        if (action !== undefined) await store.inboundRoutes.update(route.id, { action })
        await store.inbound.accept(records.acceptedInbound([(await store.inboundRoutes.get(route.id))!]))
        const request = { now: YEARS_LATER, limit: 9, worker: WORKER, freeFor: () => 9 }
        return (await claimDue(store.inboundDeliveries, request))[0]!.route.headers
      }
      expect(await sent()).toEqual(headers)
      await store.inboundRoutes.update(route.id, { priority: 7 })
      expect(await sent(webhook('https://hooks.example/other'))).toEqual(headers)
      expect(await sent(webhook('https://elsewhere.example/'))).toEqual([])
      expect(await sent(webhook(FIRST))).toEqual([])
      expect(await sent(webhook(FIRST, headers))).toEqual(headers)
      await store.inboundRoutes.update(route.id, { action: FORWARD })
      expect(await sent(webhook(FIRST))).toEqual([])
    },
  )

  holds('the enabled routes of an organization follow every change', async (store, records) => {
    await found(store, records)
    const other = records.organization()
    await store.organizations.create(other)
    const [route, off] = [records.inboundRoute(), records.inboundRoute({ enabled: false })]
    const enabled = () => store.snapshot.enabledRoutes(ORGANIZATION).map(({ id }) => id)
    expect(enabled()).toEqual([])
    await store.inboundRoutes.create(route, 'secret')
    await store.inboundRoutes.create(off, 'secret')
    await store.inboundRoutes.create(records.inboundRoute({ organizationId: other.id }), 'secret')
    expect(store.snapshot.enabledRoutes(ORGANIZATION)).toEqual([route])
    await store.inboundRoutes.update(off.id, { enabled: true })
    expect(enabled().sort()).toEqual([route.id, off.id].sort())
    await store.inboundRoutes.update(route.id, { enabled: false })
    expect(enabled()).toEqual([off.id])
    await store.inboundRoutes.remove(off.id)
    expect(enabled()).toEqual([])
  })

  holds('what is on hold of a removed route fails, and that of others stays', async (store, records) => {
    await found(store, records)
    const [route, other] = [records.inboundRoute(), records.inboundRoute()]
    for (const each of [route, other]) await store.inboundRoutes.create(each, 'secret')
    const mail = records.acceptedInbound([route, other])
    await store.inbound.accept(mail)
    await store.held.hold()
    await store.inboundRoutes.remove(route.id)
    const statuses = await Promise.all(
      mail.taken.map(async ({ message: { id } }) => (await store.inboundDeliveries.ofMessage(id))[0]?.status),
    )
    expect(statuses).toEqual(['failed', 'pending'])
    expect((await store.inbound.list({ ...ALL_INBOUND, status: 'failed' }, { limit: 9, after: null })).records).toEqual(
      [mail.taken[0]!.message],
    )
    expect((await store.held.count()).inboundDeliveries).toBe(1)
    expect(await store.held.release('inboundDeliveries', { dueAfter: null, now: START })).toBe(1)
    expect((await store.queues.waiting(YEARS_LATER)).inboundDeliveries).toMatchObject({ due: 1, later: 0 })
  })

  holds('a change that was rolled back adds no enabled route', async (store, records) => {
    await found(store, records)
    const route = records.inboundRoute()
    const outcomes = await Promise.allSettled([
      store.inboundRoutes.create(route, 'secret'),
      store.inboundRoutes.create(route, 'secret'),
    ])
    expect(outcomes.map(({ status }) => status)).toEqual(['fulfilled', 'rejected'])
    expect(store.snapshot.enabledRoutes(ORGANIZATION)).toEqual([route])
  })

  holds('a domain is found by its name and by its return path host, until it is removed', async (store, records) => {
    await found(store, records)
    const { domainByName, domainByReturnPathHost } = store.snapshot
    expect(domainByName('b.example')).toBeNull()
    expect(domainByReturnPathHost('back.b.example')).toBeNull()
    const domain = records.domain({ name: 'b.example', returnPathHost: 'back.b.example' })
    await store.domains.create(domain, -1)
    expect(domainByName('b.example')).toEqual(domain)
    expect(domainByReturnPathHost('back.b.example')).toEqual(domain)
    expect(domainByReturnPathHost('b.example')).toBeNull()
    expect(domainByName('a.example')!.id).toBe(DOMAIN)
    const check = { status: 'verified' as const, verifiedAt: START, checkedAt: START, findings: [] }
    await store.domains.recordCheck(domain.id, check)
    expect(domainByName('b.example')!.status).toBe('verified')
    expect(domainByReturnPathHost('back.b.example')!.status).toBe('verified')
    await store.domains.remove(domain.id, START)
    expect(domainByName('b.example')).toBeNull()
    expect(domainByReturnPathHost('back.b.example')).toBeNull()
  })

  holds('a removed route fails its deliveries and keeps its mail', async (store, records) => {
    await found(store, records)
    const [route, stays] = [records.inboundRoute(), records.inboundRoute()]
    for (const each of [route, stays]) await store.inboundRoutes.create(each, 'secret')
    const mails = [0, 1, 2].map(() => records.acceptedInbound([route]))
    for (const mail of [...mails, records.acceptedInbound([stays])]) await store.inbound.accept(mail)
    const request = { now: START, limit: 2, worker: WORKER, freeFor: (id: string) => (id === route.id ? 9 : 0) }
    const [done, held] = await claimDue(store.inboundDeliveries, request)
    const attempt = { number: 1, at: START, durationMs: 1, statusCode: 200, error: null, responseExcerpt: null }
    const record = { worker: WORKER, attempt, status: 'delivered' as const, nextAttemptAt: null, now: START }
    await store.inboundDeliveries.record({ ...record, deliveryId: done!.id })
    await store.inboundRoutes.remove(route.id)

    expect(await store.inboundRoutes.get(route.id)).toBeNull()
    const statuses = mails.map(async ({ taken: [one] }) =>
      (await store.inboundDeliveries.ofMessage(one!.message.id)).map(({ status, nextAttemptAt }) => [
        status,
        nextAttemptAt,
      ]),
    )
    const delivered = mails.findIndex(({ taken: [one] }) => one!.deliveryId === done!.id)
    const expected = mails.map((_, at) => [[at === delivered ? 'delivered' : 'failed', null]])
    expect(await Promise.all(statuses)).toEqual(expected as never)
    const only = async (status: 'failed' | 'delivered' | 'pending') =>
      (await store.inbound.list({ ...ALL_INBOUND, status }, { limit: 9, after: null })).records.length
    expect([await only('failed'), await only('delivered'), await only('pending')]).toEqual([2, 1, 1])
    expect((await store.inbound.get(held!.message.id))!.routeId).toBe(route.id)
    expect(await store.inboundDeliveries.record({ ...record, deliveryId: held!.id })).toBe('lease_lost')
    const rest = await claimDue(store.inboundDeliveries, {
      ...request,
      now: YEARS_LATER,
      worker: 'w2',
      limit: 9,
      freeFor: () => 9,
    })
    expect(rest.map((claimed) => claimed.route.id)).toEqual([stays.id])
    await store.inboundRoutes.remove(route.id)
  })

  holds('a route with a long backlog is removed whole, with other writes in between', async (store, records) => {
    await found(store, records)
    const route = records.inboundRoute()
    await store.inboundRoutes.create(route, 'secret')
    await Promise.all(Array.from({ length: 1001 }, () => store.inbound.accept(records.acceptedInbound([route]))))
    const late = records.acceptedInbound([route])
    let isRemoved = false
    const removing = store.inboundRoutes.remove(route.id).then(() => {
      isRemoved = true
    })
    await store.inbound.accept(late)
    let between = 0
    while (!isRemoved) {
      const request = { now: START, limit: 1, worker: WORKER, freeFor: () => 1 }
      await store.checkWritable()
      expect(await claimDue(store.inboundDeliveries, request)).toEqual([])
      between++
    }
    await removing
    expect(between).toBeGreaterThan(0)
    expect(await store.inboundRoutes.get(route.id)).toBeNull()
    const pending = await store.inbound.list({ ...ALL_INBOUND, status: 'pending' }, { limit: 9, after: null })
    expect(pending.records).toEqual([])
    expect(await store.inboundDeliveries.ofMessage(late.taken[0]!.message.id)).toMatchObject([{ status: 'failed' }])
  })

  holds('mail for a route that was removed meanwhile is kept, and nothing waits for it', async (store, records) => {
    await found(store, records)
    const route = records.inboundRoute()
    await store.inboundRoutes.create(route, 'secret')
    await store.inboundRoutes.remove(route.id)
    const mail = records.acceptedInbound([route])
    await store.inbound.accept(mail)
    const { message, deliveryId } = mail.taken[0]!
    expect(await store.inbound.get(message.id)).toEqual(message)
    expect(await store.inboundDeliveries.ofMessage(message.id)).toMatchObject([{ id: deliveryId!, status: 'failed' }])
    expect(await store.inboundDeliveries.redeliver(message.id, 'whd_again', START)).toBe('queued')
    expect(await store.inboundDeliveries.nextDueAt(ANY)).toBeNull()
  })
}
