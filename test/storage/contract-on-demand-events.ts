import { expect } from 'bun:test'
import { type EventType, ON_DEMAND_EVENT_TYPES } from '../../src/model/event.ts'
import type { Webhook } from '../../src/model/webhook.ts'
import type { Store } from '../../src/storage/store.ts'
import { claimDue } from '../support/claim.ts'
import type { Holds } from './contract.ts'
import {
  ALL_EVENTS,
  accept,
  BOUNCED,
  claim,
  DOMAIN,
  found,
  idsByPage,
  lateBounce,
  ORGANIZATION,
  postAttempt,
  type Records,
  recordOf,
  START,
} from './records.ts'

const LATER = START + 60_000

export function onDemandEventPromises(holds: Holds): void {
  holds('without a webhook that would receive it, no on-demand event is written', async (store, records) => {
    await found(store, records)
    const named = { events: [...ON_DEMAND_EVENT_TYPES] as EventType[] }
    await create(store, records.webhook({ events: ['message.delivered'] }))
    await create(store, records.webhook({ ...named, status: 'paused' }))
    await create(store, records.webhook({ ...named, mode: 'test' }))
    await create(store, records.webhook({ ...named, domainId: 'dom_other' }))
    await store.organizations.create(records.organization({ id: 'org_b' }))
    await create(store, records.webhook({ ...named, organizationId: 'org_b' }))
    await everyCause(store, records, DOMAIN)
    expect(await written(store)).toEqual([])
    expect(await written(store, 'org_b')).toEqual([])
  })

  holds('every cause writes its events once, for the webhooks that name them', async (store, records, context) => {
    await found(store, records)
    const hook = records.webhook({ events: [...ON_DEMAND_EVENT_TYPES] })
    const other = records.webhook({ events: ['message.delivered', 'message.suppressed'] })
    await create(store, hook)
    await create(store, other)
    await everyCause(store, records, null)
    const types = (await written(store)).map(({ type }) => type)
    const expected: EventType[] = [
      ...repeated(4, 'message.accepted'),
      ...repeated(2, 'message.cancelled'),
      'message.expired',
      'inbound.received',
      'domain.verified',
      'domain.failed',
      'webhook.paused',
      ...repeated(4, 'suppression.added'),
      'suppression.removed',
    ]
    expect(types.toSorted()).toEqual(expected.toSorted())
    expect(await deliveredTo(store, hook)).toEqual(types.toSorted())
    expect(await deliveredTo(store, other)).toEqual([])
    const again = await context.reopen()
    expect((await written(again)).map(({ type }) => type)).toEqual(types)
  })

  holds('an accepted message has an event for each recipient, before those of its outcome', async (store, records) => {
    await found(store, records)
    await create(store, records.webhook({ events: ['message.accepted'] }))
    const accepted = records.accepted({
      scheduledAt: LATER,
      tags: ['news'],
      deliveries: [{ email: 'ann@dest.example' }, { email: 'bob@dest.example', status: 'suppressed' }],
    })
    const event = records.event({ type: 'message.suppressed', body: '{"data":{}}' })
    await accept(store, { ...accepted, events: [event] })
    const { message } = accepted
    const events = await written(store)
    expect(events.map(({ type, data }) => [type, data.to])).toEqual([
      ['message.accepted', 'ann@dest.example'],
      ['message.accepted', 'bob@dest.example'],
      ['message.suppressed', undefined],
    ])
    expect(events[0]!.data).toEqual({
      message_id: message.id,
      from: message.from,
      to: 'ann@dest.example',
      subject: message.subject,
      metadata: message.metadata,
      tags: ['news'],
      mode: 'live',
      accepted_at: new Date(message.createdAt).toISOString(),
      scheduled_at: new Date(LATER).toISOString(),
    })
    const { records: listed } = await store.events.list(
      { ...ALL_EVENTS, messageId: message.id },
      { limit: 9, after: null },
    )
    expect(listed).toHaveLength(2)
  })

  holds('a message that is refused has no event', async (store, records) => {
    await found(store, records)
    await create(store, records.webhook({ events: ['message.accepted'] }))
    const volume = { organizationId: ORGANIZATION, month: '2026-11', count: 2, limit: 1 }
    expect((await store.messages.accept([records.accepted()], volume)).kind).toBe('volume_exceeded')
    expect(await written(store)).toEqual([])
  })

  holds(
    'the events of acceptances count as stored bytes, until their messages are removed',
    async (store, records) => {
      await found(store, records)
      const bytes = async () => (await store.usage.of(ORGANIZATION, START)).storedBytes
      await accept(store, records.accepted())
      const before = await bytes()
      await create(store, records.webhook({ events: ['message.accepted'] }))
      await accept(store, records.accepted())
      expect(await bytes()).toBeGreaterThan(2 * before)
    },
    { storedBytes: 1_000_000 },
  )

  holds('a cancelled recipient has one event, and one that was cancelled before has none', async (store, records) => {
    await found(store, records)
    await create(store, records.webhook({ events: ['message.cancelled'] }))
    const { message } = await accept(store, records.accepted({ deliveries: [{}, { status: 'suppressed' }] }))
    expect(await store.messages.cancel(message.id, LATER)).toBe('cancelled')
    expect(await store.messages.cancel(message.id, LATER)).toBe('invalid_state')
    const [event, ...others] = await written(store)
    expect(others).toEqual([])
    expect(event!.data).toMatchObject({ message_id: message.id, cancelled_at: new Date(LATER).toISOString() })
  })

  holds('mail that is discarded after a restore is reported as cancelled', async (store, records) => {
    await found(store, records)
    await create(store, records.webhook({ events: ['message.cancelled'] }))
    const { message } = await accept(store, records.accepted({ deliveries: [{}, {}] }))
    await store.held.hold()
    expect(await store.held.discard('deliveries', LATER)).toBe(2)
    expect(await store.held.discard('deliveries', LATER)).toBe(0)
    const events = await written(store)
    expect(events.map(({ type, data }) => [type, data.message_id])).toEqual(
      Array.from({ length: 2 }, () => ['message.cancelled', message.id]),
    )
  })

  holds('every suppression that is new has an event, and one that exists has none', async (store, records) => {
    await found(store, records)
    await create(store, records.webhook({ events: ['suppression.added'] }))
    const of = (email: string) =>
      records.suppression({ email, stream: 'bulk', messageId: 'msg_1', reason: 'complaint' })
    const deliveries = [{ email: 'a@dest.example' }, { email: 'b@dest.example' }, { email: 'c@dest.example' }]
    await accept(store, { ...records.accepted({ deliveries }), suppressions: [of('test@dest.example')] })
    const [one, two, three] = await claim(store)
    const [first, again] = [of('a@dest.example'), of('a@dest.example')]
    await store.deliveries.record(recordOf(one!, BOUNCED, { suppression: first }))
    await store.deliveries.record(recordOf(two!, BOUNCED, { suppression: again }))
    const late = of('c@dest.example')
    await store.deliveries.recordLate(
      lateBounce(three!.delivery.id, records.report(), three!.delivery.status, { suppression: late }),
    )
    const unsubscribed = of('d@dest.example')
    const request = { deliveryId: one!.delivery.id, kind: 'unsubscribed' as const, machine: false, now: LATER }
    const event = records.event({ type: 'message.unsubscribed' })
    await store.deliveries.recordEngagement({ ...request, event, suppression: unsubscribed })
    await store.suppressions.add(of('a@dest.example'))
    const events = (await written(store)).filter(({ type }) => type === 'suppression.added')
    expect(events.map(({ data }) => data.email)).toEqual([
      'test@dest.example',
      'a@dest.example',
      'c@dest.example',
      'd@dest.example',
    ])
    expect(events[1]!.data).toEqual({
      suppression_id: first.id,
      email: 'a@dest.example',
      reason: 'complaint',
      domain_id: first.domainId,
      stream: 'bulk',
      message_id: 'msg_1',
      mode: 'live',
      added_at: new Date(first.createdAt).toISOString(),
    })
  })

  holds(
    'an import reports what it adds, at its own time, and nothing beyond the limit',
    async (store, records) => {
      await found(store, records)
      await create(store, records.webhook({ events: ['suppression.added'] }))
      const of = (email: string) => records.suppression({ email, createdAt: START - 1_000_000_000 })
      await store.suppressions.add(of('a@x.example'))
      const list = ['a@x.example', 'b@x.example', 'b@x.example', 'c@x.example', 'd@x.example'].map(of)
      expect(await store.suppressions.addAll(list, LATER)).toMatchObject({ added: 2, limit: { name: 'suppressions' } })
      const events = (await written(store)).slice(1)
      expect(events.map(({ data, createdAt }) => [data.email, data.added_at, createdAt])).toEqual(
        ['b@x.example', 'c@x.example'].map((email) => [email, new Date(LATER).toISOString(), LATER]),
      )
    },
    { suppressions: 3 },
  )

  holds('a large import reaches every webhook in steps', async (store, records) => {
    await found(store, records)
    const hooks = [1, 2].map(() => records.webhook({ events: ['suppression.added'] }))
    for (const hook of hooks) await create(store, hook)
    const list = Array.from({ length: 400 }, (_, n) => records.suppression({ email: `${n}@x.example` }))
    expect(await store.suppressions.addAll(list, LATER)).toEqual({ added: 400, limit: null })
    while (await store.webhookDeliveries.fanOutSome());
    expect(await written(store)).toHaveLength(400)
    for (const hook of hooks) expect(await countDeliveries(store, hook)).toBe(400)
  })

  holds('the removal of a suppression is reported once', async (store, records) => {
    await found(store, records)
    await create(store, records.webhook({ events: ['suppression.removed'] }))
    const suppression = records.suppression()
    await store.suppressions.add(suppression)
    expect(await store.suppressions.remove([suppression.id, suppression.id], LATER)).toBe(1)
    expect(await store.suppressions.remove([suppression.id], LATER)).toBe(0)
    const events = await written(store)
    expect(events.map(({ data }) => [data.suppression_id, data.removed_at])).toEqual([
      [suppression.id, new Date(LATER).toISOString()],
    ])
  })

  holds('a domain is reported when its status changes, and to its own organization', async (store, records) => {
    await found(store, records)
    await store.organizations.create(records.organization({ id: 'org_b' }))
    const claimOf = records.domain({ name: 'a.example', organizationId: 'org_b' })
    await store.domains.create(claimOf, -1)
    const events: EventType[] = ['domain.verified', 'domain.failed']
    for (const organizationId of [ORGANIZATION, 'org_b']) {
      await create(store, records.webhook({ organizationId, events }))
    }
    const verified = { status: 'verified' as const, verifiedAt: START, checkedAt: START + 1, findings: [] }
    await store.domains.recordCheck(DOMAIN, verified)
    await store.domains.recordCheck(DOMAIN, { ...verified, checkedAt: START + 2 })
    const lost = { ...verified, status: 'failed' as const, reason: 'proof_lost' as const, checkedAt: START + 3 }
    await store.domains.recordCheck(DOMAIN, lost)
    await store.domains.recordCheck(DOMAIN, { ...lost, checkedAt: START + 4 })
    const at = (ms: number) => new Date(START + ms).toISOString()
    const general = { domain_id: DOMAIN, domain: 'a.example' }
    expect((await written(store)).map(({ data }) => data)).toEqual([
      { ...general, verified_at: at(1), proved_by: 'dkim' },
      { ...general, failed_at: at(3), reason: 'proof_lost' },
    ])
    expect((await written(store, 'org_b')).map(({ data }) => data)).toEqual([
      { domain_id: claimOf.id, domain: 'a.example', failed_at: at(1), reason: 'claimed' },
    ])
  })

  holds('a webhook that is paused is reported to others, once, and not to itself', async (store, records) => {
    await found(store, records)
    const paused = records.webhook({ url: 'https://one.example/services/token?key=1', events: ['webhook.paused'] })
    const other = records.webhook({ events: ['webhook.paused'] })
    const ofDomain = records.webhook({ events: ['webhook.paused'], domainId: DOMAIN })
    for (const each of [paused, other, ofDomain]) await create(store, each)
    const pause = { status: 'paused' as const, disabledReason: 'because' }
    await store.webhooks.update(paused.id, pause, LATER)
    await store.webhooks.update(paused.id, pause, LATER + 1)
    const [event, ...others] = await written(store)
    expect(others).toEqual([])
    expect(event!.data).toEqual({
      webhook_id: paused.id,
      url: 'https://one.example',
      reason: 'because',
      mode: 'live',
      paused_at: new Date(LATER).toISOString(),
    })
    await store.webhooks.update(paused.id, { status: 'active' }, LATER + 2)
    expect(await deliveredTo(store, paused)).toEqual([])
    expect(await deliveredTo(store, other)).toEqual(['webhook.paused'])
    // Keys of one domain do not see the webhooks of all.
    expect(await deliveredTo(store, ofDomain)).toEqual([])
    const ofReach = await store.events.list({ ...ALL_EVENTS, reach: DOMAIN }, { limit: 9, after: null })
    expect(ofReach.records).toEqual([])
    await store.webhooks.update(ofDomain.id, pause, LATER + 3)
    expect((await written(store)).map(({ data }) => data.webhook_id)).toEqual([paused.id, ofDomain.id])
  })

  holds('the last webhook that names it is paused without an event', async (store, records) => {
    await found(store, records)
    const only = records.webhook({ events: ['webhook.paused'] })
    await create(store, only)
    await store.webhooks.update(only.id, { status: 'paused' }, LATER)
    expect(await written(store)).toEqual([])
  })

  holds('a webhook that its endpoint ends is reported with that delivery', async (store, records) => {
    await found(store, records)
    const gone = records.webhook({ events: ['message.delivered', 'webhook.paused'] })
    const other = records.webhook({ events: ['webhook.paused'] })
    for (const each of [gone, other]) await create(store, each)
    await store.events.append([records.event()])
    const request = { now: START, limit: 9, worker: 'w', freeFor: () => 9 }
    const [claimed] = await claimDue(store.webhookDeliveries, request)
    const result = { deliveryId: claimed!.id, worker: 'w', status: 'failed' as const, nextAttemptAt: null, now: LATER }
    const record = { ...result, attempt: postAttempt(), pauseReason: 'The endpoint returned 410 Gone.' }
    expect(await store.webhookDeliveries.record(record)).toBe('recorded')
    expect(await store.webhookDeliveries.record(record)).toBe('lease_lost')
    const events = (await written(store)).slice(1)
    expect(events.map(({ data }) => [data.webhook_id, data.reason])).toEqual([
      [gone.id, 'The endpoint returned 410 Gone.'],
    ])
    expect(await deliveredTo(store, other)).toEqual(['webhook.paused'])
    expect(await deliveredTo(store, gone)).toEqual(['message.delivered'])
  })

  holds('an inbound mail is reported once for each route, without its content', async (store, records) => {
    await found(store, records)
    await create(store, records.webhook({ events: ['inbound.received'] }))
    const routes = [records.inboundRoute(), records.inboundRoute({ match: { type: 'catch_all', value: null } })]
    for (const route of routes) await store.inboundRoutes.create(route, 'whsec_a')
    const attachments = {
      first: [{ filename: 'a.pdf', contentType: 'application/pdf', sizeBytes: 7, contentId: null }],
      count: 51,
    }
    const mail = { ...records.acceptedInbound(routes, { subject: 'x'.repeat(2000) }), attachments }
    expect(await store.inbound.accept(mail)).toBe('accepted')
    const events = await written(store)
    expect(events.map(({ data }) => data.route_id)).toEqual(routes.map(({ id }) => id))
    expect(events[0]!.data).toEqual({
      inbound_message_id: mail.taken[0]!.message.id,
      route_id: routes[0]!.id,
      domain_id: DOMAIN,
      from: 'bob@out.example',
      to: ['in@a.example'],
      subject: 'x'.repeat(998),
      message_id_header: '<one@out.example>',
      size_bytes: 100,
      received_at: new Date(START).toISOString(),
      spf_result: 'pass',
      dkim_result: 'pass',
      dmarc_result: 'pass',
      attachments: [{ filename: 'a.pdf', content_type: 'application/pdf', size: 7, content_id: null }],
      attachment_count: 51,
    })
  })
}

const repeated = (times: number, type: EventType) => Array.from({ length: times }, () => type)

async function create(store: Store, webhook: Webhook): Promise<void> {
  expect(await store.webhooks.create(webhook, 'whsec_a')).toBe('created')
}

/** Everything that can write an on-demand event, with two recipients of two messages, and four suppressions. */
async function everyCause(store: Store, records: Records, ofDomain: string | null): Promise<void> {
  const { message } = await accept(store, records.accepted({ deliveries: [{}, {}] }))
  await store.messages.cancel(message.id, LATER)
  await accept(store, records.accepted({ deliveries: [{}, {}] }))
  const [one, two] = await claim(store)
  const expired = records.event({ type: 'message.expired', domainId: ofDomain })
  await store.deliveries.record(recordOf(one!, BOUNCED, { events: [expired], suppression: suppressionOf('one') }))
  await store.deliveries.recordLate(
    lateBounce(two!.delivery.id, records.report(), two!.delivery.status, { suppression: suppressionOf('two') }),
  )
  const route = records.inboundRoute()
  await store.inboundRoutes.create(route, 'whsec_a')
  await store.inbound.accept(records.acceptedInbound([route]))
  const verified = { status: 'verified' as const, verifiedAt: START, checkedAt: START, findings: [] }
  await store.domains.recordCheck(DOMAIN, verified)
  await store.domains.recordCheck(DOMAIN, { ...verified, status: 'failed', reason: 'mismatch', checkedAt: LATER })
  const hook = records.webhook()
  await create(store, hook)
  await store.webhooks.update(hook.id, { status: 'paused' }, LATER)
  await store.suppressions.add(suppressionOf('three'))
  await store.suppressions.addAll([suppressionOf('three'), suppressionOf('four')], LATER)
  const { records: all } = await store.suppressions.list(
    { organizationId: ORGANIZATION, email: null, reason: null, createdAfter: null, createdBefore: null },
    { limit: 9, after: null },
  )
  await store.suppressions.remove([all[0]!.id], LATER)

  function suppressionOf(name: string) {
    return records.suppression({ email: `${name}@dest.example`, domainId: ofDomain })
  }
}

/** Events of an organization in the order in which they were written. */
async function written(store: Store, organizationId = ORGANIZATION) {
  const { records } = (await store.events.feed({ ...ALL_EVENTS, organizationId }, null, 1000))!
  return records.map(({ body, ...event }) => ({ ...event, data: JSON.parse(body).data }))
}

const deliveriesOf = (webhookId: string) => ({
  webhookId,
  status: null,
  type: null,
  createdAfter: null,
  createdBefore: null,
})

async function deliveredTo(store: Store, { id }: Webhook): Promise<EventType[]> {
  const { records } = await store.webhookDeliveries.list(deliveriesOf(id), { limit: 99, after: null })
  return records.map(({ type }) => type).toSorted()
}

async function countDeliveries(store: Store, { id }: Webhook): Promise<number> {
  return (await idsByPage((page) => store.webhookDeliveries.list(deliveriesOf(id), page))).length
}
