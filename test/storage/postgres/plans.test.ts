import { afterAll, beforeAll, expect, test } from 'bun:test'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Plan, UNLIMITED_PLAN } from '../../../src/model/organization.ts'
import { openPostgresStore } from '../../../src/storage/postgres/open.ts'
import type {
  EventFilter,
  InboundFilter,
  MessageFilter,
  Store,
  WebhookDeliveryFilter,
} from '../../../src/storage/store.ts'
import { claimDue } from '../../support/claim.ts'
import { until } from '../../support/patience.ts'
import { describeWithPostgres, startPostgres, type TestPostgres } from '../../support/postgres.ts'
import { FIRST, idOf, mailOf } from '../../support/postgres-mail.ts'
import {
  ALL_EVENTS,
  ALL_MESSAGES,
  accept,
  BOUNCED,
  createRecords,
  DEFERRED,
  found,
  lateBounce,
  postAttempt,
  type Records,
  recordOf,
  START,
  YEARS_LATER,
} from '../records.ts'

const MESSAGES = 20_000
/** Everything is limited, and nothing reaches its limit. */
const LIMITED: Plan = {
  ...UNLIMITED_PLAN,
  messagesPerMonth: 1e9,
  storedBytes: 1e15,
  scheduledMessages: 1e9,
  testMessagesPerMonth: 1e9,
  forwardsPerDay: 1e9,
  suppressions: 1e9,
}
/** When everything is due. */
const LATE = FIRST + 10 * MESSAGES * 1000
const QUEUES = ['deliveries', 'webhookDeliveries', 'inboundDeliveries'] as const

/** Calls whose statements are examined, on a database with MESSAGES messages, half of them of this organization. */
const ORGANIZATION = 'org_0'
const CALLS: Record<string, (store: Store) => Promise<unknown>> = {
  ...listCalls(),
  'stats.hours': ({ stats }) => stats.hours(COUNTS, HOURS),
  'stats.hours of a domain': ({ stats }) => stats.hours({ ...COUNTS, domainId: 'dom_0' }, HOURS),
  'stats.days': ({ stats }) => stats.days(COUNTS, [{ from: 20_000 * DAY, before: 20_090 * DAY }]),
  'quality.domainsWithOutcomes': ({ quality }) => quality.domainsWithOutcomes(2 * HOUR, 0),
  'quality.figures': ({ quality }) => quality.figures('dom_1', 2 * HOUR, 0),
  'quality.alerts': ({ quality }) => quality.alerts('dom_1', 20),
  'quality.firing': ({ quality }) => quality.firing(),
  'quality.raise': ({ quality }) => quality.raise(ALERT, { ...EVENT, id: 'evt_raised' }),
  'quality.resolve': ({ quality }) => quality.resolve(ALERT, { ...EVENT, id: 'evt_resolved' }),
  'quality.pruneOutcomes': ({ quality }) => quality.pruneOutcomes(FIRST, 100),
  'usage.of': ({ usage }) => usage.of(ORGANIZATION, FIRST),
  'usage.isStorageFull': ({ usage }) => usage.isStorageFull(ORGANIZATION),
  'usage.forwardsReached': ({ usage }) => usage.forwardsReached(ORGANIZATION, 5, FIRST),
  'usage.prune': ({ usage }) => usage.prune(FIRST + 62 * DAY, 100),
  'usage.countSome': async ({ usage }) => {
    await usage.beginCount()
    while (await usage.countSome());
  },
  'retention.remove': async ({ retention }) => {
    const request = {
      organizationId: 'org_1',
      before: FIRST + 4_000_000,
      unsubscribableSince: 0,
      timeIsUp: () => false,
    }
    while (await retention.remove(request));
  },
  'retention.pruneUnsubscribables': ({ retention }) => retention.pruneUnsubscribables(FIRST + 4_000_000, 100),
  'auditLog.prune': ({ auditLog }) => auditLog.prune(FIRST + 4_000_000, 100),
  'forwardTargets.prune': ({ forwardTargets }) => forwardTargets.prune(FIRST + 4_000_000, 100),
  'nodes.list': ({ nodes }) => nodes.list(),
  'nodes.database': ({ nodes }) => nodes.database(() => FIRST),
  'nodes.drain': ({ nodes }) => nodes.drain('other'),
  'nodes.forget': ({ nodes }) => nodes.forget('other'),
  'domains.remove': ({ domains }) => domains.remove('dom_100', FIRST),
  'idempotency.find': ({ idempotency }) => idempotency.find(ORGANIZATION, new Uint8Array(32), 0),
  'idempotency.replace': ({ idempotency }) => idempotency.replace(createRecords().remember()),
  'idempotency.prune': ({ idempotency }) => idempotency.prune(FIRST + 4_000_000, 20),
  ...outboundCalls(),
  ...inboundCalls(),
  'queues.waiting': ({ queues }) => queues.waiting(LATE),
  'workers.ended': ({ workers }) => workers.ended('another'),
  'inboundRoutes.remove': ({ inboundRoutes }) => inboundRoutes.remove('rte_3'),
  'webhooks.remove': ({ webhooks }) => webhooks.remove('whk_3'),
  'held.hold': ({ held }) => held.hold(),
  'held.count': ({ held }) => held.count(),
  'held.isHeld': ({ held }) => held.isHeld(idOf('msg', MESSAGES)),
  'held.release': async ({ held }) => {
    for (const queue of QUEUES) await held.release(queue, { dueAfter: FIRST + (MESSAGES - 100) * 1000, now: FIRST })
  },
  'held.discard': async ({ held }) => {
    for (const queue of QUEUES) await held.discard(queue, START)
  },
  'leases.take': ({ leases }) => leases.take('a report', 1_000),
  'leases.release': ({ leases }) => leases.release('a report'),
  'rates.exchange': ({ rates }) => rates!.exchange([{ id: 'key_a', used: 1, endsAt: FIRST }]),
  'rates.take': ({ rates }) => rates!.take([{ name: 'a', everyMs: 1, burst: 1 }], FIRST),
  'certificates.keep': async ({ certificates }) => {
    await certificates!.keep('certificate', 'a key')
    await certificates!.keep('progress', '{}')
  },
  'certificates.changed': ({ certificates }) => certificates!.changed(0),
  'certificates.show': ({ certificates }) => certificates!.show('a', 'b', 1_000),
  'certificates.shown': ({ certificates }) => certificates!.shown('a'),
  'certificates.hide': ({ certificates }) => certificates!.hide('a'),
  checkWritable: (store) => store.checkWritable(),
  'maintain removed': (store) => store.maintain('removed', () => true),
  'maintain ended': (store) => store.maintain('ended', () => true),
}

/** Calls about outbound mail. */
function outboundCalls(): typeof CALLS {
  const records = createRecords()
  const volume = { organizationId: ORGANIZATION, month: '2026-11', count: 1, limit: 1_000_000 }
  const accepted = (change: Parameters<typeof records.accepted>[0] = {}) =>
    records.accepted({ organizationId: ORGANIZATION, domainId: 'dom_0', tags: ['tag1'], ...change })
  const scheduled = accepted({ status: 'scheduled', scheduledAt: LATE })
  const request = { now: LATE, limit: 20, worker: 'worker', freeFor: () => 20 }
  const over = idOf('msg', MESSAGES / 2)
  const bounced = idOf('dlv', MESSAGES / 2)
  const event = () => records.event({ organizationId: ORGANIZATION, domainId: 'dom_0', messageId: over })
  const opened = { deliveryId: bounced, kind: 'opened' as const, machine: false, suppression: null, now: LATE }
  return {
    'messages.accept': ({ messages }) =>
      Promise.all(
        [scheduled, ...Array.from({ length: 30 }, () => accepted())].map((each) =>
          messages.accept([each], volume, records.remember({ organizationId: ORGANIZATION })),
        ),
      ),
    'messages.get': ({ messages }) => messages.get(over),
    'messages.content': ({ messages }) => messages.content(over),
    'messages.deliveries': ({ messages }) => messages.deliveries(over),
    'messages.attempts': ({ messages }) => messages.attempts(over),
    'messages.volume': ({ messages }) => messages.volume(ORGANIZATION, '2026-11'),
    'messages.volumes': ({ messages }) => messages.volumes(ORGANIZATION),
    'messages.reschedule': ({ messages }) => messages.reschedule(scheduled.message.id, LATE + 1, LATE - 1),
    'messages.cancel': ({ messages }) => messages.cancel(scheduled.message.id, LATE - 1),
    'deliveries.get': ({ deliveries }) => deliveries.get(bounced),
    'deliveries.content': ({ deliveries }) => deliveries.content(over),
    'deliveries.reports': ({ deliveries }) => deliveries.reports(over),
    'deliveries.recordLate': ({ deliveries }) =>
      deliveries.recordLate(lateBounce(bounced, records.report(), 'bounced', { events: [event()] })),
    'deliveries.recordEngagement': ({ deliveries }) => deliveries.recordEngagement({ ...opened, event: event() }),
    'deliveries.unsubscribable': ({ deliveries }) => deliveries.unsubscribable(idOf('dlv', 1_000_000_000 + MESSAGES)),
    'deliveries.claimExpired': ({ deliveries }) => deliveries.claimExpired({ now: LATE, limit: 20, worker: 'worker' }),
    'deliveries.claimDue': async ({ deliveries }) => {
      const claims = await claimDue(deliveries, request)
      if (claims.length < 20) throw new Error(`${claims.length} of 20 claims`)
      await Promise.all(
        claims.slice(0, 10).map((each, at) => {
          const record = recordOf(each, at < 5 ? DEFERRED : BOUNCED, { events: [event()], now: LATE })
          return deliveries.record({ ...record, suppression: records.suppression({ email: `${at}@dest.example` }) })
        }),
      )
      const held = claims
        .slice(10, 15)
        .map(({ delivery: { id, attempts }, worker }) => ({ id, attempt: attempts, worker }))
      await deliveries.release(held, LATE)
      await deliveries.endLeases('worker', new Set(), LATE)
      await deliveries.endFutureWaits(LATE)
    },
    'events.append': ({ events }) => events.append([event(), event()]),
    'events.appendSample': ({ events }) => events.appendSample(event(), 'whk_0', '2026-11'),
    'webhookDeliveries.claimDue': async ({ webhookDeliveries }) => {
      const claims = await claimDue(webhookDeliveries, request)
      if (claims.length < 20) throw new Error(`${claims.length} of 20 claims`)
      await Promise.all(
        claims.map(({ id, worker }, at) =>
          webhookDeliveries.record({
            deliveryId: id,
            worker,
            attempt: postAttempt(),
            status: at < 5 ? 'delivered' : 'pending',
            nextAttemptAt: at < 5 ? null : LATE + 60_000,
            pauseReason: null,
            now: LATE,
          }),
        ),
      )
    },
    'webhookDeliveries.get': ({ webhookDeliveries }) => webhookDeliveries.get(idOf('whd', MESSAGES)),
    'webhookDeliveries.retry': ({ webhookDeliveries }) => webhookDeliveries.retry(idOf('whd', MESSAGES), LATE),
    'webhookDeliveries.replay': ({ webhookDeliveries }) =>
      webhookDeliveries.replay('whk_0', { from: FIRST, before: LATE, type: null, afterEvent: null }, 100, LATE),
  }
}

/** Calls about inbound mail. */
function inboundCalls(): typeof CALLS {
  const all = {
    organizationId: ORGANIZATION,
    routeId: null,
    domainId: null,
    from: null,
    to: null,
    status: null,
    createdAfter: null,
    createdBefore: null,
  }
  const list =
    (filter: Partial<InboundFilter>) =>
    ({ inbound }: Store) =>
      inbound.list({ ...all, ...filter }, { limit: 20, after: idOf('inb', MESSAGES - 500) })
  const newest = idOf('inb', MESSAGES)
  const request = { now: LATE, limit: 20, worker: 'worker', freeFor: () => 5 }
  return {
    'inbound.get': ({ inbound }) => inbound.get(newest),
    'inbound.raw': ({ inbound }) => inbound.raw(newest),
    'inbound.answered': ({ inbound }) => inbound.answered(idOf('dlv', MESSAGES), ORGANIZATION),
    'inbound.findAnswered': ({ inbound }) =>
      inbound.findAnswered(
        { id: 'dom_2', organizationId: ORGANIZATION },
        ['<01jd5xk3m9q8r7t6v5w4z3y2x1@a.example>', '<600@a.example>'],
        'r600@dest.example',
      ),
    'inbound.list': list({}),
    'inbound.list of a route': list({ routeId: 'rte_2', domainId: 'dom_2' }),
    'inbound.list by status': list({ status: 'delivered' }),
    'inbound.list of a domain': list({ domainId: 'dom_2' }),
    'inbound.list of a sender': list({ from: 'B@out.example' }),
    'inbound.list of a recipient': list({ to: 'B@out.example' }),
    'inbound.list by part of an address': list({ part: 'b@out' }),
    'inbound.accept': async ({ inbound }) => {
      const records = createRecords()
      const routes = [2, 4].map((n) => records.inboundRoute({ id: `rte_${n}`, organizationId: ORGANIZATION }))
      await Promise.all(Array.from({ length: 30 }, () => inbound.accept(records.acceptedInbound(routes))))
    },
    'inboundDeliveries.ofMessage': ({ inboundDeliveries }) => inboundDeliveries.ofMessage(newest),
    'inboundDeliveries.redeliver': ({ inboundDeliveries }) =>
      inboundDeliveries.redeliver(idOf('inb', MESSAGES / 2), 'whd_again', LATE),
    'inboundDeliveries.claimDue': async ({ inboundDeliveries }) => {
      const claims = await claimDue(inboundDeliveries, request)
      if (claims.length < 20) throw new Error(`${claims.length} of 20 claims`)
      await Promise.all(
        claims.slice(0, 10).map(({ id, worker, attempt: number }, at) =>
          inboundDeliveries.record({
            deliveryId: id,
            worker,
            attempt: { number, at: LATE, durationMs: 1, statusCode: 200, error: null, responseExcerpt: null },
            status: at < 5 ? 'delivered' : 'pending',
            nextAttemptAt: at < 5 ? null : LATE + 60_000,
            now: LATE,
          }),
        ),
      )
      await inboundDeliveries.release(claims.slice(10, 15), LATE)
      await inboundDeliveries.endLeases('worker', new Set(), LATE)
      await inboundDeliveries.endFutureWaits(LATE)
    },
  }
}

/** Statements that may read more than MOST_ROWS rows, with the reason for each. */
const MAY_READ_MORE = [
  /message_words where words @@/, // ranges of the search index, each of which has a limited number of messages
  /as error$/, // a recount
  /^select 1 as waiting from messages/, // the waiting mail of an organization
  /^select number::float8 as number, status from webhook_deliveries\s+where webhook_id/, // those of a removed webhook, in steps
  /limit 2000\) s|^select (queue|route_id|webhook_id) as key, next_attempt_at/, // waits that begin in the future, in steps
  /^select count\(\*\) as total/, // what waits
  /^select number::float8 as number, (queue|route_id|webhook_id) as key/, // what is put on hold after a restore, in steps
  /held_(webhook_|inbound_)?deliveries/, // the same
  /^update \w+ set next_attempt_at = null, worker = null where number = any/, // the same
  /^select number from inbound_messages .* limit 1 offset 49999/s, // the newest that a search reads, from the index
]

/** Rows of a table that may be read in sequence. */
const FEW_ROWS = 1_000
/** Rows that a statement may read in one place. */
const MOST_ROWS = 1_500

const HOUR = 3_600_000
const DAY = 24 * HOUR
const COUNTS = { organizationId: ORGANIZATION, domainId: null, tag: null, mode: 'live' as const }
const HOURS = Array.from({ length: 48 }, (_, at) => 20_000 * DAY + at * HOUR)
const ALERT = {
  id: 'alr_new',
  organizationId: ORGANIZATION,
  domainId: 'dom_0',
  domain: '0.example',
  metric: 'bounce_rate' as const,
  value: 0.1,
  threshold: 0.05,
  windowHours: 24,
  sent: 100,
  affected: 10,
  state: 'firing' as const,
  triggeredAt: FIRST,
  resolvedAt: null,
}
const EVENT = {
  type: 'quality.alert' as const,
  organizationId: ORGANIZATION,
  domainId: 'dom_0',
  messageId: null,
  mode: 'live' as const,
  createdAt: FIRST,
  body: '{}',
}

/** Lists, each of which reads few slices. */
function listCalls(): typeof CALLS {
  const page = { limit: 20, after: null }
  const calls: typeof CALLS = { 'maintain recent': (store) => store.maintain('recent', () => true) }
  const late = { createdAfter: FIRST + (MESSAGES - 500) * 1000 }
  const older = idOf('msg', MESSAGES / 2)
  const messages: [Partial<MessageFilter>, after?: string][] = [
    [{}],
    [{}, older],
    [{ status: 'delivered' }, older],
    [{ status: 'bounced' }, older],
    [{ status: 'scheduled' }],
    [{ to: 'r4@dest.example' }],
    [{ tag: 'tag3' }],
    [{ tag: 'tag3', status: 'bounced' }, older],
    [{ from: 'nobody@a.example' }],
    [{ from: 'ann@a.example', tag: 'tag3' }],
    [{ templateId: 'tpl_none', status: 'scheduled' }],
    [{ metadata: [{ key: 'a', value: 'b' }] }],
    [{ subject: 'sage 19' }],
    [{ subject: 'none', ...late }],
    [{ text: 'message' }],
    [{ text: 'mess', status: 'delivered' }, older],
    [{ text: `message ${MESSAGES / 2}` }],
    [{ text: 'none' }],
    [{ text: 'message', to: 'r4@dest.example' }],
    [{ id: older }],
    [{ messageIdHeader: '<none@elsewhere.example>' }],
  ]
  for (const [filter, after = null] of messages) {
    calls[`messages.list ${JSON.stringify(filter)}`] = (store) =>
      store.messages.list({ ...ALL_MESSAGES, organizationId: ORGANIZATION, ...filter }, { limit: 20, after })
  }
  for (const beginning of ['none', 'dest.']) {
    const filter = { organizationId: ORGANIZATION, email: null, reason: null, createdAfter: null, createdBefore: null }
    calls[`suppressions.list ${beginning}`] = ({ suppressions }) => suppressions.list({ ...filter, beginning }, page)
  }
  const events: Partial<EventFilter>[] = [
    {},
    { type: 'message.bounced' },
    { type: 'message.clicked' },
    { mode: 'live' },
    { domainId: 'dom_2' },
    { reach: 'dom_2', type: 'message.delivered' },
    { messageId: older },
    late,
    { ...late, type: 'message.bounced' },
  ]
  for (const each of events) {
    const filter = { ...ALL_EVENTS, organizationId: ORGANIZATION, ...each }
    calls[`events ${JSON.stringify(each)}`] = async (store) => {
      await store.events.list(filter, { limit: 20, after: idOf('evt', MESSAGES) })
      await store.events.feed(filter, idOf('evt', MESSAGES), 20)
      await store.events.follow(filter, '', 20)
    }
  }
  calls['events one by one'] = async (store) => {
    await store.events.get(idOf('evt', MESSAGES))
    await store.events.newest(ORGANIZATION)
    await store.events.list(
      { ...ALL_EVENTS, organizationId: ORGANIZATION },
      { ...page, after: `${idOf('evt', MESSAGES)}x` },
    )
  }
  const posts: Partial<WebhookDeliveryFilter>[] = [
    {},
    { status: 'pending' },
    { status: 'failed' },
    { status: 'delivered', createdBefore: late.createdAfter - 4_000_000 },
    { type: 'message.bounced', ...late },
  ]
  const all = { webhookId: 'whk_0', status: null, type: null, createdAfter: null, createdBefore: null }
  for (const filter of posts) {
    calls[`webhookDeliveries.list ${JSON.stringify(filter)}`] = (store) =>
      store.webhookDeliveries.list({ ...all, ...filter }, page)
  }
  calls['webhookDeliveries one by one'] = async (store) => {
    await store.webhookDeliveries.get(idOf('whd', MESSAGES))
    await store.webhookDeliveries.ofMessage(ORGANIZATION, older, 20)
    await store.webhookDeliveries.list(all, { limit: 20, after: idOf('whd', MESSAGES) })
  }
  return calls
}

describeWithPostgres('statements for PostgreSQL', () => {
  let postgres: TestPostgres
  let dataDir: string
  const plans: { statement: string; plan: PlanNode }[] = []
  const sizes = new Map<string, number>()

  beforeAll(async () => {
    postgres = await startPostgres()
    dataDir = mkdtempSync(join(tmpdir(), 'postrider-store-'))
    const url = await postgres.createDatabase('mail')
    const open = () => openPostgresStore({ url, dataDir, now: FIRST, plans: () => LIMITED })
    const empty = await open()
    for (const statement of mailOf(MESSAGES)) postgres.psql(statement, 'mail')
    const records = createRecords()
    for (let n = 0; n < 20; n++) {
      const organizationId = `org_${n}`
      await empty.webhooks.create(records.webhook({ id: `whk_${n}`, organizationId }), 'whsec_a')
      await empty.inboundRoutes.create(records.inboundRoute({ id: `rte_${n}`, organizationId }), 'whsec_a')
    }
    await empty.close()
    const counts = postgres.psql(`select relname, reltuples from pg_class where relkind = 'r'`, 'mail')
    for (const line of counts.split('\n')) {
      const [table = '', rows] = line.split('|')
      sizes.set(table, Number(rows))
    }
    for (const setting of EXPLAINED) postgres.psql(`alter database mail set ${setting}`)
    const earlier = postgres.log().length
    const store = await open()
    for (const call of Object.values(CALLS)) await call(store)
    await store.close()
    postgres.psql(`select 'the last statement'`, 'mail')
    await untilLogged(postgres, 'the last statement')
    plans.push(...plansIn(postgres.log().slice(earlier)))
  })
  afterAll(async () => {
    await postgres.stop()
    rmSync(dataDir, { recursive: true })
  })

  test('no statement reads a large table in sequence', () => {
    const scans = plans.filter(({ plan }) => nodesOf(plan).some((node) => isSequential(node, sizes)))
    expect(scans.map(({ statement }) => statement)).toEqual([])
  })

  test('no statement reads many rows', () => {
    const walks = plans.filter(({ statement, plan }) => mostRows(plan) > MOST_ROWS && !mayReadMore(statement))
    expect(walks.map(({ statement, plan }) => [statement, mostRows(plan)])).toEqual([])
  })

  test('every exception is needed', () => {
    for (const exception of MAY_READ_MORE) {
      const matching = plans.filter(({ statement }) => exception.test(statement))
      expect([exception, matching.some(({ plan }) => mostRows(plan) > MOST_ROWS)]).toEqual([exception, true])
    }
  })
})

/** Mail through a new installation, whose plans are made before there are statistics. */
const NEW_MAIL = 1_600

describeWithPostgres('statements that were planned for empty tables', () => {
  test('read few rows when the tables are filled', async () => {
    const postgres = await startPostgres({ settings: { autovacuum: 'off' } })
    const dataDir = mkdtempSync(join(tmpdir(), 'postrider-store-'))
    try {
      const url = await postgres.createDatabase('new')
      for (const setting of EXPLAINED) postgres.psql(`alter database new set ${setting}`)
      const store = await openPostgresStore({ url, dataDir, now: START })
      const records = createRecords()
      await found(store, records)
      const webhook = records.webhook({ events: ['message.delivered'] })
      await store.webhooks.create(webhook, 'whsec_a')
      await sendAll(store, records, NEW_MAIL)
      const earlier = postgres.log().length
      await sendAll(store, records, 20)
      await store.close()
      postgres.psql(`select 'the last statement'`, 'new')
      await untilLogged(postgres, 'the last statement')
      const plans = plansIn(postgres.log().slice(earlier))
      for (const table of ['messages', 'message_contents', 'attempts', 'webhook_deliveries']) {
        expect(plans.some(({ statement }) => statement.includes(table))).toBe(true)
      }
      const walks = plans.filter(({ plan }) => mostRows(plan) >= NEW_MAIL)
      expect(walks.map(({ statement, plan }) => [statement, mostRows(plan)])).toEqual([])
    } finally {
      await postgres.stop()
      rmSync(dataDir, { recursive: true })
    }
  })
})

/** Accepts, claims and records messages with an event each, and claims and records the posts of those. */
async function sendAll(store: Store, records: Records, count: number): Promise<void> {
  await Promise.all(Array.from({ length: count }, () => accept(store, records.accepted())))
  let sent = 0
  while (sent < count) {
    const claims = await claimDue(store.deliveries, { now: START, limit: 100, worker: 'worker' })
    await Promise.all(claims.map((claim) => store.deliveries.record({ ...recordOf(claim), events: [records.event()] })))
    sent += claims.length
  }
  let posted = 0
  while (posted < count) {
    const claims = await claimDue(store.webhookDeliveries, { now: YEARS_LATER, limit: 100, worker: 'worker' })
    const result = {
      worker: 'worker',
      status: 'delivered' as const,
      nextAttemptAt: null,
      pauseReason: null,
      now: START,
    }
    await Promise.all(
      claims.map(({ id: deliveryId, attempt: number }) =>
        store.webhookDeliveries.record({ ...result, deliveryId, attempt: postAttempt({ number }) }),
      ),
    )
    posted += claims.length
  }
}

/** Every session logs the plans of its statements, as of statements that are prepared for any values. */
const EXPLAINED = [
  'session_preload_libraries = auto_explain',
  'auto_explain.log_min_duration = 0',
  'auto_explain.log_analyze = on',
  'auto_explain.log_timing = off',
  'auto_explain.log_format = json',
  'auto_explain.log_nested_statements = on',
  'plan_cache_mode = force_generic_plan',
]

/** A node of a plan, as EXPLAIN writes it. */
interface PlanNode {
  'Node Type': string
  'Relation Name'?: string
  'Actual Rows': number
  'Actual Loops': number
  'Rows Removed by Filter'?: number
  'Rows Removed by Join Filter'?: number
  Plans?: PlanNode[]
}

/** The server's log → the statements with their plans. */
function plansIn(log: string): { statement: string; plan: PlanNode }[] {
  return [...log.matchAll(/plan:\n((?:\t.*\n)+)/g)].map(([, text = '']) => {
    const { 'Query Text': statement, Plan: plan } = JSON.parse(text.replaceAll(/^\t/gm, ''))
    return { statement, plan }
  })
}

function untilLogged(postgres: TestPostgres, text: string): Promise<void> {
  return until(`${text} in the log`, () => postgres.log().includes(text))
}

function nodesOf(node: PlanNode): PlanNode[] {
  return [node, ...(node.Plans ?? []).flatMap(nodesOf)]
}

function isSequential({ 'Node Type': type, 'Relation Name': table }: PlanNode, sizes: Map<string, number>): boolean {
  return type === 'Seq Scan' && (sizes.get(table ?? '') ?? 0) > FEW_ROWS
}

/** The most rows that a node returned or dropped. */
function mostRows(plan: PlanNode): number {
  const dropped = (node: PlanNode) => (node['Rows Removed by Filter'] ?? 0) + (node['Rows Removed by Join Filter'] ?? 0)
  return Math.max(...nodesOf(plan).map((node) => (node['Actual Rows'] + dropped(node)) * node['Actual Loops']))
}

const mayReadMore = (statement: string) => MAY_READ_MORE.some((each) => each.test(statement))
