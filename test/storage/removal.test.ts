import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { PART_BYTES } from '../../src/storage/mail/contents.ts'
import { openPostgresStore } from '../../src/storage/postgres/open.ts'
import { connect } from '../../src/storage/sqlite/driver.ts'
import { openEncryption } from '../../src/storage/sqlite/encryption-key.ts'
import { migrate } from '../../src/storage/sqlite/migrate.ts'
import { storeOn } from '../../src/storage/sqlite/store.ts'
import type { Store } from '../../src/storage/store.ts'
import { claimDue } from '../support/claim.ts'
import { describeWithPostgres, startPostgres, type TestPostgres } from '../support/postgres.ts'
import { erase } from './contract-erasures.ts'
import { removeAll } from './contract-retention.ts'
import {
  accept,
  claim,
  createRecords,
  DEFERRED,
  found,
  lateBounce,
  ORGANIZATION,
  postAttempt,
  type Records,
  recordOf,
  START,
  WORKER,
} from './records.ts'

const DAY = 86_400_000
const ANN = 'ann@dest.example'
const BEN = 'ben@dest.example'
const OVER = { status: 'delivered' as const, nextAttemptAt: null }

/** Tables of mail, with what a row of each belongs to: its column, and the table and column that must have it. */
const OWNERS = [
  ['message_contents', 'message_number', 'messages', 'number'],
  ['removed_contents', 'message_number', 'messages', 'number'],
  ['content_redactions', 'message_number', 'messages', 'number'],
  ['message_tags', 'message_number', 'messages', 'number'],
  ['message_words', 'message_number', 'messages', 'number'],
  ['deliveries', 'message_number', 'messages', 'number'],
  ['held_deliveries', 'number', 'deliveries', 'number'],
  ['attempts', 'delivery_number', 'deliveries', 'number'],
  ['reports', 'delivery_number', 'deliveries', 'number'],
  ['fan_outs', 'event_number', 'events', 'number'],
  ['webhook_deliveries', 'event_number', 'events', 'number'],
  ['webhook_deliveries', 'webhook_id', 'webhooks', 'id'],
  ['held_webhook_deliveries', 'number', 'webhook_deliveries', 'number'],
  ['webhook_attempts', 'delivery_number', 'webhook_deliveries', 'number'],
  ['inbound_messages', 'raw_number', 'inbound_raws', 'number'],
  ['inbound_raws', 'number', 'inbound_messages', 'raw_number'],
  ['inbound_addresses', 'message_number', 'inbound_messages', 'number'],
  ['inbound_deliveries', 'message_number', 'inbound_messages', 'number'],
  ['held_inbound_deliveries', 'number', 'inbound_deliveries', 'number'],
  ['inbound_attempts', 'delivery_number', 'inbound_deliveries', 'number'],
  ['content_parts', 'content', 'large_contents', 'number'],
] as const

interface Opened {
  store: Store
  /** Those of which a condition holds in the database. */
  where<T>(all: readonly T[], condition: (one: T) => string): T[]
  tables: readonly string[]
  close(): Promise<void>
}

function promises(open: () => Promise<Opened>): void {
  const tested = async (work: (opened: Opened, records: Records) => Promise<void>) => {
    const opened = await open()
    const records = createRecords()
    await found(opened.store, records)
    try {
      await work(opened, records)
    } finally {
      await opened.close()
    }
  }

  test('no step of a removal leaves a row without what it belongs to', () =>
    tested(async ({ store, where, tables }, records) => {
      const { hooks } = await everything(store, records)
      const owners = OWNERS.filter(([table]) => tables.includes(table))
      const empty = () => where(owners, ([table]) => `not exists (select 1 from ${table})`)
      const orphaned = () =>
        where(
          owners,
          ([table, column, owner, key]) => `exists (select 1 from ${table} t where ${column} is not null
            and not exists (select 1 from ${owner} o where o.${key} = t.${column}))`,
        )
      expect([empty(), orphaned()]).toEqual([[], []])
      expect(await store.messages.redactDue(START + DAY, 9)).toBeGreaterThan(0)
      await erase(store, records, ANN, START + DAY)
      expect(orphaned()).toEqual([])
      const request = { organizationId: ORGANIZATION, before: START + 2 * DAY, unsubscribableSince: START }
      for (let isMore = true; isMore; ) {
        isMore = await store.retention.remove({ ...request, timeIsUp: () => true })
        expect(orphaned()).toEqual([])
      }
      await store.events.append([records.event()])
      for (const { id } of hooks) await store.webhooks.remove(id)
      expect(orphaned()).toEqual([])
    }))

  test('removed mail leaves no row in any table of mail, and nothing in the counters', () =>
    tested(async ({ store, where, tables }, records) => {
      await everything(store, records)
      for (const queue of ['deliveries', 'webhookDeliveries', 'inboundDeliveries'] as const)
        await store.held.discard(queue, START)
      await removeAll(store, START + 2 * DAY)
      const ofMail = new Set(OWNERS.flatMap(([table, , owner]): string[] => [table, owner]))
      const left = where(
        [...ofMail].filter((table) => tables.includes(table)),
        (table) => `exists (select 1 from ${table})`,
      )
      expect(left).toEqual(['webhooks'])
      const { storedBytes, scheduledMessages } = await store.usage.of(ORGANIZATION, START)
      expect({ storedBytes, scheduledMessages }).toEqual({ storedBytes: 0, scheduledMessages: 0 })
    }))
}

/** Fills all tables of mail, with mail that has ended and mail that is on hold. */
async function everything(store: Store, records: Records) {
  const hooks = [records.webhook(), records.webhook()]
  for (const hook of hooks) await store.webhooks.create(hook, 'whsec_a')
  const deliveries = [{ email: ANN }, { ...OVER, status: 'suppressed' as const, email: BEN }]
  const tried = records.accepted({ tags: ['a', 'a', 'b'], deliveries })
  const large = { content: new Uint8Array(3 * PART_BYTES), redactAfterMs: 1000 }
  const sent = (email: string) => records.accepted({ status: 'delivered', deliveries: [{ ...OVER, email }] })
  await accept(store, tried, { ...sent(BEN), ...large }, { ...sent(BEN), redactAfterMs: 2 * DAY }, sent(ANN))
  const shared = records.accepted({
    status: 'delivered',
    deliveries: [
      { ...OVER, email: ANN },
      { ...OVER, email: BEN },
    ],
  })
  await accept(store, shared)
  const [claimed] = await claim(store)
  const events = [records.event({ messageId: tried.message.id })]
  await store.deliveries.record(recordOf(claimed!, DEFERRED, { events }))
  const [again] = await claim(store, { now: START + 60_000 })
  await store.deliveries.record(recordOf(again!))
  for (const { id } of [tried.deliveries[0]!, shared.deliveries[0]!])
    await store.deliveries.recordLate(lateBounce(id, records.report(), 'delivered'))
  await store.messages.removeContent(shared.message.id, 'request', START)

  const routes = [records.inboundRoute(), records.inboundRoute({ action: { type: 'store', config: {} } })]
  for (const route of routes) await store.inboundRoutes.create(route, 'whsec_a')
  const bytes = new Uint8Array(2 * PART_BYTES)
  for (const from of [ANN, BEN])
    await store.inbound.accept({ ...records.acceptedInbound(routes, { from }), raw: bytes, parsed: bytes })
  const pending = {
    worker: WORKER,
    attempt: postAttempt(),
    now: START,
    status: 'pending' as const,
    nextAttemptAt: START,
  }
  for (const { id } of await claimDue(store.webhookDeliveries, { now: START, limit: 1, worker: WORKER }))
    await store.webhookDeliveries.record({ deliveryId: id, pauseReason: null, ...pending })
  for (const { id } of await claimDue(store.inboundDeliveries, { now: START, limit: 1, worker: WORKER }))
    await store.inboundDeliveries.record({ deliveryId: id, ...pending })
  const later = { status: 'scheduled' as const, nextAttemptAt: START + DAY, email: BEN }
  await accept(store, records.accepted({ status: 'scheduled', scheduledAt: START + DAY, deliveries: [later] }))
  await store.held.hold()
  await queueFanOut(store, records)
  return { hooks }
}

/** An event whose deliveries to webhooks are not written yet. */
async function queueFanOut(store: Store, records: Records): Promise<void> {
  for (let count = 0; count < 30; count++) await store.webhooks.create(records.webhook(), 'whsec_a')
  await store.events.append(Array.from({ length: 30 }, () => records.event()))
}

describe('on SQLite', () =>
  promises(async () => {
    const db = connect(':memory:', { busyTimeoutMs: 0 })
    migrate(db, 0)
    const store = storeOn(db, openEncryption(':memory:', db))
    return {
      store,
      where: (all, condition) =>
        all.filter(
          (one) =>
            db
              .prepare(`select ${condition(one)}`)
              .pluck()
              .get() === 1,
        ),
      tables: db.prepare<unknown[], string>(`select name from sqlite_schema where type = 'table'`).pluck().all(),
      close: () => store.close(),
    }
  }))

describeWithPostgres('on PostgreSQL', () => {
  let postgres: TestPostgres
  let databases = 0
  beforeAll(async () => {
    postgres = await startPostgres()
  })
  afterAll(() => postgres.stop())

  promises(async () => {
    const dataDir = mkdtempSync(join(tmpdir(), 'postrider-removal-'))
    const database = `removal${++databases}`
    const store = await openPostgresStore({ url: await postgres.createDatabase(database), dataDir, now: START })
    return {
      store,
      where: (all, condition) => {
        const holds = postgres.psql(`select ${all.map(condition).join(', ')}`, database).split('|')
        return all.filter((_, at) => holds[at] === 't')
      },
      tables: postgres.psql(`select tablename from pg_tables where schemaname = 'public'`, database).split('\n'),
      close: async () => {
        await store.close()
        rmSync(dataDir, { recursive: true })
      },
    }
  })
})
