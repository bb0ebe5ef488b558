import { join } from 'node:path'
import type { MessageStatus } from '../../src/model/message.ts'
import { connect } from '../../src/storage/sqlite/driver.ts'
import type { Page, PageRequest, Store } from '../../src/storage/store.ts'
import { ALL_EVENTS, ALL_INBOUND, ALL_MESSAGES, START } from './records.ts'

/** IDs of everything in a data directory, by table. */
export type Known = Record<(typeof TABLES)[number], string[]>

const TABLES = [
  'organizations',
  'domains',
  'api_keys',
  'templates',
  'webhooks',
  'inbound_routes',
  'messages',
  'deliveries',
  'events',
  'webhook_deliveries',
  'inbound_messages',
  'suppressions',
  'users',
  'sessions',
  'blocked_links',
] as const

/** Data directory with SQLite → the IDs in it. */
export function idsIn(dataDir: string): Known {
  const db = connect(join(dataDir, 'postrider.db'), { busyTimeoutMs: 0 })
  try {
    const of = (table: string) => db.prepare<unknown[], string>(`select id from ${table} order by id`).pluck().all()
    return Object.fromEntries(TABLES.map((table) => [table, of(table)])) as Known
  } finally {
    db.close()
  }
}

const ALL = { limit: 1000, after: null }
const STATUSES: MessageStatus[] = ['scheduled', 'queued', 'deferred', 'delivered', 'bounced', 'partial', 'cancelled']

/** Everything that a store answers about these records. */
export async function everythingIn(store: Store, ids: Known): Promise<Record<string, unknown>> {
  const each = <T>(some: readonly string[], read: (id: string) => Promise<T>) =>
    Promise.all(some.map(async (id) => [id, await read(id)] as const))
  const recordsOf = async <T>(page: Promise<Page<T>>) => (await page).records
  /** All pages: on a busy machine, a list stops earlier than at its limit. */
  const whole = async <T extends { id: string }>(list: (page: PageRequest) => Promise<Page<T>>): Promise<T[]> => {
    const all: T[] = []
    for (let after: string | null = null; ; ) {
      const { records, hasMore, next } = await list({ limit: 1000, after })
      all.push(...records)
      if (!hasMore) return all
      after = next ?? all.at(-1)!.id
    }
  }
  /** Of the same time, one side has the order of commits and the other one that of the IDs. */
  const sorted = async <T extends { id: string }>(list: (page: PageRequest) => Promise<Page<T>>) =>
    (await whole(list)).toSorted((one, other) => (one.id < other.id ? -1 : 1))
  const ofOrganizations = <T>(read: (organizationId: string) => Promise<T>) => each(ids.organizations, read)
  return {
    organizations: await store.organizations.list(),
    domains: await each(ids.domains, (id) => store.domains.get(id)),
    keys: await each(ids.api_keys, (id) => store.apiKeys.get(id)),
    templates: await each(ids.templates, async (id) => [
      await store.templates.get(id),
      await recordsOf(store.templates.versions(id, { limit: 100, before: null })),
    ]),
    webhooks: await each(ids.webhooks, async (id) => [
      await store.webhooks.get(id),
      await store.webhooks.secrets(id),
      await sorted((page) =>
        store.webhookDeliveries.list({ ...NO_TIME, webhookId: id, status: null, type: null }, page),
      ),
    ]),
    routes: await each(ids.inbound_routes, (id) => store.inboundRoutes.get(id)),
    messages: await each(ids.messages, async (id) => [
      await store.messages.get(id),
      bytes(await store.messages.content(id)),
      await store.messages.deliveries(id),
      await store.messages.attempts(id),
      await store.deliveries.reports(id),
      await store.held.isHeld(id),
    ]),
    deliveries: await each(ids.deliveries, (id) => store.deliveries.get(id)),
    lists: await ofOrganizations(async (organizationId) => {
      const list = (change: object) =>
        whole((page) => store.messages.list({ ...ALL_MESSAGES, organizationId, ...change }, page))
      return [
        await list({}),
        await Promise.all(STATUSES.map((status) => list({ status }))),
        await list({ text: 'hello' }),
        await list({ subject: 'hello' }),
        await list({ tag: 'a' }),
        await list({ mode: 'live' }),
        await list({ from: 'ann@a.example' }),
        await list({ to: 'bob@dest.example' }),
      ]
    }),
    events: await each(ids.events, (id) => store.events.get(id)),
    eventLists: await ofOrganizations(async (organizationId) => {
      const list = (change: object) =>
        whole((page) => store.events.list({ ...ALL_EVENTS, organizationId, ...change }, page))
      return [await list({}), await list({ type: 'message.delivered' }), await list({ mode: 'live' })]
    }),
    feeds: await ofOrganizations(async (organizationId) =>
      (await store.events.feed({ ...ALL_EVENTS, organizationId }, null, 1000))?.records.map(({ id }) => id),
    ),
    webhookDeliveries: await each(ids.webhook_deliveries, (id) => store.webhookDeliveries.get(id)),
    inbound: await each(ids.inbound_messages, async (id) => [
      await store.inbound.get(id),
      bytes(await store.inbound.raw(id)),
      bytes(await store.inbound.parsed(id)),
      await store.inboundDeliveries.ofMessage(id),
    ]),
    inboundLists: await ofOrganizations((organizationId) =>
      sorted((page) => store.inbound.list({ ...ALL_INBOUND, organizationId }, page)),
    ),
    suppressions: await each(ids.suppressions, (id) => store.suppressions.get(id)),
    sessions: await each(ids.sessions, (id) => store.sessions.get(id)),
    users: await each(ids.users, async (id) => [await store.users.get(id), await store.users.passwordHash(id)]),
    factors: await each(ids.users, async (id) => [
      await store.factors.totp(id),
      await store.factors.recoveryCodesLeft(id),
      await store.factors.passkeys(id),
    ]),
    blockedLinks: await each(ids.blocked_links, (id) => store.blockedLinks.get(id)),
    audit: await recordsOf(store.auditLog.list({ ...NO_TIME, ...NO_FILTER }, ALL)),
    usage: await ofOrganizations(async (organizationId) => [
      // Some tests accept messages in a state that their deliveries contradict.
      { ...(await store.usage.of(organizationId, START)), scheduledMessages: null },
      await store.messages.volumes(organizationId),
    ]),
    stats: await ofOrganizations((organizationId) =>
      Promise.all(
        (['live', 'test'] as const).map(async (mode) => {
          const filter = { organizationId, domainId: null, tag: null, mode }
          const day = START - (START % 86_400_000)
          return [
            await store.stats.days(filter, [{ from: day, before: day + 7 * 86_400_000 }]),
            await store.stats.hours(filter, [START, START + 3_600_000]),
          ]
        }),
      ),
    ),
    quality: await each(ids.domains, async (id) => [
      await store.quality.figures(id, 7 * 86_400_000, START + 86_400_000),
      await store.quality.alerts(id, 100),
    ]),
    // The contract's reports are about domains that do not exist.
    policyReports: await each(['dom_1', 'dom_2', 'dom_3'], async (id) => [
      await store.policyReports.dmarc(id, { from: 0, to: START + 100 * 86_400_000 }, 1000),
      await store.policyReports.tls(id, { from: 0, to: START + 100 * 86_400_000 }, 1000),
    ]),
    held: await store.held.count(),
    restored: await store.held.restored(),
    waiting: await store.queues.waiting(START + 60_000),
    secrets: Buffer.from(await store.secret('tracking', new Uint8Array(32))).toString('hex'),
  }
}

const NO_TIME = { createdAfter: null, createdBefore: null }
const NO_FILTER = { organizationId: null, actorId: null, action: null, resourceId: null }
const bytes = (content: Uint8Array | null) => (content === null ? null : Buffer.from(content).toString('hex'))
