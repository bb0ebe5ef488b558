import { messageEvent } from '../../../src/model/event.ts'
import type { ClaimedDelivery, ClaimedWebhookDelivery, Store } from '../../../src/storage/store.ts'
import { postAttempt, recordOf } from '../../../test/storage/records.ts'
import { claimDue } from '../../../test/support/claim.ts'
import type { TestPostgres } from '../../../test/support/postgres.ts'
import { type Figure, median } from '../figures.ts'
import type { Bench, Part } from '../part.ts'
import { cpuSeconds } from '../process.ts'
import { dueMessage } from '../seed.ts'
import { openEmpty, STORES, type StoreName, withDatabase } from './stores.ts'

const MESSAGES = 10_000
const DESTINATIONS = 50
const CALLERS = 50
const CLAIM = 100
const IDLE_MS = 2
const ORGANIZATION = `org_${'0'.repeat(26)}`
const VOLUME = { organizationId: ORGANIZATION, month: '2026-11', count: 1, limit: -1 }

/** Both stores in this process, one after the other: accepting, claiming, and the whole way of a mail. */
export const store: Part = {
  name: 'cluster.store',
  beside: (bench) =>
    withDatabase(async (postgres) => {
      for (const name of STORES) await measure(name, bench, postgres)
    }),
}

async function measure(name: StoreName, { scratch, note }: Bench, postgres: TestPostgres): Promise<void> {
  const store = await openEmpty(name, scratch, postgres)
  const who = { name }
  try {
    await found(store)
    const mail = createMail()
    await acceptAll(store, mail, { callers: CALLERS, count: MESSAGES / 5, each: 1 }) // until the hot code is compiled
    note(who, ONE, await acceptAll(store, mail, { callers: 1, count: MESSAGES / 10, each: 1 }))
    note(who, FIFTY, await acceptAll(store, mail, { callers: CALLERS, count: MESSAGES, each: 1 }))
    note(who, BATCHES, await acceptAll(store, mail, { callers: 4, count: MESSAGES, each: 500 }))
    const claimMs: number[] = []
    await claimAll(store, (claims, ms) => claims.length === CLAIM && claimMs.push(ms))
    note(who, CLAIMED, median(claimMs))
    const before = cpuSeconds(postgres.pid())
    note(who, WHOLE, await wholeWay(store, mail))
    if (name === 'PostgreSQL') note(null, CPU, ((cpuSeconds(postgres.pid()) - before) / MESSAGES) * 1_000_000)
  } finally {
    await store.close()
  }
}

/** An organization with a webhook for deliveries. */
async function found(store: Store): Promise<void> {
  const now = Date.now()
  await store.organizations.create({ id: ORGANIZATION, name: 'Bench', plan: 'enterprise', createdAt: now })
  const webhook = {
    id: `whk_${'0'.repeat(26)}`,
    organizationId: ORGANIZATION,
    url: 'https://hooks.example/',
    events: ['message.delivered' as const],
    format: 'enveloped' as const,
    status: 'active' as const,
    description: null,
    disabledReason: null,
    createdAt: now,
    updatedAt: now,
    lastSuccessAt: null,
    lastFailureAt: null,
    consecutiveFailures: 0,
    failingSince: null,
    mode: 'live' as const,
    domainId: null,
  }
  await store.webhooks.create(webhook, `whsec_${Buffer.alloc(32, 7).toString('base64')}`)
}

/** → The next message, due now. */
function createMail() {
  let number = 0
  return () => {
    const recipient = `r@d${number % DESTINATIONS}.example`
    return dueMessage({ organizationId: ORGANIZATION, domainId: 'dom_1' }, number++, [recipient], Date.now())
  }
}

/** → Messages per second, `each` in one call. */
async function acceptAll(
  store: Store,
  mail: ReturnType<typeof createMail>,
  { callers, count, each }: { callers: number; count: number; each: number },
): Promise<number> {
  const startedAt = performance.now()
  let begun = 0
  await Promise.all(
    Array.from({ length: callers }, async () => {
      while (begun < count) {
        begun += each
        await store.messages.accept(Array.from({ length: each }, mail), { ...VOLUME, count: each })
      }
    }),
  )
  return (begun / (performance.now() - startedAt)) * 1000
}

/** Claims what is due, 100 at a time. */
async function claimAll(store: Store, each: (claims: ClaimedDelivery[], ms: number) => void): Promise<void> {
  for (;;) {
    const startedAt = performance.now()
    const claims = await claimDue(store.deliveries, { now: Date.now(), limit: CLAIM, worker: 'bench' })
    if (claims.length === 0) return
    each(claims, performance.now() - startedAt)
  }
}

/** Accepts, claims and records messages with an event each, and claims and records its post, all at once → messages
 *  per second. */
async function wholeWay(store: Store, mail: ReturnType<typeof createMail>): Promise<number> {
  const startedAt = performance.now()
  let posted = 0
  const recording: Promise<unknown>[] = []
  const deliver = (claims: ClaimedDelivery[]) => recording.push(...claims.map((claim) => recordDelivery(store, claim)))
  const post = async () => {
    while (posted < MESSAGES) {
      const claims = await claimDue(store.webhookDeliveries, { now: Date.now(), limit: CLAIM, worker: 'bench' })
      recording.push(...claims.map((claim) => recordPost(store, claim)))
      posted += claims.length
      if (claims.length === 0) await Bun.sleep(IDLE_MS)
    }
  }
  const send = async () => {
    while (posted < MESSAGES) {
      await claimAll(store, deliver)
      await Bun.sleep(IDLE_MS)
    }
  }
  await Promise.all([acceptAll(store, mail, { callers: CALLERS, count: MESSAGES, each: 1 }), send(), post()])
  await Promise.all(recording)
  return (MESSAGES / (performance.now() - startedAt)) * 1000
}

function recordDelivery(store: Store, claim: ClaimedDelivery) {
  const { delivery, message } = claim
  const now = Date.now()
  const fields = { delivered_at: new Date(now).toISOString(), smtp_response: '250 2.0.0 Ok' }
  const id = delivery.id.replace('dlv_', 'evt_')
  const event = messageEvent(id, 'message.delivered', message, delivery.email, now, fields)
  return store.deliveries.record({ ...recordOf(claim), now, events: [event] })
}

function recordPost(store: Store, { id: deliveryId, attempt: number }: ClaimedWebhookDelivery) {
  const now = Date.now()
  const attempt = postAttempt({ number, at: now })
  const verdict = { status: 'delivered' as const, nextAttemptAt: null, pauseReason: null }
  return store.webhookDeliveries.record({ deliveryId, worker: 'bench', attempt, ...verdict, now })
}

const columns = [...STORES]
const ONE: Figure = { what: 'store alone: accepted per second, 1 caller', columns }
const FIFTY: Figure = { what: 'store alone: accepted per second, 50 callers', columns }
const BATCHES: Figure = { what: 'store alone: accepted per second, in batches of 500', columns }
const CLAIMED: Figure = { what: 'store alone: claim of 100, median, ms', columns }
const WHOLE: Figure = {
  what: 'store alone: accepted, claimed, recorded with an event, and its post, per second',
  columns,
}
const CPU: Figure = { what: 'CPU of PostgreSQL for a mail with its post', unit: 'µs', goal: { atMost: 180 } }
