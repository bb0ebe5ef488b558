import { afterEach, expect, test } from 'bun:test'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Plan, UNLIMITED_PLAN } from '../../src/model/organization.ts'
import type { Template } from '../../src/model/template.ts'
import { openStore } from '../../src/storage/sqlite/open.ts'
import type { Store } from '../../src/storage/store.ts'
import { claimDue } from '../support/claim.ts'
import { slowness } from '../support/cpu-cost.ts'
import { createRecords, ORGANIZATION, type Records, START } from './records.ts'

/** Counters of a store in SQLite, over many transactions and restarts; contract-limits.ts tests the limits of a plan. */

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

let templates = 0
const template = (): Template => ({
  id: `tpl_${String(++templates).padStart(26, '0')}`,
  organizationId: ORGANIZATION,
  mode: 'live',
  kind: 'message',
  alias: null,
  name: 'A template',
  sample: {},
  subject: 'Hello',
  html: '<p>Hello</p>',
  text: null,
  variables: [],
  layout: null,
  mjml: null,
  uses: [],
  locales: {},
  version: 1,
  createdAt: START,
  updatedAt: START,
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
  const cpuMs = () => (process.threadCpuUsage().user + process.threadCpuUsage().system) / 1000
  let longest = 0
  for (let isMore = true; isMore; ) {
    const before = cpuMs()
    isMore = await store.webhookDeliveries.fanOutSome()
    longest = Math.max(longest, cpuMs() - before)
  }
  for (const [at, hook] of hooks.entries()) {
    const expected = at === 651 ? [] : at === 650 ? events : [...events, after]
    expect((await of(hook.id)).map(({ eventId }) => eventId)).toEqual(expected.map(({ id }) => id).reverse())
  }
  expect(await of(late.id)).toMatchObject([{ eventId: after.id }])
  // ms of CPU; 6 on an idle machine
  if (longest >= 250) expect(longest).toBeLessThan(250 * (await slowness()))

  // Running it twice is harmless, and nothing is left behind.
  await store.events.append(events)
  expect(await store.webhookDeliveries.fanOutSome()).toBe(false)
  expect(await of(hooks[0]!.id)).toHaveLength(4)
})
