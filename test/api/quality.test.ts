import { afterEach, expect, test } from 'bun:test'
import { type Event, messageEvent } from '../../src/model/event.ts'
import type { Mode } from '../../src/model/message.ts'
import { watchQuality } from '../../src/operating/maintenance/quality.ts'
import { qualityOperations } from '../../src/web/api/routes/quality.ts'
import { createTestApi, START, type Tenant, type TestApi } from '../support/api.ts'

const MINUTE = 60_000
const SETTINGS = { bounceRate: 0.2, complaintRate: 0.1, minSent: 5, windowHours: 1, stopSending: false }

const open: TestApi[] = []
afterEach(async () => {
  for (const api of open.splice(0)) await api.close()
})
async function start(settings: Partial<typeof SETTINGS> = {}) {
  const quality = { ...SETTINGS, ...settings }
  const api = await createTestApi({ operations: ({ store }) => qualityOperations({ store, config: { quality } }) })
  open.push(api)
  const { store, mintId, clock } = api
  const key = api.own.keys.read
  return {
    ...api,
    key,
    read: async () => (await api.ask('GET', '/v1/quality', { key })).body.data,
    /** Checks the rates as the server does every 15 s. */
    watch: (at = clock.now()) => watchQuality(at, { store, mintId, settings: quality }),
    /** Resolves with the published alerts, oldest first. */
    published: async () => {
      const none = { messageId: null, domainId: null, mode: null, createdAfter: null, createdBefore: null }
      const filter = { organizationId: api.own.organization.id, type: 'quality.alert' as const, ...none }
      const page = await store.events.feed(filter, null, 99)
      return page!.records.map(({ body }: Event) => JSON.parse(body))
    },
  }
}

type Outcome = 'delivered' | 'hard' | 'soft' | 'complained'
async function addOutcomes(
  api: TestApi,
  tenant: Tenant,
  outcomes: Outcome[],
  mode: Mode = 'live',
  at = api.clock.now(),
) {
  const { organization, domain } = tenant
  const message = {
    id: 'msg_a',
    organizationId: organization.id,
    domainId: domain.id,
    mode,
    from: '',
    subject: '',
    metadata: {},
    tags: [],
  }
  const event = (outcome: Outcome) => {
    const isBounce = outcome === 'hard' || outcome === 'soft'
    const fields = isBounce ? { bounce_type: outcome, will_retry: false } : {}
    return messageEvent(
      api.mintId('evt'),
      isBounce ? 'message.bounced' : `message.${outcome}`,
      message,
      'b@d.example',
      at,
      fields,
    )
  }
  await api.store.events.append(outcomes.map(event))
}

const times = (count: number, outcome: Outcome): Outcome[] => Array.from({ length: count }, () => outcome)

test('a domain without mail has figures of zero and no alerts', async () => {
  const { read, own } = await start()
  expect(await read()).toEqual([
    {
      domain_id: own.domain.id,
      domain: 'own.example',
      sent: 0,
      hard_bounced: 0,
      delivered: 0,
      complained: 0,
      bounce_rate: 0,
      complaint_rate: 0,
      thresholds: { bounce_rate: 0.2, complaint_rate: 0.1, min_sent: 5 },
      window_hours: 1,
      sending_stopped: false,
      alerts: [],
    },
  ])
})

test('an alert starts once, ends once when the window has moved on, and is published both times', async () => {
  const api = await start()
  const { own, watch, published, read, clock } = api
  await addOutcomes(api, own, [...times(3, 'hard'), ...times(2, 'delivered')])
  expect(await published()).toEqual([])
  expect([await watch(), await watch()]).toEqual([true, false])
  const firing = {
    alert_id: expect.stringMatching(/^alr_[0-9a-z]{26}$/),
    domain_id: own.domain.id,
    domain: 'own.example',
    metric: 'bounce_rate',
    value: 0.6,
    threshold: 0.2,
    window_hours: 1,
    sent: 5,
    affected: 3,
    state: 'firing',
    triggered_at: new Date(START).toISOString(),
  }
  const [first] = await published()
  expect(first).toEqual({ id: first.id, type: 'quality.alert', timestamp: new Date(START).toISOString(), data: firing })
  const { domain_id, domain, ...alert } = first.data
  expect(await read()).toMatchObject([
    { sent: 5, hard_bounced: 3, bounce_rate: 0.6, sending_stopped: false, alerts: [{ ...alert, resolved_at: null }] },
  ])

  await clock.advance(60 * MINUTE - 1)
  expect(await watch()).toBe(false)
  await clock.advance(5_001)
  expect([await watch(), await watch()]).toEqual([true, false])
  const [, last] = await published()
  expect(last.data).toEqual({ ...first.data, state: 'resolved', value: 0, sent: 0, affected: 0 })
  expect(last.timestamp).toBe(new Date(clock.now()).toISOString())
  expect(await published()).toHaveLength(2)
  expect((await read())[0].alerts).toMatchObject([
    { alert_id: alert.alert_id, state: 'resolved', resolved_at: last.timestamp },
  ])
  await clock.advance(30 * 86_400_000)
  expect((await read())[0].alerts).toEqual([])
})

test('good mail ends an alert before the window does, and bad mail starts another', async () => {
  const api = await start()
  const { own, watch, published } = api
  await addOutcomes(api, own, [...times(3, 'hard'), ...times(2, 'delivered')])
  await watch()
  await addOutcomes(api, own, times(11, 'delivered')) // 3 of 16: below the threshold, but not by enough to resolve the alert
  expect(await watch()).toBe(false)
  await addOutcomes(api, own, times(3, 'delivered'))
  expect(await watch()).toBe(true)
  await addOutcomes(api, own, times(9, 'hard'))
  expect(await watch()).toBe(true)
  const all = (await published()).map(({ data }) => [data.state, data.affected, data.sent])
  expect(all).toEqual([
    ['firing', 3, 5],
    ['resolved', 3, 19],
    ['firing', 12, 28],
  ])
  expect(new Set((await published()).map(({ data }) => data.alert_id)).size).toBe(2)
})

test('complaints raise a separate alert', async () => {
  const api = await start()
  await addOutcomes(api, api.own, [...times(5, 'delivered'), 'complained'])
  await api.watch()
  const [event, ...others] = await api.published()
  expect(others).toEqual([])
  expect(event.data).toMatchObject({ metric: 'complaint_rate', value: 0.2, threshold: 0.1, sent: 5, affected: 1 })
})

test('too little mail, soft bounces, test mail and other organizations’ mail raise none', async () => {
  const api = await start()
  await addOutcomes(api, api.own, times(4, 'hard'))
  await addOutcomes(api, api.own, times(50, 'hard'), 'test')
  await addOutcomes(api, api.own, times(4, 'soft'), 'test')
  expect(await api.watch()).toBe(false)
  await addOutcomes(api, api.other, times(50, 'hard'))
  expect(await api.watch()).toBe(true)
  expect(await api.published()).toEqual([])
  const soft = await start()
  await addOutcomes(soft, soft.own, times(50, 'soft'))
  expect(await soft.watch()).toBe(false)
})

test('the alert of a deleted domain ends', async () => {
  const api = await start()
  await addOutcomes(api, api.own, times(5, 'hard'))
  await api.watch()
  await api.store.domains.remove(api.own.domain.id, START)
  expect([await api.watch(), await api.watch()]).toEqual([true, false])
  expect((await api.published()).map(({ data }) => [data.state, data.domain])).toEqual([
    ['firing', 'own.example'],
    ['resolved', 'own.example'],
  ])
})

test('the answer says so where alerts stop mail', async () => {
  const api = await start({ stopSending: true })
  await addOutcomes(api, api.own, times(5, 'hard'))
  expect((await api.read())[0].sending_stopped).toBe(false)
  await api.watch()
  expect((await api.read())[0].sending_stopped).toBe(true)
})

test('domains are listed in pages, newest first, without those of others', async () => {
  const { ask, store, own, other, mintId } = await start()
  const key = own.keys.admin // a key without admin sees its own domain only
  const second = {
    ...own.domain,
    id: mintId('dom'),
    name: 'second.example',
    returnPathHost: 'b.second.example',
    dkim: [],
  }
  await store.domains.create(second, -1)
  const ids: string[] = []
  let cursor = ''
  for (let pages = 0; pages < 2; pages++) {
    const { body } = await ask('GET', `/v1/quality?limit=1${cursor}`, { key })
    ids.push(...body.data.map((each: { domain_id: string }) => each.domain_id))
    expect(body.has_more).toBe(pages === 0)
    cursor = `&cursor=${body.next_cursor}`
  }
  expect(ids).toEqual([own.domain.id, second.id].sort().reverse())
  expect(ids).not.toContain(other.domain.id)
})

test('a request without a key gets 401, a key that may only send or manage 403, an unknown parameter 400', async () => {
  const { ask, own, key } = await start()
  expect((await ask('GET', '/v1/quality', { key: null })).status).toBe(401)
  for (const each of [own.keys.send, own.keys.manage])
    expect((await ask('GET', '/v1/quality', { key: each })).status).toBe(403)
  expect((await ask('GET', '/v1/quality?domain=x', { key })).body.error.field).toBe('domain')
})
