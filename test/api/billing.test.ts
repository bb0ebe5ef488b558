import { afterEach, describe, expect, test } from 'bun:test'
import { createTestApi, START, type TestApi } from '../support/api.ts'

let made: TestApi | null = null
afterEach(async () => {
  await made?.close()
  made = null
})
const start = async (plan?: string) => {
  made = await createTestApi(plan === undefined ? {} : { plan })
  return made
}

const UNLIMITED = Object.fromEntries(
  [
    ...['requests_per_minute', 'messages_per_month', 'domains', 'retention_days', 'webhooks', 'inbound_routes'],
    ...['templates', 'template_versions', 'api_keys', 'scheduled_messages', 'stored_bytes'],
    ...['test_messages_per_month', 'forwards_per_day', 'suppressions'],
  ].map((name) => [name, -1]),
)
const FREE = {
  ...UNLIMITED,
  dedicated_address: false,
  requests_per_minute: 60,
  messages_per_month: 1000,
  domains: 1,
  retention_days: 7,
}
const ENTERPRISE = { ...UNLIMITED, dedicated_address: false, retention_days: 90 }
/** Usage of a new organization: one domain and the keys of the test. */
const USED = {
  month: '2026-11',
  messages: 0,
  test_messages: 0,
  domains: 1,
  webhooks: 0,
  inbound_routes: 0,
  templates: 0,
  api_keys: 4,
  scheduled_messages: 0,
  stored_bytes: 0,
  suppressions: 0,
  resets_at: '2026-12-01T00:00:00.000Z',
  day: '2026-11-21',
  forwards: 0,
  day_resets_at: '2026-11-22T00:00:00.000Z',
}

/** Counts `count` recipients as accepted in a month, without storing a message. */
const use = ({ store, own }: TestApi, month: string, count: number) =>
  store.messages.accept([], { organizationId: own.organization.id, month, count, limit: -1 })

test('usage shows the plan, its limits and what is used of the month', async () => {
  const server = await start('free')
  await use(server, '2026-10', 900)
  await use(server, '2026-11', 120)
  const { status, body } = await server.ask('GET', '/v1/usage', { key: server.own.keys.read })
  expect(status).toBe(200)
  expect(body).toEqual({
    organization_id: server.own.organization.id,
    plan: 'free',
    limits: FREE,
    usage: { ...USED, messages: 120 },
    dedicated_addresses: [],
  })
})

test('a new month starts with nothing used, also at the turn of the year', async () => {
  const server = await start()
  await use(server, '2026-11', 7)
  await server.clock.advance(Date.UTC(2026, 11, 31, 23, 59, 59, 999) - START)
  const { usage } = (await server.ask('GET', '/v1/usage', { key: server.own.keys.read })).body
  expect(usage).toEqual({
    ...USED,
    month: '2026-12',
    resets_at: '2027-01-01T00:00:00.000Z',
    day: '2026-12-31',
    day_resets_at: '2027-01-01T00:00:00.000Z',
  })
})

test('billing adds every past month, newest first, and nothing of another organization', async () => {
  const server = await start()
  for (const [month, count] of [
    ['2026-09', 5],
    ['2026-10', 6],
    ['2026-11', 7],
  ] as const)
    await use(server, month, count)
  const { body } = await server.ask('GET', '/v1/billing', { key: server.own.keys.admin })
  expect(body).toEqual({
    organization_id: server.own.organization.id,
    plan: 'enterprise',
    limits: ENTERPRISE,
    usage: { ...USED, messages: 7 },
    dedicated_addresses: [],
    past_months: [
      { month: '2026-10', messages: 6 },
      { month: '2026-09', messages: 5 },
    ],
    self_service_plans: [
      { plan: 'free', limits: FREE },
      { plan: 'enterprise', limits: ENTERPRISE },
    ],
  })
  const theirs = (await server.ask('GET', '/v1/billing', { key: server.other.keys.admin })).body
  expect([theirs.organization_id, theirs.usage.messages, theirs.past_months]).toEqual([
    server.other.organization.id,
    0,
    [],
  ])
})

describe('changing the plan', () => {
  const change = (plan: unknown, { ask, own } = made!) =>
    ask('PATCH', '/v1/billing', { key: own.keys.admin, body: { plan } })

  test('works among the plans of self service, and applies at once', async () => {
    const server = await start()
    const { status, body } = await change('free')
    expect([status, body.plan, body.limits]).toEqual([200, 'free', FREE])
    expect((await server.ask('GET', '/v1/usage', { key: server.own.keys.read })).body.plan).toBe('free')
    const refused = await server.ask('POST', '/v1/domains', { body: { name: 'second.example' } })
    expect([refused.status, refused.body.error.code]).toEqual([422, 'quota_exceeded'])
    expect((await change('free')).status).toBe(200)
    expect((await change('enterprise')).body.plan).toBe('enterprise')
  })

  test('gets 403 to a plan that only the operator assigns', async () => {
    const server = await start()
    const { status, body } = await change('internal')
    expect([status, body.error.code, body.error.field]).toEqual([403, 'forbidden', 'plan'])
    expect((await server.ask('GET', '/v1/usage', { key: server.own.keys.read })).body.plan).toBe('enterprise')
  })

  test.each([['nobody'], [5], [undefined], [null]])('gets 400 to %p', async (plan) => {
    await start()
    const { status, body } = await change(plan)
    expect([status, body.error.code, body.error.field]).toEqual([400, 'validation_error', 'plan'])
  })

  test('gets 400 for an unknown field', async () => {
    const { ask, own } = await start()
    const body = { plan: 'free', seats: 3 }
    const answer = await ask('PATCH', '/v1/billing', { key: own.keys.admin, body })
    expect([answer.status, answer.body.error.field]).toEqual([400, 'seats'])
  })
})
