import { afterEach, describe, expect, test } from 'bun:test'
import { type EventType, messageEvent } from '../../src/model/event.ts'
import { statsOperations } from '../../src/web/api/routes/stats.ts'
import { BOUNCED, claim, createRecords, recordOf } from '../storage/records.ts'
import { createTestApi, START, type Tenant, type TestApi } from '../support/api.ts'

const DAY = 86_400_000
/** START is 2026-11-21T12:00Z. */
const TODAY = '2026-11-21T00:00:00.000Z'

const open: TestApi[] = []
afterEach(async () => {
  for (const api of open.splice(0)) await api.close()
})
async function start() {
  const api = await createTestApi({ operations: ({ store }) => statsOperations({ store }) })
  open.push(api)
  const key = api.own.keys.read
  const read = async (query = '') => (await api.ask('GET', `/v1/stats${query}`, { key })).body
  return { ...api, key, read }
}

const FACTS = {
  id: 'msg_a',
  from: 'a@own.example',
  subject: 'Hello',
  metadata: {},
  tags: ['news'],
  mode: 'live' as const,
}

async function addEvent(
  api: TestApi,
  tenant: Tenant,
  type: EventType,
  change: { at?: number; mode?: 'test'; tags?: string[]; data?: object } = {},
) {
  const { at = START, data = {}, ...facts } = change
  const message = { ...FACTS, organizationId: tenant.organization.id, domainId: tenant.domain.id, ...facts }
  await api.store.events.append([messageEvent(api.mintId('evt'), type, message, 'b@dest.example', at, { ...data })])
}

const NONE = {
  accepted: 0,
  delivered: 0,
  deferred: 0,
  bounced: 0,
  hard_bounced: 0,
  soft_bounced: 0,
  opened: 0,
  unique_opened: 0,
  clicked: 0,
  unique_clicked: 0,
  unsubscribed: 0,
  complained: 0,
  suppressed: 0,
  replied: 0,
}
const NO_RATES = { delivery_rate: 0, bounce_rate: 0, complaint_rate: 0, open_rate: 0, click_rate: 0 }

test('without parameters the last thirty days are returned, zeros included', async () => {
  const { read } = await start()
  const { data, totals } = await read()
  expect(data).toHaveLength(30)
  expect(data[0]).toEqual({ period_start: '2026-10-23T00:00:00.000Z', ...NONE })
  expect(data[29]).toEqual({ period_start: TODAY, ...NONE })
  expect(totals).toEqual({ ...NONE, ...NO_RATES })
})

test('every kind of event counts in its period and in the totals, with the rates', async () => {
  const api = await start()
  const all: [EventType, object?][] = [
    ...Array.from({ length: 6 }, (): [EventType] => ['message.delivered']),
    ['message.deferred'],
    ['message.bounced', { bounce_type: 'hard', will_retry: false }],
    ['message.bounced', { bounce_type: 'soft', will_retry: false }],
    ['message.bounced', { bounce_type: 'soft', will_retry: true }],
    ['message.opened', { machine: false }],
    ['message.opened', { machine: true }],
    ['message.clicked', { machine: false }],
    ['message.unsubscribed'],
    ['message.complained'],
  ]
  for (const [type, data] of all) await addEvent(api, api.own, type, { data })
  await addEvent(api, api.own, 'message.delivered', { at: START - DAY })
  const { data, totals } = await api.read('?from=2026-11-20&to=2026-11-22')
  const today = {
    ...NONE,
    delivered: 6,
    deferred: 1,
    bounced: 2,
    hard_bounced: 1,
    soft_bounced: 1,
    opened: 1,
    unique_opened: 1,
    clicked: 1,
    unique_clicked: 1,
    unsubscribed: 1,
    complained: 1,
  }
  expect(data).toEqual([
    { period_start: '2026-11-20T00:00:00.000Z', ...NONE, delivered: 1 },
    { period_start: TODAY, ...today },
  ])
  const rates = { delivery_rate: 7 / 9, bounce_rate: 2 / 9, complaint_rate: 1 / 7, open_rate: 1 / 7, click_rate: 1 / 7 }
  expect(totals).toEqual({ ...today, delivered: 7, ...rates })
})

describe('filters', () => {
  const CASES: [query: string, delivered: number][] = [
    ['', 3],
    ['?mode=live', 3],
    ['?mode=test', 1],
    ['?tag=news', 2],
    ['?tag=other', 1],
    ['?tag=none', 0],
    ['?domain_id=OWN', 3],
    ['?domain_id=OWN&tag=other', 1],
    ['?interval=month', 3],
    ['?interval=hour', 3],
    ['?interval=hour&from=2026-11-21T12:00:00Z&to=2026-11-21T13:00:00Z', 2],
    ['?interval=hour&from=2026-11-21T12:59:59Z&to=2026-11-21T12:59:59.5Z', 2],
    ['?interval=hour&from=2026-11-21T11:00:00Z&to=2026-11-21T12:00:00Z', 1],
    ['?from=2026-11-22&to=2026-11-23', 0],
    ['?to=2026-11-21', 0],
    ['?from=2026-11-21', 3],
  ]
  test.each(CASES)('%s counts %p', async (query, delivered) => {
    const api = await start()
    await addEvent(api, api.own, 'message.delivered')
    await addEvent(api, api.own, 'message.delivered')
    await addEvent(api, api.own, 'message.delivered', { at: START - 1, tags: ['other'] })
    await addEvent(api, api.own, 'message.delivered', { mode: 'test' })
    await addEvent(api, api.other, 'message.delivered')
    const { totals } = await api.read(query.replace('OWN', api.own.domain.id))
    expect(totals.delivered).toBe(delivered)
  })

  test.each(['zz', 'dom_00000000000000000000000000'])('an unknown domain (%s) gets 404', async (id) => {
    const { ask, own } = await start()
    expect((await ask('GET', `/v1/stats?domain_id=${id}`, { key: own.keys.read })).status).toBe(404)
  })

  test('months have their true lengths', async () => {
    const { read } = await start()
    const { data } = await read('?interval=month&from=2024-01-31&to=2024-04-01')
    const starts = ['2024-01-01', '2024-02-01', '2024-03-01'].map((day) => `${day}T00:00:00.000Z`)
    expect(data.map((each: { period_start: string }) => each.period_start)).toEqual(starts)
  })
})

test('accepted and suppressed count recipients', async () => {
  const api = await start()
  const { organization, domain } = api.own
  const filter = { organizationId: organization.id, domainId: null, tag: null, mode: 'live' as const }
  expect((await api.store.stats.hours(filter, [START]))[0]!.accepted).toBe(0)
  const records = createRecords()
  const of = { organizationId: organization.id, domainId: domain.id, createdAt: START }
  const event = records.event({ ...of, type: 'message.suppressed', body: '{"data":{}}' })
  const message = records.accepted({
    ...of,
    deliveries: [{}, { status: 'suppressed', nextAttemptAt: null }],
  })
  const volume = { organizationId: organization.id, month: '2026-11', count: 1, limit: -1 }
  await api.store.messages.accept([{ ...message, events: [event] }], volume)
  expect((await api.read()).totals).toMatchObject({ accepted: 2, suppressed: 1 })
})

test('groups have the counts and rates of the whole range; beyond a hundred their sum is other', async () => {
  const api = await start()
  const bulk = { stream: 'bulk' }
  await addEvent(api, api.own, 'message.delivered', { tags: ['news'], data: bulk })
  await addEvent(api, api.own, 'message.bounced', { tags: [], data: { ...bulk, bounce_type: 'hard' } })
  await addEvent(api, api.own, 'message.delivered', { tags: ['news'], at: START - DAY })
  await addEvent(api, api.other, 'message.delivered', { tags: ['foreign'], data: { stream: 'foreign' } })
  const { totals, groups, other } = await api.read('?group_by=stream')
  expect(groups).toEqual([
    { key: 'bulk', name: 'bulk', ...NONE, ...NO_RATES, ...halves({ delivered: 1, bounced: 1, hard_bounced: 1 }) },
    { key: 'transactional', name: 'transactional', ...NONE, ...NO_RATES, delivered: 1, delivery_rate: 1 },
  ])
  expect([totals.delivered, other]).toEqual([2, null])
  const { domain } = api.own
  expect((await api.read('?group_by=domain')).groups).toMatchObject([
    { key: domain.id, name: domain.name, delivered: 2 },
  ])
  expect((await api.read('?group_by=tag&from=2026-11-21')).groups).toMatchObject([{ key: 'news', delivered: 1 }])
  expect((await api.read('?group_by=stream&mode=test')).groups).toEqual([])
  expect(await api.read()).not.toHaveProperty('groups')

  const tags = Array.from({ length: 102 }, (_, n) => `tag${n}`)
  await addEvent(api, api.own, 'message.complained', { tags })
  const many = await api.read('?group_by=tag&interval=hour&from=2026-11-21T12:00Z&to=2026-11-21T13:00Z')
  expect([many.groups.length, many.other.complained + many.other.delivered]).toEqual([100, 3])
})

test('templates have their names, and other has the recipients for which no provider is known', async () => {
  const api = await start()
  const records = createRecords()
  const { organization, domain } = api.own
  const of = { organizationId: organization.id, domainId: domain.id, templateId: 'tpl_gone' }
  const message = records.accepted({ ...of, deliveries: [{}, {}] })
  const volume = { organizationId: organization.id, month: '2026-11', count: 1, limit: -1 }
  await api.store.messages.accept([message], volume)
  const [first, second] = await claim(api.store)
  const at = (claimed: typeof first, mxHost: string | null) => {
    const events = [messageEvent(api.mintId('evt'), 'message.bounced', message.message, 'b@dest.example', START, {})]
    const record = recordOf(claimed!, BOUNCED, { events, templateId: 'tpl_gone' })
    return api.store.deliveries.record({ ...record, attempt: { ...record.attempt, mxHost } })
  }
  await at(first, 'hotmail-com.olc.protection.outlook.com')
  await at(second, null)
  expect(await api.read('?group_by=template')).toMatchObject({
    groups: [{ key: 'tpl_gone', name: null, accepted: 2, bounced: 2 }],
    other: null,
  })
  expect(await api.read('?group_by=provider')).toMatchObject({
    groups: [{ key: 'microsoft', name: 'microsoft', accepted: 1, bounced: 1, bounce_rate: 1 }],
    other: { accepted: 1, bounced: 1 },
  })
  const key = api.other.keys.read
  const foreign = await api.ask('GET', '/v1/stats?group_by=provider', { key })
  expect(foreign.body).toMatchObject({ groups: [], other: null })
})

const halves = (counts: object) => ({ ...counts, delivery_rate: 0.5, bounce_rate: 0.5 })

describe('refused requests', () => {
  const CASES: [query: string, field: string][] = [
    ['?interval=week', 'interval'],
    ['?interval=hour&from=2026-01-01&to=2026-03-01', 'from'],
    ['?from=2020-01-01&to=2026-01-01', 'from'],
    ['?interval=month&from=2010-01-01&to=2026-01-01', 'from'],
    ['?from=2026-11-21&to=2026-11-21', 'to'],
    ['?from=2026-11-22&to=2026-11-21', 'to'],
    ['?from=yesterday', 'from'],
    ['?tag=', 'tag'],
    ['?mode=both', 'mode'],
    ['?limit=5', 'limit'],
    ['?group_by=key', 'group_by'],
    ['?group_by=stream&tag=news', 'group_by'],
    ['?group_by=tag&stream=bulk', 'group_by'],
    ['?group_by=provider&tag=news', 'group_by'],
    ['?group_by=template&from=2026-08-01&to=2026-12-01', 'from'],
    ['?group_by=tag&from=2026-08-01&to=2026-12-01', 'from'],
    ['?group_by=domain&interval=month&from=2025-01-01&to=2026-12-01', 'from'],
  ]
  test.each(CASES)('%s gets 400 with field %s', async (query, field) => {
    const { ask, key } = await start()
    const { status, body } = await ask('GET', `/v1/stats${query}`, { key })
    expect([status, body.error.code, body.error.field]).toEqual([400, 'validation_error', field])
  })

  test('the maximum number of periods is answered, one more is not', async () => {
    const { ask, key, read } = await start()
    expect((await read('?interval=hour&from=2026-01-01T00:00:00Z&to=2026-02-11T16:00:00Z')).data).toHaveLength(1000)
    const more = await ask('GET', '/v1/stats?interval=hour&from=2026-01-01T00:00:00Z&to=2026-02-11T16:00:01Z', { key })
    expect(more.status).toBe(400)
  })

  test('a request without a key gets 401, a key that may only send 403, a domain of another organization 403', async () => {
    const { ask, own, other, key } = await start()
    expect((await ask('GET', '/v1/stats', { key: null })).status).toBe(401)
    for (const keys of [own.keys.send, own.keys.manage])
      expect((await ask('GET', '/v1/stats', { key: keys })).status).toBe(403)
    expect((await ask('GET', '/v1/stats', { key: own.keys.admin })).status).toBe(200)
    const theirs = await ask('GET', `/v1/stats?domain_id=${other.domain.id}`, { key })
    expect([theirs.status, theirs.body.error.code]).toEqual([403, 'forbidden'])
  })
})
