import { afterEach, expect, test } from 'bun:test'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Plan, UNLIMITED_PLAN } from '../../src/model/organization.ts'
import type { Template } from '../../src/model/template.ts'
import { openStore } from '../../src/storage/sqlite/open.ts'
import type { Store } from '../../src/storage/store.ts'
import { claimDue } from '../support/claim.ts'
import { createRecords, DOMAIN, ORGANIZATION, type Records, START } from './records.ts'

/** Limits of a plan are checked inside the transactions that create: parallel creates end at exactly the limit. */

let store: Store
let records: Records
let folder: string | null = null
afterEach(async () => {
  await store.close()
  if (folder !== null) rmSync(folder, { recursive: true })
  folder = null
})
const open = async (plan: Partial<Plan>, dataDir = ':memory:') => {
  store = await openStore({ dataDir, now: START, plans: () => ({ ...UNLIMITED_PLAN, ...plan }) })
  records = createRecords()
  await store.organizations.create(records.organization({ id: ORGANIZATION }))
  await store.organizations.create(records.organization({ id: 'org_b' }))
}
const SPACE = { organizationId: ORGANIZATION, month: '2026-11', count: 0, limit: -1 }
const accept = (change: Parameters<Records['accepted']>[0] = {}) =>
  store.messages.accept([records.accepted(change)], SPACE)
const used = async () => store.usage.of(ORGANIZATION, START)
const isDone = (result: unknown) => typeof result === 'string' || (result as { kind: string }).kind !== 'limit'

let templates = 0
const template = (): Template => ({
  id: `tpl_${String(++templates).padStart(26, '0')}`,
  organizationId: ORGANIZATION,
  mode: 'live',
  alias: null,
  name: 'A template',
  subject: 'Hello',
  html: '<p>Hello</p>',
  text: null,
  variables: [],
  version: 1,
  createdAt: START,
  updatedAt: START,
})

const CREATES: [name: string, limit: keyof Plan, create: () => Promise<unknown>, count: () => Promise<number>][] = [
  [
    'webhooks',
    'webhooks',
    () => store.webhooks.create(records.webhook(), 'whsec_a'),
    () => store.webhooks.count(ORGANIZATION),
  ],
  [
    'inbound_routes',
    'inboundRoutes',
    () => store.inboundRoutes.create(records.inboundRoute(), 'whsec_a'),
    () => store.inboundRoutes.count(ORGANIZATION),
  ],
  ['templates', 'templates', () => store.templates.create(template()), () => store.templates.count(ORGANIZATION)],
  [
    'api_keys',
    'apiKeys',
    () => store.apiKeys.create(records.apiKey(), records.hash()),
    () => store.apiKeys.count(ORGANIZATION, START),
  ],
  [
    'suppressions',
    'suppressions',
    () => store.suppressions.add(records.suppression({ email: `${Math.random()}@x.example` })),
    async () => (await used()).suppressions,
  ],
  [
    'scheduled_messages',
    'scheduledMessages',
    () => accept({ status: 'scheduled', scheduledAt: START + 60_000 }),
    async () => (await used()).scheduledMessages,
  ],
  [
    'test_messages_per_month',
    'testMessagesPerMonth',
    () => accept({ mode: 'test' }),
    async () => (await used()).testMessages,
  ],
]

// threat: tenant-object-limits
test.each(CREATES)('50 parallel creates of %s end at exactly the limit', async (name, key, create, count) => {
  await open({ [key]: 7 })
  const results = await Promise.all(Array.from({ length: 50 }, create))
  expect(results.filter(isDone)).toHaveLength(7)
  expect(await count()).toBe(7)
  expect(results.find((each) => !isDone(each))).toEqual({ kind: 'limit', name, limit: 7, used: 7 } as never)
})

// threat: tenant-stored-bytes
test('50 parallel messages end within the storage limit', async () => {
  await open({ storedBytes: 20_000 })
  const results = await Promise.all(Array.from({ length: 50 }, () => accept()))
  const each = (await used()).storedBytes / results.filter(isDone).length
  expect(results.filter(isDone)).toHaveLength(Math.floor(20_000 / each))
  expect((await used()).storedBytes).toBeLessThanOrEqual(20_000)
})

test('the limit of one organization does not affect another one', async () => {
  await open({ webhooks: 1 })
  await store.webhooks.create(records.webhook(), 'whsec_a')
  expect(await store.webhooks.create(records.webhook({ organizationId: 'org_b' }), 'whsec_a')).toBe('created')
  expect(await store.webhooks.create(records.webhook(), 'whsec_a')).toMatchObject({ kind: 'limit' })
})

test('removal frees capacity', async () => {
  await open({ webhooks: 1, suppressions: 1 })
  const hook = records.webhook()
  await store.webhooks.create(hook, 'whsec_a')
  await store.webhooks.remove(hook.id)
  expect(await store.webhooks.create(records.webhook(), 'whsec_a')).toBe('created')
  const one = records.suppression()
  await store.suppressions.add(one)
  expect(await store.suppressions.remove([one.id, one.id])).toBe(1)
  expect(await store.suppressions.add(records.suppression({ email: 'b@x.example' }))).toEqual({ kind: 'added' })
})

test('an import ends at the limit; existing addresses do not count', async () => {
  await open({ suppressions: 2 })
  const of = (email: string) => records.suppression({ email })
  const list = ['a@x.example', 'b@x.example', 'a@x.example', 'c@x.example', 'd@x.example'].map(of)
  expect(await store.suppressions.addAll(list)).toEqual({
    added: 2,
    limit: { kind: 'limit', name: 'suppressions', limit: 2, used: 2 },
  })
  expect(await store.suppressions.addAll(['b@x.example', 'a@x.example'].map(of))).toEqual({ added: 0, limit: null })
  expect(await store.suppressions.add(of('a@x.example'))).toMatchObject({ kind: 'exists' })
})

test('all keys in use can still be rotated at the maximum number of keys', async () => {
  await open({ apiKeys: 2 })
  const keys = [records.apiKey(), records.apiKey()]
  for (const key of keys) await store.apiKeys.create(key, records.hash())
  const rotate = async (old: string, fresh = records.apiKey()) => {
    const result = await store.apiKeys.rotate(old, fresh, records.hash(), START + 60_000, START)
    return { result, fresh }
  }
  const first = await rotate(keys[0]!.id)
  const second = await rotate(keys[1]!.id)
  expect([first.result, second.result]).toEqual(['rotated', 'rotated'])
  // A chain of rotations cannot create any number of keys.
  expect((await rotate(first.fresh.id)).result).toMatchObject({ kind: 'limit', name: 'api_keys', used: 2 })
  const now = START + 60_001
  expect(await store.apiKeys.rotate(first.fresh.id, records.apiKey(), records.hash(), now, now)).toBe('rotated')
})

// threat: tenant-dead-keys
test('the newest thousand revoked keys are kept', async () => {
  await open({ apiKeys: 1 })
  const first = records.apiKey()
  for (let n = 0; n < 1010; n++) {
    const key = n === 0 ? first : records.apiKey()
    await store.apiKeys.create(key, records.hash())
    await store.apiKeys.revoke(key.id, START)
  }
  expect(await store.apiKeys.get(first.id)).toBeNull()
  let kept = 0
  for (let after: string | null = null; ; ) {
    const page = await store.apiKeys.list(ORGANIZATION, { limit: 100, after })
    kept += page.records.length
    if (!page.hasMore) break
    after = page.records.at(-1)!.id
  }
  expect(kept).toBe(1001)
})

test('as many versions of a template are kept as the plan says, with the current one', async () => {
  await open({ templateVersions: 3 })
  const made = template()
  await store.templates.create(made)
  for (let version = 1; version <= 9; version++) {
    const content = { subject: null, html: `<p>${version}</p>`, text: null, variables: [] }
    expect(await store.templates.update(made.id, version, { content }, START)).toMatchObject({ kind: 'updated' })
  }
  const { records: kept } = await store.templates.versions(made.id, { limit: 100, before: null })
  expect(kept.map(({ version }) => version)).toEqual([10, 9, 8])
  expect((await store.templates.get(made.id))?.html).toBe('<p>9</p>')
})

test('a scheduled message counts until it is cancelled, tried or removed', async () => {
  await open({ scheduledMessages: 2 })
  const scheduled = { status: 'scheduled' as const, scheduledAt: START + 60_000 }
  const one = records.accepted(scheduled)
  for (const delivery of one.deliveries) Object.assign(delivery, { status: 'scheduled', nextAttemptAt: START + 60_000 })
  await store.messages.accept([one], SPACE)
  await accept(scheduled)
  expect(await accept(scheduled)).toMatchObject({ kind: 'limit', name: 'scheduled_messages' })
  expect(await accept()).toEqual({ kind: 'accepted' })
  expect(await store.messages.cancel(one.message.id, START)).toBe('cancelled')
  expect((await used()).scheduledMessages).toBe(1)
})

test('a sample event counts as a test message', async () => {
  await open({ testMessagesPerMonth: 2 })
  const hook = records.webhook()
  await store.webhooks.create(hook, 'whsec_a')
  const sample = () => store.events.appendSample(records.event({ mode: 'test' }), hook.id, '2026-11')
  expect(await Promise.all([sample(), sample(), sample()])).toMatchObject(['appended', 'appended', { kind: 'limit' }])
})

test('a webhook gets at most ten deliveries of one event, and a hundred attempts', async () => {
  await open({})
  const hook = records.webhook()
  await store.webhooks.create(hook, 'whsec_a')
  await store.events.append([records.event()])
  const range = { from: START - 1, before: START + 1_000_000, type: null, afterEvent: null }
  let queued = 1
  for (let at = 1; at < 30; at++) {
    const now = START + at * 1000
    const [claim] = await claimDue(store.webhookDeliveries, {
      now,
      limit: 1,
      worker: 'w',
      freeFor: () => 1,
    })
    if (claim !== undefined) {
      await store.webhookDeliveries.record({
        deliveryId: claim.id,
        worker: 'w',
        attempt: { number: 1, at: now, durationMs: 1, statusCode: 200, error: null, responseExcerpt: null },
        status: 'delivered',
        nextAttemptAt: null,
        pauseReason: null,
        now,
      })
    }
    queued += (await store.webhookDeliveries.replay(hook.id, range, 100, now)).queued
  }
  expect(queued).toBe(10)
})

// threat: inbound-storage-full
test('inbound mail is refused at the storage limit of an organization, and accepted for another one', async () => {
  await open({ storedBytes: 5000 })
  const route = records.inboundRoute()
  const other = records.inboundRoute({ organizationId: 'org_b' })
  for (const each of [route, other]) await store.inboundRoutes.create(each, 'secret')
  const results: Awaited<ReturnType<Store['inbound']['accept']>>[] = []
  for (let n = 0; n < 5; n++) results.push(await store.inbound.accept(records.acceptedInbound([route])))
  // The last one that starts within the limit may exceed it; otherwise one large mail would be refused forever.
  expect(results.map((result) => (typeof result === 'string' ? result : result.name))).toEqual([
    'accepted',
    'accepted',
    'accepted',
    'stored_bytes',
    'stored_bytes',
  ])
  expect([await store.usage.isStorageFull(ORGANIZATION), await store.usage.isStorageFull('org_b')]).toEqual([
    true,
    false,
  ])
  expect(await store.inbound.accept(records.acceptedInbound([other]))).toBe('accepted')
})

test('stored bytes return to zero when everything is removed', async () => {
  await open({})
  for (let n = 0; n < 5; n++) await accept({ status: 'delivered' })
  const route = records.inboundRoute({ action: { type: 'store', config: {} } })
  await store.inboundRoutes.create(route, 'secret')
  await store.inbound.accept(records.acceptedInbound([route]))
  const made = template()
  await store.templates.create(made)
  await store.templates.update(
    made.id,
    1,
    { content: { subject: 'x', html: '<p>y</p>', text: null, variables: [] } },
    START,
  )
  const remember = records.remember({ body: new Uint8Array(1000) })
  await store.messages.accept([], SPACE, remember)
  await store.messages.accept([], SPACE, { ...remember, body: new Uint8Array(10) })
  expect((await used()).storedBytes).toBeGreaterThan(10_000)

  await store.templates.remove(made.id)
  await store.idempotency.prune(START + 1_000_000, 100)
  const request = {
    organizationId: ORGANIZATION,
    before: START + 10_000_000,
    unsubscribableSince: 0,
    timeIsUp: () => false,
  }
  while (await store.retention.remove(request));
  expect((await used()).storedBytes).toBe(0)
})

test('a full count gives the same result, whatever is written and removed meanwhile', async () => {
  await open({})
  const many = async (count: number) => {
    for (let n = 0; n < count; n++) await accept({ status: 'delivered', createdAt: START - 1000 })
  }
  await many(1500)
  await store.templates.create(template())
  while (await store.usage.countSome()); // the one of the new store
  const before = (await used()).storedBytes
  await store.usage.beginCount()
  expect((await used()).storedBytes).toBe(before)
  const request = { organizationId: ORGANIZATION, before: START, unsubscribableSince: 0 }
  let steps = 0
  for (; await store.usage.countSome(); steps++) {
    await many(20)
    // Some counted records, and some uncounted ones, are removed meanwhile.
    let looks = 0
    await store.retention.remove({ ...request, timeIsUp: () => ++looks > 30 })
  }
  expect(steps).toBeGreaterThan(2)
  const counted = (await used()).storedBytes
  await store.usage.beginCount()
  while (await store.usage.countSome());
  expect((await used()).storedBytes).toBe(counted)
  while (await store.retention.remove({ ...request, timeIsUp: () => false }));
  const made = (await store.templates.list(ORGANIZATION, { limit: 1, after: null })).records[0]!
  await store.templates.remove(made.id)
  expect((await used()).storedBytes).toBe(0)
})

test('a wrong counter is corrected by a count', async () => {
  folder = mkdtempSync(join(tmpdir(), 'postrider-limits-'))
  await open({}, folder)
  while (await store.usage.countSome());
  await accept()
  const right = (await used()).storedBytes
  await store.close()
  const { connect } = await import('../../src/storage/sqlite/driver.ts')
  const db = connect(join(folder, 'postrider.db'), { busyTimeoutMs: 0 })
  db.exec(`update usage set used = 12345678 where name = 'stored_bytes'`)
  db.close()
  store = await openStore({ dataDir: folder, now: START })
  expect((await used()).storedBytes).toBe(12_345_678)
  while (await store.usage.countSome()); // the one of the new store
  await store.usage.beginCount()
  while (await store.usage.countSome());
  expect((await used()).storedBytes).toBe(right)
})

// threat: fan-out-slices
test('an event for more webhooks than one transaction takes reaches them all, in order, over a restart', async () => {
  folder = mkdtempSync(join(tmpdir(), 'postrider-limits-'))
  await open({}, folder)
  const hooks = Array.from({ length: 700 }, () => records.webhook())
  for (const hook of hooks) await store.webhooks.create(hook, 'whsec_a')
  const other = records.webhook({ organizationId: 'org_b' })
  await store.webhooks.create(other, 'whsec_a')
  const events = [records.event(), records.event(), records.event()]
  const theirs = records.event({ organizationId: 'org_b' })
  await store.events.append([...events, theirs])

  // Others do not wait behind it.
  const all = { status: null, type: null, createdAfter: null, createdBefore: null }
  const of = async (webhookId: string) => {
    const { records: found } = await store.webhookDeliveries.list({ ...all, webhookId }, { limit: 10, after: null })
    return found.map(({ eventId, id }) => ({ eventId, id }))
  }
  expect(await of(other.id)).toHaveLength(1)
  expect(await of(hooks[0]!.id)).toEqual([])
  expect(await store.webhookDeliveries.fanOutSome()).toBe(true)

  // The webhooks subscribed at that time get it: also one that is paused meanwhile, and none created later.
  await store.webhooks.update(hooks[650]!.id, { status: 'paused' }, START + 1)
  await store.webhooks.remove(hooks[651]!.id)
  const late = records.webhook()
  await store.webhooks.create(late, 'whsec_a')
  await store.close()
  store = await openStore({ dataDir: folder, now: START })
  const after = records.event()
  await store.events.append([after])
  let longest = 0
  for (let isMore = true; isMore; ) {
    const began = performance.now()
    isMore = await store.webhookDeliveries.fanOutSome()
    longest = Math.max(longest, performance.now() - began)
  }
  for (const [at, hook] of hooks.entries()) {
    const expected = at === 651 ? [] : at === 650 ? events : [...events, after]
    expect((await of(hook.id)).map(({ eventId }) => eventId)).toEqual(expected.map(({ id }) => id).reverse())
  }
  expect(await of(late.id)).toMatchObject([{ eventId: after.id }])
  expect(longest).toBeLessThan(250) // 6 ms on an idle machine

  // Running it twice is harmless, and nothing is left behind.
  await store.events.append(events)
  expect(await store.webhookDeliveries.fanOutSome()).toBe(false)
  expect(await of(hooks[0]!.id)).toHaveLength(4)
})

test('forward targets get a few confirmation mails a day, over all organizations, and none after they declined', async () => {
  await open({})
  const ask = (organization: string, email = 'Ann@x.example', at = START) =>
    store.forwardTargets.ask(organization, email, at)
  expect([await ask(ORGANIZATION), await ask('org_b'), await ask(ORGANIZATION, 'ann@X.example')]).toEqual([
    'asked',
    'asked',
    'asked',
  ])
  expect([await ask('org_b'), await ask('org_c')]).toEqual(['too_many', 'too_many'])
  const tomorrow = START + 86_400_000
  expect(await ask('org_b', 'ann@x.example', tomorrow)).toBe('asked')
  await store.forwardTargets.set('org_b', 'ANN@x.example', 'confirmed', tomorrow)
  expect([
    await store.forwardTargets.status('org_b', 'ann@x.example'),
    await ask('org_b', 'ann@x.example', tomorrow),
  ]).toEqual(['confirmed', 'confirmed'])
  await store.forwardTargets.set('org_b', 'ann@x.example', 'stopped', tomorrow)
  expect(await ask('org_b', 'ann@x.example', tomorrow)).toBe('stopped')
  expect(await store.forwardTargets.status(ORGANIZATION, 'ann@x.example')).toBe('pending')

  const many = await Promise.all(Array.from({ length: 120 }, (_, n) => ask('org_d', `v${n}@x.example`)))
  expect(many.filter((result) => result === 'asked')).toHaveLength(100)
  expect(await store.forwardTargets.prune(tomorrow + 1, 1000)).toBe(101)
})

test('forwards count against the day and the month, and end at exactly the limit', async () => {
  await open({ forwardsPerDay: 5 })
  const route = records.inboundRoute({ action: { type: 'forward', config: { to: ['a@x.example'] } } })
  await store.inboundRoutes.create(route, 'secret')
  const mail = () => {
    const accepted = records.acceptedInbound([route])
    for (const each of accepted.taken) {
      each.forward = records.accepted()
      each.deliveryId = null
    }
    return accepted
  }
  const results = await Promise.all(Array.from({ length: 50 }, () => store.inbound.accept(mail())))
  const perMail = mail().taken[0]!.forward!.deliveries.length
  expect(results.filter((each) => each === 'accepted')).toHaveLength(Math.floor(5 / perMail))
  expect((await used()).forwards).toBe(Math.floor(5 / perMail) * perMail)
  expect(await store.messages.volume(ORGANIZATION, '2026-11')).toBe((await used()).forwards)
  expect(DOMAIN).toBeString()
})
