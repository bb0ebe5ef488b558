import { expect } from 'bun:test'
import type { Outcome } from '../../src/model/delivery.ts'
import type { Event } from '../../src/model/event.ts'
import { FIXED_LIMITS } from '../../src/model/limits.ts'
import { type Counts, noCounts, type StatsGrouping } from '../../src/model/stats.ts'
import type { ClaimedDelivery, StatsFilter, StatsSpan, Store } from '../../src/storage/store.ts'
import type { Holds } from './contract.ts'
import {
  accept,
  BOUNCED,
  claim,
  DEFERRED,
  DELIVERED,
  DOMAIN,
  found,
  lateBounce,
  ORGANIZATION,
  type Records,
  recordOf,
  START,
} from './records.ts'

const HOUR = 3_600_000
const DAY = 24 * HOUR
const MIDNIGHT = START - (START % DAY)
const ALL: StatsFilter = { organizationId: ORGANIZATION, domainId: null, tag: null, mode: 'live' }

export function statsPromises(holds: Holds): void {
  holds('an empty store counts nothing, and returns as many periods as requested', async (store, records) => {
    await found(store, records)
    expect(await store.stats.hours(ALL, [START, START + HOUR])).toEqual([noCounts(), noCounts()])
    expect(await store.stats.days(ALL, [{ from: MIDNIGHT, before: MIDNIGHT + 400 * DAY }])).toEqual([noCounts()])
    expect(await store.stats.days(ALL, [])).toEqual([])
  })

  holds('accepted recipients are counted, the suppressed ones also with their events', async (store, records) => {
    await found(store, records)
    const deliveries = [{}, {}, { status: 'suppressed' as const, nextAttemptAt: null }]
    const events = [records.event({ type: 'message.suppressed', body: '{"data":{}}' })]
    await accept(store, { ...records.accepted({ deliveries }), events }, records.accepted())
    expect(await today(store)).toEqual({ accepted: 4, suppressed: 1 })
  })

  const KINDS: [string, Partial<Event>, Record<string, unknown>, Partial<Counts>][] = [
    ['a delivery', { type: 'message.delivered' }, {}, { delivered: 1 }],
    ['a deferral', { type: 'message.deferred' }, {}, { deferred: 1 }],
    ['a hard bounce', { type: 'message.bounced' }, { bounce_type: 'hard', will_retry: false }, { hardBounced: 1 }],
    ['a soft bounce', { type: 'message.bounced' }, { bounce_type: 'soft', will_retry: false }, { softBounced: 1 }],
    ['a soft bounce that is tried again', { type: 'message.bounced' }, { bounce_type: 'soft', will_retry: true }, {}],
    ['an open', { type: 'message.opened' }, { machine: false }, { opened: 1, uniqueOpened: 1 }],
    ['an open by a machine', { type: 'message.opened' }, { machine: true }, { machineOpened: 1 }],
    ['a click', { type: 'message.clicked' }, {}, { clicked: 1, uniqueClicked: 1 }],
    ['a click by a machine', { type: 'message.clicked' }, { machine: true }, { machineClicked: 1 }],
    ['an unsubscribe', { type: 'message.unsubscribed' }, {}, { unsubscribed: 1 }],
    ['a suppressed recipient', { type: 'message.suppressed' }, {}, { suppressed: 1 }],
    ['a complaint', { type: 'message.complained' }, {}, { complained: 1 }],
    ['an alert', { type: 'quality.alert' }, {}, {}],
    ['a sample', { type: 'message.delivered' }, { test: true }, {}],
  ]
  for (const [what, event, data, counted] of KINDS) {
    holds(`${what} counts as ${Object.keys(counted).join(' and ') || 'nothing'}`, async (store, records) => {
      await found(store, records)
      await store.events.append([records.event({ ...event, body: JSON.stringify({ data }) })])
      expect(await today(store)).toEqual(counted)
    })
  }

  holds('an event is counted once, however often it is written', async (store, records) => {
    await found(store, records)
    const event = records.event()
    await Promise.all([store.events.append([event, event]), store.events.append([event])])
    await store.events.append([event])
    expect(await today(store)).toEqual({ delivered: 1 })
  })

  holds('a sample event for one webhook is not counted', async (store, records) => {
    await found(store, records)
    const hook = records.webhook()
    await store.webhooks.create(hook, 'whsec_a')
    await store.events.append([records.event()], hook.id)
    expect(await today(store)).toEqual({})
  })

  holds('the result of a delivery is counted with it, and not when the lease was lost', async (store, records) => {
    await found(store, records)
    await accept(store, records.accepted({ deliveries: [{}, {}] }))
    const [first, second] = await claim(store)
    const published = (type: Event['type'], data = {}) => [records.event({ type, body: JSON.stringify({ data }) })]
    await store.deliveries.record(recordOf(first!, DEFERRED, { events: published('message.deferred') }))
    const bounced = recordOf(second!, BOUNCED, { events: published('message.bounced', { bounce_type: 'hard' }) })
    await store.deliveries.record(bounced)
    expect(await store.deliveries.record({ ...bounced, events: published('message.bounced') })).toBe('lease_lost')
    expect(await today(store)).toEqual({ accepted: 2, deferred: 1, hardBounced: 1 })
  })

  holds('a bounce after the delivery keeps the delivery counted, and is marked as late', async (store, records) => {
    await found(store, records)
    const { deliveries } = await accept(store, records.accepted())
    const [claimed] = await claim(store)
    await store.deliveries.record(recordOf(claimed!, undefined, { events: [records.event()] }))
    const bounce = records.event({
      type: 'message.bounced',
      body: '{"data":{"bounce_type":"hard"}}',
      createdAt: START + DAY,
    })
    const late = lateBounce(deliveries[0]!.id, records.report(), 'delivered', { events: [bounce] })
    expect(await store.deliveries.recordLate(late)).toBe('recorded')
    expect(await store.deliveries.recordLate(late)).toBe('duplicate')
    expect(await today(store)).toEqual({ accepted: 1, delivered: 1 })
    expect(await dayOf(store, MIDNIGHT + DAY)).toEqual({ hardBounced: 1, lateBounced: 1 })
  })

  holds(
    'hours, days and spans of days contain their events, from the first to before the last',
    async (store, records) => {
      await found(store, records)
      for (const at of [
        MIDNIGHT - 1,
        MIDNIGHT,
        MIDNIGHT + HOUR - 1,
        MIDNIGHT + HOUR,
        MIDNIGHT + DAY - 1,
        MIDNIGHT + DAY,
      ]) {
        await store.events.append([records.event({ createdAt: at })])
      }
      const starts = [MIDNIGHT - HOUR, MIDNIGHT, MIDNIGHT + HOUR, MIDNIGHT + 2 * HOUR, MIDNIGHT + 23 * HOUR]
      expect((await store.stats.hours(ALL, starts)).map(({ delivered }) => delivered)).toEqual([1, 2, 1, 0, 1])
      const spans = [
        { from: MIDNIGHT - DAY, before: MIDNIGHT },
        { from: MIDNIGHT, before: MIDNIGHT + DAY },
        { from: MIDNIGHT - DAY, before: MIDNIGHT + 2 * DAY },
      ]
      expect((await store.stats.days(ALL, spans)).map(({ delivered }) => delivered)).toEqual([1, 4, 6])
    },
  )

  holds('organizations, domains, tags and modes are counted separately', async (store, records) => {
    await found(store, records)
    const one = records.accepted({ tags: ['news', 'news', 'weekly'] })
    const two = records.accepted({ domainId: 'dom_b', tags: ['news'] })
    const test = records.accepted({ mode: 'test' })
    await accept(store, one, two, test, records.accepted({ organizationId: 'org_b' }))
    const event = records.event({ body: '{"data":{"tags":["weekly"]}}' })
    await store.events.append([event])
    const counts = (change: Partial<StatsFilter>) => today(store, { ...ALL, ...change })
    expect(await counts({})).toEqual({ accepted: 2, delivered: 1 })
    expect(await counts({ domainId: DOMAIN })).toEqual({ accepted: 1, delivered: 1 })
    expect(await counts({ domainId: 'dom_b' })).toEqual({ accepted: 1 })
    expect(await counts({ tag: 'news' })).toEqual({ accepted: 2 })
    expect(await counts({ tag: 'weekly' })).toEqual({ accepted: 1, delivered: 1 })
    expect(await counts({ tag: 'news', domainId: 'dom_b' })).toEqual({ accepted: 1 })
    expect(await counts({ mode: 'test' })).toEqual({ accepted: 1 })
    expect(await counts({ organizationId: 'org_b' })).toEqual({ accepted: 1 })
    expect(await counts({ tag: 'other' })).toEqual({})
  })

  holds('a span is grouped by domain, tag or stream; the transactional stream is the rest', async (store, records) => {
    await found(store, records)
    const mails: Parameters<typeof records.accepted>[0][] = [
      { tags: ['news', 'weekly'], stream: 'bulk' },
      { tags: ['news'], domainId: 'dom_b', stream: 'bulk' },
      { tags: [' x'], stream: 'alerts' },
      { tags: ['news'], createdAt: START + HOUR },
      { domainId: 'dom_b', createdAt: START + DAY },
      { domainId: 'dom_b', createdAt: START + 2 * DAY },
      { tags: ['test'], mode: 'test' },
      { tags: ['foreign'], organizationId: 'org_b', stream: 'foreign' },
    ]
    await accept(store, ...mails.map((each) => records.accepted(each)))
    const stream = { type: 'message.complained', body: '{"data":{"stream":"bulk","tags":["late"]}}' } as const
    await store.events.append([records.event(stream)])
    const days = { from: MIDNIGHT, before: MIDNIGHT + 2 * DAY, unit: 'day' } as const
    const grouped = async (by: StatsGrouping, change: Partial<StatsFilter> = {}, span: StatsSpan = days) => {
      const groups = await store.stats.groups({ ...ALL, ...change }, by, span)
      return Object.fromEntries([...groups].map(([key, counts]) => [key, nonZero(counts)]))
    }
    const [bulk, here] = [
      { accepted: 2, complained: 1 },
      { accepted: 3, complained: 1 },
    ]
    expect(await grouped('domain')).toEqual({ [DOMAIN]: here, dom_b: { accepted: 2 } })
    expect(await grouped('stream')).toEqual({ bulk, alerts: { accepted: 1 }, transactional: { accepted: 2 } })
    expect(await grouped('tag')).toEqual({
      news: { accepted: 3 },
      weekly: { accepted: 1 },
      ' x': { accepted: 1 },
      late: { complained: 1 },
    })
    expect(await grouped('stream', { domainId: 'dom_b' })).toEqual({
      bulk: { accepted: 1 },
      transactional: { accepted: 1 },
    })
    expect(await grouped('tag', { domainId: 'dom_b', tag: 'weekly' })).toEqual({ news: { accepted: 1 } })
    const one = { accepted: 1 }
    expect(await grouped('domain', { stream: 'transactional' })).toEqual({ [DOMAIN]: one, dom_b: one })
    expect(await grouped('domain', { stream: 'alerts' })).toEqual({ [DOMAIN]: one })
    expect(await grouped('domain', { tag: 'news' })).toEqual({ [DOMAIN]: { accepted: 2 }, dom_b: one })
    const hour = { from: START - (START % HOUR), before: START + HOUR, unit: 'hour' } as const
    expect((await grouped('stream', {}, hour)).transactional).toBeUndefined()
    expect(await grouped('stream', {}, { ...hour, before: hour.from })).toEqual({})
    expect(await grouped('stream', { mode: 'test' })).toEqual({ transactional: one })
  })

  holds('a template counts what happens to its messages', async (store, records) => {
    await found(store, records)
    const { deliveries } = await accept(store, records.accepted({ templateId: 'tpl_a' }), records.accepted())
    const [claimed] = await claim(store)
    const templateId = 'tpl_a'
    await store.deliveries.record(recordOf(claimed!, undefined, { templateId, events: [records.event()] }))
    const opened = records.event({ type: 'message.opened', body: '{"data":{"machine":false}}' })
    const visit = { kind: 'opened', machine: false, event: opened, suppression: null, now: START } as const
    await store.deliveries.recordEngagement({ deliveryId: deliveries[0]!.id, ...visit })
    const complained = records.event({ type: 'message.complained', body: '{"data":{}}' })
    const late = lateBounce(deliveries[0]!.id, records.report(), 'delivered', { change: null, events: [complained] })
    expect(await store.deliveries.recordLate(late)).toBe('recorded')
    const counts = { accepted: 1, delivered: 1, opened: 1, uniqueOpened: 1, complained: 1 }
    expect(await groupsOf(store, 'template')).toEqual({ tpl_a: counts })
    expect(await groupsOf(store, 'template', { organizationId: 'org_b' })).toEqual({})
    expect(await groupsOf(store, 'template', { domainId: 'dom_b' })).toEqual({})
    expect(await groupsOf(store, 'tag')).toEqual({})
    expect(await groupsOf(store, 'stream')).toMatchObject({ transactional: { accepted: 2 } })
  })

  holds(
    'a provider counts each recipient from the first attempt that found one of its hosts',
    async (store, records) => {
      await found(store, records)
      await accept(store, records.accepted({ deliveries: [{}, {}, {}] }))
      const [first, second, third] = await claim(store)
      const { at, published } = attemptsOf(store, records)
      const deferred = published('message.deferred')
      await at(first!, DEFERRED, 'gmail-smtp-in.l.google.com', deferred)
      await at(second!, BOUNCED, 'mx.small.example', published('message.bounced', { bounce_type: 'hard' }))
      await at(third!, BOUNCED, null, published('message.bounced', { bounce_type: 'hard' }))
      const [again] = await claim(store, { now: START + DAY - 1 })
      expect(again!.delivery.id).toBe(first!.delivery.id)
      await at(again!, DELIVERED, 'alt1.gmail-smtp-in.l.google.com', published('message.delivered'))
      expect(await groupsOf(store, 'provider')).toEqual({
        google: { accepted: 1, deferred: 1, delivered: 1 },
        'small.example': { accepted: 1, hardBounced: 1 },
        '': { accepted: 1, hardBounced: 1 },
      })
      expect(await groupsOf(store, 'provider', { organizationId: 'org_b' })).toEqual({})
    },
  )

  holds('a recipient stays with its provider when later attempts find no host', async (store, records) => {
    await found(store, records)
    await accept(store, records.accepted({ deliveries: [{}, {}] }))
    const { at, published } = attemptsOf(store, records)
    const defer = async (now: number, mxHost: string | null) => {
      for (const claimed of await claim(store, { now }))
        await at(claimed, DEFERRED, mxHost, published('message.deferred'))
    }
    await defer(START, 'gmail-smtp-in.l.google.com')
    await defer(START + HOUR, null)
    const [one, other] = await claim(store, { now: START + 2 * HOUR })
    await at(one!, DELIVERED, 'gmail-smtp-in.l.google.com', published('message.delivered'))
    await at(other!, BOUNCED, null, published('message.bounced', { bounce_type: 'soft' }))
    expect(await groupsOf(store, 'provider')).toEqual({
      google: { accepted: 2, deferred: 4, delivered: 1, softBounced: 1 },
    })
  })

  holds('of one day, a limited number of templates is counted apart, the others together', async (store, records) => {
    await found(store, records)
    const ids = Array.from({ length: FIXED_LIMITS.tagsPerDay + 2 }, (_, n) => `tpl_${n}`)
    await accept(store, ...ids.map((templateId) => records.accepted({ templateId, createdAt: MIDNIGHT })))
    const groups = await groupsOf(store, 'template')
    expect(Object.keys(groups).length).toBe(FIXED_LIMITS.tagsPerDay + 1)
    expect(groups['']).toEqual({ accepted: 2 })
  })

  holds('of one day, a limited number of tags is counted separately; all mail is counted', async (store, records) => {
    await found(store, records)
    const tags = Array.from({ length: FIXED_LIMITS.tagsPerDay }, (_, n) => `tag${n}`)
    const sent = (tag: string, createdAt: number) => accept(store, records.accepted({ tags: [tag], createdAt }))
    await accept(store, records.accepted({ tags, createdAt: MIDNIGHT }))
    await sent('late', MIDNIGHT + 1)
    await sent('late', MIDNIGHT + DAY - 1)
    await sent('tag7', MIDNIGHT + DAY - 1)
    await sent('late', MIDNIGHT + DAY)
    const days = [MIDNIGHT, MIDNIGHT + DAY].map((from) => ({ from, before: from + DAY }))
    const accepted = async (tag: string | null) =>
      (await store.stats.days({ ...ALL, tag }, days)).map((day) => day.accepted)
    expect(await accepted('late')).toEqual([0, 1])
    expect(await accepted('tag7')).toEqual([2, 0])
    expect(await accepted(null)).toEqual([4, 1])
  })

  holds('an event that is not written is not counted, and rolls back no other count', async (store, records) => {
    await found(store, records)
    const known = await accept(store, records.accepted({ tags: ['a'] }))
    const volume = { organizationId: ORGANIZATION, month: '2026-11', count: 5, limit: 4 }
    const outcomes = await Promise.allSettled([
      accept(store, records.accepted()),
      accept(store, records.accepted(), known), // the same message again: neither is written
      store.messages.accept([records.accepted()], volume),
      accept(store, records.accepted({ tags: ['b'] })),
    ])
    expect(outcomes.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled', 'fulfilled'])
    expect(await today(store)).toEqual({ accepted: 3 })
    expect(await today(store, { ...ALL, tag: 'a' })).toEqual({ accepted: 1 })
  })

  holds('concurrent events add up', async (store, records) => {
    await found(store, records)
    await Promise.all(Array.from({ length: 600 }, () => accept(store, records.accepted({ tags: ['a'] }))))
    expect(await today(store)).toEqual({ accepted: 600 })
    expect(await today(store, { ...ALL, tag: 'a' })).toEqual({ accepted: 600 })
  })

  holds('counts survive a restart', async (store, records, { reopen }) => {
    await found(store, records)
    await accept(store, records.accepted())
    expect(await today(await reopen())).toEqual({ accepted: 1 })
  })
}

const nonZero = (counts: Counts) => Object.fromEntries(Object.entries(counts).filter(([, count]) => count !== 0))

/** Records attempts with a host and these events. */
function attemptsOf(store: Store, records: Records) {
  return {
    published: (type: Event['type'], data = {}) => [records.event({ type, body: JSON.stringify({ data }) })],
    at: (claimed: ClaimedDelivery, outcome: Outcome, mxHost: string | null, events: Event[]) => {
      const { attempt, ...record } = recordOf(claimed, outcome, { events })
      return store.deliveries.record({ ...record, attempt: { ...attempt, mxHost, transcript: 'S: \0 "mxHost":"x"' } })
    },
  }
}

/** The non-zero counters of the groups of the day of START. */
async function groupsOf(store: Store, by: StatsGrouping, change: Partial<StatsFilter> = {}) {
  const span = { from: MIDNIGHT, before: MIDNIGHT + DAY, unit: 'day' } as const
  const groups = await store.stats.groups({ ...ALL, ...change }, by, span)
  return Object.fromEntries([...groups].map(([key, counts]) => [key, nonZero(counts)]))
}

/** The non-zero counters of the day of START. */
const today = (store: Store, filter: StatsFilter = ALL) => dayOf(store, MIDNIGHT, filter)

async function dayOf(store: Store, from: number, filter: StatsFilter = ALL): Promise<Partial<Counts>> {
  const [day] = await store.stats.days(filter, [{ from, before: from + DAY }])
  const hours = await store.stats.hours(
    filter,
    Array.from({ length: 24 }, (_, hour) => from + hour * HOUR),
  )
  const counted = (counts: Counts) => Object.entries(counts).filter(([, count]) => count !== 0)
  const ofHours = hours.flatMap(counted)
  for (const [name, count] of counted(day!)) {
    expect([name, ofHours.reduce((sum, [other, part]) => sum + (other === name ? part : 0), 0)]).toEqual([name, count])
  }
  return Object.fromEntries(counted(day!))
}
