import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { copyFileSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { UNLIMITED_PLAN } from '../../src/model/organization.ts'
import { endLeasesOfEndedWorkers } from '../../src/storage/ended-workers.ts'
import { StoreMoved } from '../../src/storage/errors.ts'
import { columnsIn, tablesAlike } from '../../src/storage/moving/alike.ts'
import { movedTables } from '../../src/storage/moving/tables.ts'
import { moveToPostgres } from '../../src/storage/moving/to-postgres.ts'
import { moveToSqlite } from '../../src/storage/moving/to-sqlite.ts'
import { parseDatabaseUrl } from '../../src/storage/postgres/address.ts'
import { connect as connectPostgres } from '../../src/storage/postgres/connection.ts'
import { openPostgresStore } from '../../src/storage/postgres/open.ts'
import { connect } from '../../src/storage/sqlite/driver.ts'
import { migrate } from '../../src/storage/sqlite/migrate.ts'
import { openStore } from '../../src/storage/sqlite/open.ts'
import type { Store } from '../../src/storage/store.ts'
import { keepSessions } from '../support/keep-sessions.ts'
import { openNewStore } from '../support/migrated-store.ts'
import { describeWithPostgres, startPostgres, type TestPostgres } from '../support/postgres.ts'
import { deliveryPromises } from './contract-deliveries.ts'
import { domainPromises } from './contract-domains.ts'
import { engagementPromises } from './contract-engagement.ts'
import { eventPromises } from './contract-events.ts'
import { heldPromises } from './contract-held.ts'
import { inboundPromises } from './contract-inbound.ts'
import { inboundDeliveryPromises } from './contract-inbound-deliveries.ts'
import { limitPromises } from './contract-limits.ts'
import { messageListPromises } from './contract-message-list.ts'
import { messagePromises } from './contract-messages.ts'
import { policyReportPromises } from './contract-policy-reports.ts'
import { qualityPromises } from './contract-quality.ts'
import { reportPromises } from './contract-reports.ts'
import { retentionPromises } from './contract-retention.ts'
import { templatePromises } from './contract-templates.ts'
import { webhookDeliveryPromises } from './contract-webhook-deliveries.ts'
import { everythingIn, idsIn } from './everything.ts'
import { createEmptied } from './migrated.ts'
import { accept, createRecords, found, START } from './records.ts'

/** What the store's contract leaves behind: records of every kind in every state. */
const LEFT_BY = {
  messages: messagePromises,
  'list of messages': messageListPromises,
  deliveries: deliveryPromises,
  'domains and organizations': domainPromises,
  engagement: engagementPromises,
  reports: reportPromises,
  events: eventPromises,
  'held after a restore': heldPromises,
  'webhook deliveries': webhookDeliveryPromises,
  inbound: inboundPromises,
  'inbound deliveries': inboundDeliveryPromises,
  limits: limitPromises,
  'policy reports': policyReportPromises,
  quality: qualityPromises,
  retention: retentionPromises,
  templates: templatePromises,
}

describeWithPostgres('moving from SQLite to PostgreSQL', () => {
  let postgres: TestPostgres
  let emptyDatabase: () => Promise<string>
  keepSessions()
  beforeAll(async () => {
    postgres = await startPostgres()
    emptyDatabase = await createEmptied(postgres)
  })
  afterAll(() => postgres.stop())

  test('a move that is cut off after any table, and before it ends, is repeated without harm', async () => {
    const dataDir = mkdtempSync(join(tmpdir(), 'postrider-moving-'))
    const store = await openNewStore({ dataDir, now: START })
    try {
      await fillStore(store)
      const url = await postgres.createDatabase('cut')
      const ids = idsIn(dataDir)
      const before = await everythingIn(store, ids)
      for (const [at, { name }] of (await tablesOf(await emptyDatabase())).entries()) {
        const onCopied = (table: { name: string }) => {
          if (table.name === name) throw new Error(`cut off at ${at}`)
        }
        await expect(move(dataDir, url, false, { onCopied })).rejects.toThrow(`cut off at ${at}`)
      }
      const beforeServing = () => Promise.reject(new Error('cut off at the end'))
      await expect(move(dataDir, url, false, { beforeServing })).rejects.toThrow('cut off at the end')
      await expect(openPostgresStore({ url, dataDir, now: START })).rejects.toBeInstanceOf(StoreMoved)
      const copied = await move(dataDir, url, false)
      expect(copied.filter(({ written, removed }) => written + removed > 0)).toEqual([])
      const moved = await openPostgresStore({ url, dataDir, now: START })
      expect(await everythingIn(moved, ids)).toEqual(before)
      await moved.close()
    } finally {
      await store.close()
      rmSync(dataDir, { recursive: true })
    }
  })

  test('a changed, a missing and a strange row of PostgreSQL are found and repaired', async () => {
    const dataDir = mkdtempSync(join(tmpdir(), 'postrider-moving-'))
    const store = await openNewStore({ dataDir, now: START })
    try {
      await fillStore(store)
      const url = await postgres.createDatabase('repaired')
      await move(dataDir, url, true)
      postgres.psql(
        `update messages set subject = 'x' where id = (select min(id) from messages);
        delete from deliveries where id = (select max(id) from deliveries);
        insert into message_tags values ('org_a', 'strange', 'msg_01m7yzmhgf000000000000000g')`,
        'repaired',
      )
      const copied = await move(dataDir, url, true)
      const repaired = copied.filter(({ written, removed }) => written + removed > 0)
      expect(repaired.map(({ name, written, removed }) => [name, written, removed])).toEqual([
        ['messages', 1, 1],
        ['message_tags', 0, 1],
        ['deliveries', 1, 0],
      ])
    } finally {
      await store.close()
      rmSync(dataDir, { recursive: true })
    }
  })

  test('every table and column of both databases moves, or is known not to', async () => {
    const dataDir = mkdtempSync(join(tmpdir(), 'postrider-moving-'))
    const url = await postgres.createDatabase('columns')
    await (await openPostgresStore({ url, dataDir, now: START })).close()
    rmSync(dataDir, { recursive: true })
    const all = await tablesOf(url)
    const moved = all.flatMap(({ name, columns, derived = {} }) =>
      [...Object.keys(columns), ...Object.keys(derived)].map((column) => `${name}.${column}`),
    )
    const there = postgres
      .psql(
        `select table_name || '.' || column_name from information_schema.columns where table_schema = 'public'`,
        'columns',
      )
      .split('\n')
    const tables = new Set(all.map(({ name }) => name))
    const unmoved = there.filter((column) => !moved.includes(column))
    expect(unmoved.filter((column) => tables.has(column.split('.')[0] ?? '')).sort()).toEqual(COLUMNS_OF_NODES)
    const clauses = all.map(({ from, besides }) => `${from} ${Object.values(besides ?? {}).join(' ')}`).join(' ')
    expect(sqliteTables().filter((table) => !new RegExp(`\\b${table}\\b`).test(clauses))).toEqual(TABLES_OF_SQLITE)
  })

  test('a column that only one database has is not lost: the move is refused', async () => {
    const dataDir = mkdtempSync(join(tmpdir(), 'postrider-moving-'))
    const store = await openNewStore({ dataDir, now: START })
    try {
      const url = await postgres.createDatabase('strange')
      await move(dataDir, url, true)
      postgres.psql('alter table alerts add column strange text', 'strange')
      await expect(move(dataDir, url, true)).rejects.toThrow('columns of one database only: alerts.strange')
    } finally {
      await store.close()
      rmSync(dataDir, { recursive: true })
    }
  })

  for (const [what, promises] of Object.entries(LEFT_BY)) {
    describe(`both sides read the same after: ${what}`, () => {
      let promised = 0
      promises((promise, body, plan = {}) => {
        // A third of them: two moves and one back take half a second of CPU time.
        if (promised++ % 3 > 0) return
        test(promise, async () => {
          const dataDir = mkdtempSync(join(tmpdir(), 'postrider-moving-'))
          const plans = () => ({ ...UNLIMITED_PLAN, ...plan })
          let store = await openNewStore({ dataDir, now: START, plans })
          try {
            const reopen = async () => {
              await store.close()
              store = await openStore({ dataDir, now: START, plans })
              return store
            }
            await body(store, createRecords(), { reopen })
            const url = await emptyDatabase()
            await move(dataDir, url, true)
            await settle(store)
            const ids = idsIn(dataDir)
            const before = await everythingIn(store, ids)
            await move(dataDir, url, false)
            const moved = await openPostgresStore({ url, dataDir, now: START, plans })
            const after = await everythingIn(moved, ids)
            await moved.close()
            expect(after).toEqual(before)
            const back = mkdtempSync(join(tmpdir(), 'postrider-back-'))
            copyFileSync(join(dataDir, 'seal.key'), join(back, 'seal.key'))
            await moveToSqlite({
              address: parseDatabaseUrl(url),
              file: join(back, 'postrider.db'),
              now: START,
              onCopied: () => {},
            })
            const returned = await openStore({ dataDir: back, now: START, plans })
            expect(await everythingIn(returned, ids)).toEqual(before)
            await returned.close()
            rmSync(back, { recursive: true })
            await expect(openPostgresStore({ url, dataDir, now: START, plans })).rejects.toThrow(
              'moved to a data directory',
            )
          } finally {
            await store.close()
            rmSync(dataDir, { recursive: true })
          }
        })
      })
    })
  }
})

/** Columns that only nodes write. */
const COLUMNS_OF_NODES = [
  'delivery_queue.worker',
  'inbound_queue.worker',
  'inbound_routes.removing',
  'webhook_queue.worker',
  'webhooks.removing',
]
/** Made of other tables, without meaning elsewhere, or read with others. */
const TABLES_OF_SQLITE = [
  'content_parts',
  'event_kinds',
  'fan_out_targets',
  'fan_outs',
  'heartbeat',
  'instance',
  'large_contents',
  'message_tags',
  'migrations',
  'search_outdated',
  'storage_count',
]

function sqliteTables(): string[] {
  const db = connect(':memory:', { busyTimeoutMs: 0 })
  migrate(db, START)
  const all = db.prepare<
    unknown[],
    string
  >(`select name from pragma_table_list where schema = 'main' and type <> 'shadow'
    and name not like 'sqlite%' order by name`)
  return all.pluck().all()
}

/** The tables that move into a database. */
async function tablesOf(url: string) {
  const db = connect(':memory:', { busyTimeoutMs: 0 })
  migrate(db, START)
  const connection = await connectPostgres({ address: parseDatabaseUrl(url), name: 'test' })
  try {
    return movedTables(await tablesAlike(columnsIn(db), connection))
  } finally {
    connection.close()
    db.close()
  }
}

/** Records of all kinds, with one of every table. */
async function fillStore(store: Store): Promise<void> {
  const records = createRecords()
  await found(store, records)
  const hook = records.webhook()
  await store.webhooks.create(hook, 'whsec_a')
  const route = records.inboundRoute()
  await store.inboundRoutes.create(route, 'whsec_b')
  const delivered = { status: 'delivered' as const, nextAttemptAt: null, opens: 1 }
  const over = records.accepted({ status: 'delivered', tags: ['a'], deliveries: [delivered] })
  await accept(store, { ...over, events: [records.event({ messageId: over.message.id })] })
  await accept(store, records.accepted({ deliveries: [{}, {}] }))
  await store.inbound.accept(records.acceptedInbound([route]))
  await store.suppressions.add(records.suppression())
  for (const reason of ['unsubscribe', 'complaint'] as const) {
    await store.suppressions.add(records.suppression({ stream: 'bulk', reason }))
  }
}

function move(
  dataDir: string,
  url: string,
  isFirst: boolean,
  change: Partial<Parameters<typeof moveToPostgres>[0]> = {},
) {
  return moveToPostgres({
    file: join(dataDir, 'postrider.db'),
    address: parseDatabaseUrl(url),
    now: START,
    isFirst,
    onCopied: () => {},
    beforeServing: async () => {},
    ...change,
  })
}

/** What the server does when it starts: no worker has anything, and nothing is left to be fanned out. */
async function settle(store: Store): Promise<void> {
  await endLeasesOfEndedWorkers(store, 'none', START)
  while (await store.webhookDeliveries.fanOutSome());
}
