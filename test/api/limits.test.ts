import { afterEach, expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { makeConfig } from '../../src/config/load.ts'
import { FIXED_LIMITS, PLAN_LIMITS } from '../../src/model/limits.ts'
import { type Plan, UNLIMITED_PLAN } from '../../src/model/organization.ts'
import { silentLog } from '../../src/os/log.ts'
import type { Store } from '../../src/storage/store.ts'
import { Audit } from '../../src/web/api/audit.ts'
import { createTestApi, START, type TestApi } from '../support/api.ts'

let api: TestApi | null = null
afterEach(async () => {
  await api?.close()
  api = null
})
const start = async (limits: Partial<Plan>) => {
  api = await createTestApi({ limits: { ...UNLIMITED_PLAN, ...limits } })
  return api
}

const HOOK = { url: 'https://hooks.example.com/x', events: ['message.delivered'] }
const ROUTE = { name: 'r', match: { type: 'catch_all' }, action: { type: 'store' } }
const CASES: [name: string, limits: Partial<Plan>, path: string, body: (at: number, api: TestApi) => object][] = [
  ['webhooks', { webhooks: 2 }, '/v1/webhooks', () => HOOK],
  ['inbound_routes', { inboundRoutes: 2 }, '/v1/inbound-routes', () => ROUTE],
  ['templates', { templates: 2 }, '/v1/templates', (at) => ({ name: `t${at}`, text: 'x' })],
  ['suppressions', { suppressions: 2 }, '/v1/suppressions', (at) => ({ email: `a${at}@x.example` })],
  [
    'api_keys',
    { apiKeys: 6 },
    '/v1/api-keys',
    (at, { own }) => ({ name: `k${at}`, domain_id: own.domain.id, permissions: ['read'] }),
  ],
]

// threat: tenant-object-limits
test.each(CASES)('a request for %s beyond the plan gets 422 with the limit', async (name, limits, path, body) => {
  const made = await start(limits)
  const { key = made.own.keys.admin } = {}
  const statuses: number[] = []
  let refused = null
  for (let at = 0; at < 4; at++) {
    const answer = await made.ask('POST', path, { key, body: body(at, made), headers: { 'x-request-id': 'r' } })
    statuses.push(answer.status)
    if (answer.status === 422) refused = answer.body.error
  }
  expect(statuses).toEqual([201, 201, 422, 422])
  const limit = Object.values(limits)[0]!
  expect(refused).toMatchObject({
    code: 'quota_exceeded',
    details: { limit_name: name, limit, used: limit, resets_at: null, request_id: 'r' },
  })
  const { usage } = (await made.ask('GET', '/v1/usage', { key })).body
  expect(usage[name]).toBe(limit)
})

test('a template that would pass the stored bytes is refused, and so is a new version of one', async () => {
  const made = await start({ storedBytes: 1000 })
  const key = made.own.keys.admin
  const { body } = await made.ask('POST', '/v1/templates', { key, body: { name: 't', text: 'x'.repeat(600) } })
  const more = await made.ask('PATCH', `/v1/templates/${body.id}`, { key, body: { text: 'y'.repeat(600) } })
  expect([more.status, more.body.error.details.limit_name]).toEqual([422, 'stored_bytes'])
  const renamed = await made.ask('PATCH', `/v1/templates/${body.id}`, { key, body: { name: 'u' } })
  expect(renamed.status).toBe(200)
})

test('an import ends at the limit and reports how many were added', async () => {
  const made = await start({ suppressions: 2 })
  const csv = `email\n${['a', 'b', 'c'].map((name) => `${name}@x.example`).join('\n')}\n`
  const { status, body } = await made.ask('POST', '/v1/suppressions/import', {
    key: made.own.keys.admin,
    body: { csv },
  })
  expect([status, body.error.details]).toMatchObject([422, { limit_name: 'suppressions', limit: 2, used: 2, added: 2 }])
})

// threat: audit-log-flood
test('refused requests add at most a fixed number of entries an hour to the audit log', async () => {
  const made = await start({})
  const { key } = { key: made.own.keys.admin }
  for (let n = 0; n < FIXED_LIMITS.refusalsPerHour + 20; n++) {
    await made.ask('DELETE', '/v1/webhooks/whk_01m7ykx6js1zy8zpzy8z8cwhzy', { key })
  }
  let entries = 0
  for (let query = '?limit=100'; query !== ''; ) {
    const { body } = await made.ask('GET', `/v1/audit-log${query}`, { key })
    entries += body.data.length
    query = body.has_more ? `?limit=100&cursor=${body.next_cursor}` : ''
  }
  expect(entries).toBe(FIXED_LIMITS.refusalsPerHour)
  expect(START).toBeNumber()
})

// threat: audit-log-flood
test('changes add at most a fixed number of entries a day to the audit log, and deletions continue', async () => {
  const taken: string[] = []
  const audit = new Audit({
    auditLog: {
      during: (_, work) => work(),
      put: async ({ outcome }) => void taken.push(outcome),
    } as Store['auditLog'],
    mintId: () => 'aud_01m7ykx6js1zy8zpzy8z8cwhzy',
    log: silentLog,
  })
  const ask = (
    method: 'PATCH' | 'DELETE',
    now: number,
    organizationId = 'org_a',
    type: 'api_key' | 'operator' = 'api_key',
  ) =>
    audit
      .record(
        { id: 'webhooks_update', method },
        { organizationId, now, requestId: 'r', params: {} },
        { actor: { type, id: 'x', name: 'x' }, ipAddress: null },
        async () => 'made',
      )
      .catch((thrown) => thrown.reason)
  for (let n = 0; n < FIXED_LIMITS.changesPerDay; n++) await ask('PATCH', START)
  expect(new Set(taken)).toEqual(new Set(['done']))
  expect([await ask('PATCH', START), await ask('DELETE', START)]).toEqual(['rate_limited', 'made'])
  expect([await ask('PATCH', START, 'org_b'), await ask('PATCH', START, 'org_a', 'operator')]).toEqual(['made', 'made'])
  expect(await ask('PATCH', START + 86_400_000)).toBe('made')
})

test('the manual lists every limit of a plan with the defaults of the config, and every fixed number', () => {
  const page = readFileSync(join(import.meta.dir, '../../src/web/manual/plans.md'), 'utf8')
  const section = page.split('## Limits of a plan')[1]!
  const { plans } = makeConfig({ hostname: 'mail.example.com' })
  const words = (value: number, name: string) =>
    value < 0 ? '–' : name === 'stored_bytes' ? `${value / 1e9} GB` : value.toLocaleString('en-US')
  for (const [name, { of }] of Object.entries(PLAN_LIMITS)) {
    const cells = ['free', 'starter', 'pro', 'enterprise'].map((plan) => words(plans[plan]![of], name))
    expect(section).toContain(`| \`${name}\` | ${cells.join(' | ')} |`)
  }
  for (const [name, value] of Object.entries(FIXED_LIMITS)) {
    expect([name, new RegExp(`\\b${value.toLocaleString('en-US')}\\b`).test(section)]).toEqual([name, true])
  }
})
