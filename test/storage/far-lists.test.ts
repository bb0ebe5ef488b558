import { afterEach, beforeEach, expect, test } from 'bun:test'
import { followEvents, listEvents } from '../../src/storage/lists/events.ts'
import { IN_THREAD } from '../../src/storage/lists/slices.ts'
import type { Work } from '../../src/storage/sql.ts'
import { readingOn } from '../../src/storage/sqlite/database.ts'
import { type Connection, connect } from '../../src/storage/sqlite/driver.ts'
import { openEncryption } from '../../src/storage/sqlite/encryption-key.ts'
import { migrate } from '../../src/storage/sqlite/migrate.ts'
import { readsOn } from '../../src/storage/sqlite/reads.ts'
import { BATCH, searchIndex } from '../../src/storage/sqlite/search-index.ts'
import { INDEXED, type Indexed, wordsOf } from '../../src/storage/sqlite/search-texts.ts'
import { storeOn } from '../../src/storage/sqlite/store.ts'
import type {
  AcceptedMessage,
  EventFilter,
  MessageFilter,
  Store,
  WebhookDeliveryFilter,
} from '../../src/storage/store.ts'
import { listOf } from './message-lists.ts'
import {
  ALL_EVENTS,
  ALL_INBOUND,
  ALL_MESSAGES,
  accept,
  createRecords,
  found,
  idsByPage,
  ORGANIZATION,
  type Records,
  START,
} from './records.ts'

/** More than are examined one by one. */
const MANY = 2_500

let db: Connection
let store: Store
let records: Records
beforeEach(async () => {
  db = connect(':memory:', { busyTimeoutMs: 0 })
  migrate(db, 0)
  store = storeOn(db, openEncryption(':memory:', db))
  records = createRecords()
  await found(store, records)
})
afterEach(() => store.close())

const messages = (filter: Partial<MessageFilter>) =>
  idsByPage((page) => store.messages.list({ ...ALL_MESSAGES, ...filter }, page))
const events = (filter: Partial<EventFilter>) =>
  idsByPage((page) => store.events.list({ ...ALL_EVENTS, ...filter }, page))
const fed = (filter: Partial<EventFilter>) =>
  idsByPage(async ({ after, limit }) => (await store.events.feed({ ...ALL_EVENTS, ...filter }, after, limit))!)
const common = (): AcceptedMessage[] =>
  Array.from({ length: MANY }, () => records.accepted({ metadata: { order: 1 }, tags: ['often'] }))

test('a filter finds few messages far behind the newest, and returns none when none match', async () => {
  const seldom = {
    from: 'Bob <Bob@a.example>',
    subject: 'Kaleidoscope',
    templateId: 'tpl_1',
    domainId: 'dom_x',
    mode: 'test' as const,
    metadata: { order: 7, vip: true, name: 'Ä "b"' },
  }
  const [old, young] = [records.accepted(seldom), records.accepted({ ...seldom, tags: ['often'] })]
  await accept(store, records.accepted({ ...seldom, organizationId: 'org_b' }), old)
  await accept(store, ...common())
  await accept(store, young)
  await accept(store, ...common())
  const all = [young.message.id, old.message.id]

  const finding: Partial<MessageFilter>[] = [
    { from: 'bob@A.example' },
    { subject: 'aleidosc' },
    { templateId: 'tpl_1' },
    { domainId: 'dom_x' },
    { mode: 'test' },
    { metadata: [{ key: 'order', value: '7' }] },
    { metadata: [{ key: 'vip', value: 'true' }] },
    { metadata: [{ key: 'name', value: 'Ä "b"' }] },
  ]
  for (const filter of [...finding, Object.assign({}, ...finding)]) {
    expect([filter, await messages(filter)]).toEqual([filter, all])
    expect([filter, await messages({ ...filter, tag: 'often' })]).toEqual([filter, [young.message.id]])
    expect([filter, await messages({ ...filter, status: 'queued' })]).toEqual([filter, all])
    expect([filter, await messages({ ...filter, text: 'kaleid' })]).toEqual([filter, all])
  }
  const missing: Partial<MessageFilter>[] = [
    { from: 'bo@a.example' },
    { subject: 'kaleidoscopes' },
    { templateId: 'tpl_2' },
    { templateId: 'dom_x' },
    { mode: 'test', from: 'ann@a.example' },
    { metadata: [{ key: 'vip', value: 'false' }] },
    { metadata: [{ key: 'order', value: '1' }], mode: 'test' },
  ]
  for (const filter of missing) expect([filter, await messages(filter)]).toEqual([filter, []])
})

test('messages beyond the search index are found too, within the time for indexing', async () => {
  const seldom = { subject: 'Café Kaleidoscope', tags: ['often'], from: 'bob@a.example', templateId: 'tpl_1' }
  const others = () => Array.from({ length: 600 }, () => records.accepted({ tags: ['often'], templateId: 'tpl_2' }))
  const [old, middle, young] = [records.accepted(seldom), records.accepted(seldom), records.accepted(seldom)]
  await accept(store, old, ...others(), middle, ...others())
  await accept(store, young, records.accepted({ ...seldom, organizationId: 'org_b' }), ...others())
  const all = [young, middle, old].map(({ message }) => message.id)
  const index = searchIndex(db)
  const list = listOf(db, index)
  const listed = (filter: Partial<MessageFilter>) =>
    idsByPage(async (page) => list({ ...ALL_MESSAGES, ...filter }, page))
  for (let isMore = true; isMore; isMore = index.index()) {
    const known = index.last()
    for (const text of ['kaleid', 'cafe', 'KALEIDOSCOPE café', 'bob@a.example kal', null]) {
      for (const filter of [
        { templateId: 'tpl_1' },
        { from: 'bob@a.example' },
        { templateId: 'tpl_1', tag: 'often' },
      ]) {
        expect([known, text, filter, await listed({ ...filter, text })]).toEqual([known, text, filter, all])
      }
      if (text !== null) expect([known, text, await listed({ text })]).toEqual([known, text, all])
    }
    for (const text of ['kaleidoscopes', 'kaleid cafe', 'tpl_1', '🎉', 'φ']) {
      expect([known, text, await listed({ text })]).toEqual([known, text, []])
    }
    expect(await listed({ text: 'kaleid', templateId: 'tpl_2' })).toEqual([])
  }
})

test('maintenance indexes what waits, a batch at a time', async () => {
  await accept(store, ...Array.from({ length: 2 * BATCH + 1 }, () => records.accepted()))
  expect(await store.maintain('recent', () => true)).toBe(true)
  expect(await store.maintain('recent', () => true)).toBe(true)
  expect(await store.maintain('recent', () => true)).toBe(false)
  await accept(store, ...Array.from({ length: 50 }, () => records.accepted({ subject: 'needle' })))
  expect(await messages({ text: 'needle' })).toHaveLength(50) // a search indexes first
  expect(await store.maintain('recent', () => true)).toBe(false)
})

test('an internal search token cannot be searched as a word', async () => {
  await accept(store, records.accepted({ templateId: 'tpl_1' }))
  while (await store.maintain('recent', () => true));
  const [indexed] = db.prepare<unknown[], Indexed>(`select ${INDEXED} from messages m`).all()
  const marked = wordsOf(indexed!).filter((word) => word.includes('='))
  expect(marked).toHaveLength(5)
  for (const mark of marked) expect(await messages({ text: mark })).toEqual([])
  expect(await messages({ text: '=' })).toEqual([])
})

test('messages of two organizations share no word of the search index', async () => {
  const same = { subject: 'same words', templateId: 'tpl_1', tags: ['often'] }
  await accept(store, records.accepted(same), records.accepted({ ...same, organizationId: 'org_b' }))
  const [own, others] = db.prepare<unknown[], Indexed>(`select ${INDEXED} from messages m order by m.number`).all()
  expect(new Set(wordsOf(own!)).isDisjointFrom(new Set(wordsOf(others!)))).toBe(true)
})

test('many messages to one address are listed once each, in pages', async () => {
  const twice = { deliveries: [{ email: 'bob@dest.example' }, { email: 'Bob@dest.example' }] }
  const all = Array.from({ length: 1_500 }, () => records.accepted(twice))
  await accept(store, ...all)
  expect(await messages({ to: 'bob@dest.example' })).toEqual(all.map(({ message }) => message.id).reverse())
})

test('a rare kind of event is found in list and stream, whatever lies between', async () => {
  const seldom = { type: 'message.complained', domainId: 'dom_x', mode: 'test' } as const
  const bulk = () => store.events.append(Array.from({ length: 2_048 }, () => records.event()))
  const [first, second, third] = [records.event(seldom), records.event(seldom), records.event(seldom)]
  await store.events.append([first, records.event({ ...seldom, organizationId: 'org_b' })])
  await bulk()
  await store.events.append([second])
  await bulk()
  await store.events.append([third])
  await bulk()
  const ids = [first, second, third].map(({ id }) => id)
  const { type, domainId, mode } = seldom
  for (const filter of [{ type }, { domainId }, { mode }, seldom]) {
    expect([filter, await fed(filter)]).toEqual([filter, ids])
    expect([filter, await events(filter)]).toEqual([filter, ids.toReversed()])
  }
  expect(await events({ type, domainId: 'dom_none' })).toEqual([])
  expect(await events({ type: 'message.bounced' })).toEqual([])
  expect(await events({ type, createdBefore: START })).toEqual([])
})

test('messages that match several filters are found, however far apart each match is', async () => {
  const both = { deliveries: [{ email: 'bob@dest.example' }], tags: ['blue', 'often'], status: 'scheduled' as const }
  const found = [records.accepted(both), records.accepted(both)]
  const others = (count: number, change: Parameters<Records['accepted']>[0]) =>
    Array.from({ length: count }, () => records.accepted(change))
  await accept(store, ...others(5, { status: 'scheduled' }), found[0]!, ...others(1_300, { tags: ['blue'] }))
  await accept(store, records.accepted({ ...both, organizationId: 'org_b' }))
  await accept(store, ...others(600, { status: 'scheduled' }), found[1]!)
  await accept(store, ...others(300, { tags: ['blue'] }), ...others(300, { deliveries: both.deliveries }))
  const all = found.map(({ message }) => message.id).reverse()
  const [to, tag, status] = ['Bob@dest.example', 'blue', 'scheduled' as const]
  for (const filter of [
    { tag, status },
    { to, tag },
    { to, status },
    { to, tag, status },
  ]) {
    expect([filter, await messages(filter)]).toEqual([filter, all])
    expect([filter, await messages({ ...filter, subject: 'never' })]).toEqual([filter, []])
    expect([filter, await messages({ ...filter, text: 'dest.example' })]).toEqual([filter, all])
  }
})

test('a list that has searched long enough ends its page, and the next page continues there', async () => {
  const seldom = { subject: 'Kaleidoscope', tags: ['often'], deliveries: [{ email: 'bob@dest.example' }] }
  const foreign = { ...seldom, organizationId: 'org_b' }
  const [old, young] = [records.accepted(seldom), records.accepted(seldom)]
  await accept(store, records.accepted(foreign), old, records.accepted(foreign))
  await accept(store, ...common(), young, records.accepted(foreign), ...common())
  while (await store.maintain('recent', () => true));
  let looks = 0
  /** Each step takes twenty milliseconds. */
  const clock = () => {
    looks++
    return 20 * looks
  }
  const index = searchIndex(db)
  while (index.index());
  const list = listOf(db, index, clock)
  const isOwn = db.prepare('select 1 from messages where id = ? and organization_id = ?')
  const filters: Partial<MessageFilter>[] = [
    { subject: 'aleidosc' },
    { subject: 'aleidosc', tag: 'often' },
    { subject: 'aleidosc', mode: 'live' },
    { subject: 'aleidosc', to: 'bob@dest.example' },
    { text: 'kaleidoscope' },
  ]
  for (const filter of filters) {
    let pages = 0
    const ids = await idsByPage(async (page) => {
      const answer = list({ ...ALL_MESSAGES, ...filter }, page)
      if (answer.next !== undefined) expect(isOwn.get(answer.next, ORGANIZATION)).toBeDefined()
      pages++
      return answer
    })
    expect([filter, ids]).toEqual([filter, [young.message.id, old.message.id]])
    if (filter.to === undefined && filter.text === undefined) expect(pages).toBeGreaterThan(2)
  }
})

test('a list passes over any number of records of others at once', async () => {
  const to = { deliveries: [{ email: 'bob@dest.example' }] }
  const [old, young] = [records.accepted(to), records.accepted(to)]
  const foreign = Array.from({ length: MANY }, () => records.accepted({ ...to, organizationId: 'org_b' }))
  await accept(
    store,
    ...foreign,
    old,
    ...foreign.map(() => records.accepted({ ...to, organizationId: 'org_b' })),
    young,
  )
  const route = records.inboundRoute({ action: { type: 'store', config: {} }, organizationId: 'org_b' })
  const mails = Array.from({ length: MANY }, () => records.acceptedInbound([route]))
  for (const mail of mails) await store.inbound.accept(mail)
  let looks = 0
  const clock = () => {
    looks++
    return 20 * looks
  }
  const { messages, inbound } = readsOn(db, { ...IN_THREAD, nowMs: clock, fewest: 0 })
  const found = await idsByPage(async (page) => messages({ ...ALL_MESSAGES, to: 'bob@dest.example' }, page))
  expect(found).toEqual([young.message.id, old.message.id])
  expect(await idsByPage(async (page) => inbound({ ...ALL_INBOUND, routeId: route.id }, page))).toEqual([])
  expect(looks).toBeLessThan(30)
})

test('a list of other records ends a page at the limit of time too, and continues there', async () => {
  let now = 0
  const clock = () => (now += 30)
  const hook = records.webhook({ events: ['message.opened'] })
  await store.webhooks.create(hook, 'whsec_1')
  const route = records.inboundRoute({ action: { type: 'store', config: {} } })
  await store.inboundRoutes.create(route, 'whsec_2')
  const oldest = records.suppression({ mode: 'test' })
  await store.suppressions.addAll([oldest], START)
  const others = Array.from({ length: MANY }, (_, at) => records.suppression({ email: `${at}@dest.example` }))
  await store.suppressions.addAll(others, START)
  await store.events.append(Array.from({ length: MANY }, () => records.event({ type: 'message.opened' })))
  while (await store.webhookDeliveries.fanOutSome());
  for (const _ of others) await store.inbound.accept(records.acceptedInbound([route]))
  const {
    suppressions: suppressed,
    webhookDeliveries: posted,
    inbound: received,
  } = readsOn(db, { ...IN_THREAD, nowMs: clock })
  const all = { email: null, reason: null, domainId: null, createdAfter: null, createdBefore: null }
  const toTest = { organizationId: ORGANIZATION, ...all, mode: 'test' as const }
  expect(suppressed(toTest, { limit: 1, after: null })).toMatchObject({ records: [], hasMore: true })
  expect(await idsByPage(async (page) => suppressed(toTest, page))).toEqual([oldest.id])
  const elsewhere = { ...ALL_INBOUND, domainId: 'dom_elsewhere', routeId: route.id }
  expect(received(elsewhere, { limit: 1, after: null })).toMatchObject({ records: [], hasMore: true })
  expect(await idsByPage(async (page) => received(elsewhere, page))).toEqual([])
  const delivered = { ...toTest, webhookId: hook.id, status: 'delivered' as const, type: null }
  expect(posted(delivered, { limit: 1, after: null })).toMatchObject({ records: [], hasMore: true })
  expect(await idsByPage(async (page) => posted(delivered, page))).toEqual([])
})

test('deliveries of a webhook are found by their status, however many lie before them', async () => {
  const hook = records.webhook({ events: ['message.opened', 'message.complained'] })
  await store.webhooks.create(hook, 'whsec_1')
  const at = (minute: number) => START + minute * 60_000
  const posts = Array.from({ length: 1_500 }, (_, minute) =>
    records.event({ type: minute % 700 === 3 ? 'message.complained' : 'message.opened', createdAt: at(minute) }),
  )
  await store.events.append(posts)
  while (await store.webhookDeliveries.fanOutSome());
  const end = db.prepare("update webhook_deliveries set status = 'delivered', next_attempt_at = null where number > ?")
  const all = { webhookId: hook.id, status: null, type: null, createdAfter: null, createdBefore: null }
  const listed = async (filter: Partial<WebhookDeliveryFilter>) => {
    const ids = await idsByPage((page) => store.webhookDeliveries.list({ ...all, ...filter }, page))
    const events = db.prepare('select event_number - 1 from webhook_deliveries where id = ?').pluck()
    return ids.map((id) => events.get(id) as number)
  }
  expect(await listed({ status: 'pending', createdBefore: at(2) })).toEqual([1, 0])
  end.run(3)
  expect(await listed({ status: 'pending' })).toEqual([2, 1, 0])
  expect(await listed({ status: 'pending', type: 'message.complained' })).toEqual([])
  expect(await listed({ type: 'message.complained' })).toEqual([1403, 703, 3])
  expect(await listed({ type: 'message.complained', createdAfter: at(4), createdBefore: at(1403) })).toEqual([703])
  expect(await listed({ type: 'message.bounced' })).toEqual([])
  expect(await listed({ createdAfter: at(700), createdBefore: at(703) })).toEqual([702, 701, 700])
  expect(await listed({ createdBefore: at(0) })).toEqual([])
  expect(await listed({ createdAfter: at(1500) })).toEqual([])
})

test('events of a rare kind are found by further filters', async () => {
  const bounced = (change = {}) => records.event({ type: 'message.bounced', ...change })
  const [first, second] = [bounced({ domainId: 'dom_x' }), bounced({ domainId: 'dom_x', mode: 'test' })]
  await store.events.append([first, ...Array.from({ length: 400 }, () => bounced()), second, records.event()])
  const type = 'message.bounced'
  expect(await events({ type, domainId: 'dom_x' })).toEqual([second.id, first.id])
  expect(await fed({ type, domainId: 'dom_x' })).toEqual([first.id, second.id])
  expect(await events({ type, mode: 'test' })).toEqual([second.id])
  expect((await events({ type })).length).toBe(402)
})

test('a page of events from which one is removed while it is read has a next one', async () => {
  const type = 'message.bounced'
  const all = Array.from({ length: 6 }, () => records.event({ type }))
  await store.events.append(all)
  const ids = all.map(({ id }) => id)
  const read = readingOn(db)
  /** Removes an event after its place was read, as retention can between two statements of PostgreSQL. */
  function* removing<T>(id: string, work: Work<T>): Work<T> {
    let next = work.next()
    while (next.done !== true) {
      if (next.value.wants === 'rows' && next.value.statement.text.includes('e.number = any('))
        db.prepare('delete from events where id = ?').run(id)
      next = work.next(yield next.value)
    }
    return next.value
  }
  const filter = { ...ALL_EVENTS, type } as const
  const page = read(removing(ids[4]!, listEvents(filter, { limit: 2, after: null }, IN_THREAD)))
  expect([page.records.map(({ id }) => id), page.hasMore]).toEqual([[ids[5]!, ids[3]!], true])
  const rest = read(listEvents(filter, { limit: 9, after: page.next ?? null }, IN_THREAD))
  expect(rest.records.map(({ id }) => id)).toEqual([ids[2]!, ids[1]!, ids[0]!])
  const follow = (behind: string) => followEvents(filter, behind, { limit: 2, pace: IN_THREAD })
  const followed = read(removing(ids[0]!, follow('')))
  expect(followed.events.map(({ id }) => id)).toEqual([ids[1]!])
  expect(read(follow(followed.upTo)).events.map(({ id }) => id)).toEqual([ids[2]!, ids[3]!])
})

test('events are found although the change that wrote the first of their kind was rolled back', async () => {
  const kind = { type: 'message.clicked', domainId: 'dom_new' } as const
  const failing = { ...records.accepted(), events: [records.event(kind)] }
  await expect(accept(store, failing, failing)).rejects.toThrow()
  const event = records.event(kind)
  await store.events.append([event])
  expect(await events({ domainId: 'dom_new' })).toEqual([event.id])
})

test('events of more kinds than are looked for one by one are found, in portions of a limited time', async () => {
  const test = { mode: 'test' } as const
  const of = (count: number) =>
    Array.from({ length: count }, (_, at) => records.event({ domainId: `dom_${at}`, ...test }))
  const [first, last] = [of(300), of(300)]
  await store.events.append(first)
  await store.events.append(Array.from({ length: 3_000 }, () => records.event()))
  await store.events.append(last)
  const ids = [...first, ...last].map(({ id }) => id)
  expect(await events(test)).toEqual(ids.toReversed())
  expect(await fed(test)).toEqual(ids)
  let looks = 0
  const pace = { ...IN_THREAD, nowMs: () => 20 * looks++ }
  const read = readingOn(db)
  let pages = 0
  const found = await idsByPage(async (page) => {
    pages++
    return read(listEvents({ ...ALL_EVENTS, ...test }, { ...page, limit: 200 }, pace))
  })
  expect(found).toEqual(ids.toReversed())
  expect(pages).toBeGreaterThan(3)
})
