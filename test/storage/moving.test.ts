import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { copyFileSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { UNLIMITED_PLAN } from '../../src/model/organization.ts'
import { endLeasesOfEndedWorkers } from '../../src/storage/ended-workers.ts'
import { StoreMoved } from '../../src/storage/errors.ts'
import { movedTables, UNMOVED, UNMOVED_COLUMNS } from '../../src/storage/moving/tables.ts'
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
import { ALL_EVENTS, accept, createRecords, found, START } from './records.ts'

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
        `update messages set subject = 'x' where number = (select min(number) from messages);
        delete from deliveries where number = (select max(number) from deliveries);
        insert into message_tags values ('org_a', 'strange', 1000000);
        delete from message_words where message_number = (select max(message_number) from message_words)`,
        'repaired',
      )
      const copied = await move(dataDir, url, true)
      const repaired = copied.filter(({ written, removed }) => written + removed > 0)
      // Of messages and deliveries the parts that differ.
      expect(repaired.map(({ name, written, removed }) => [name, written, removed])).toEqual([
        ['deliveries', 3, 2],
        ['message_tags', 0, 1],
        ['messages', 2, 2],
      ])
      expect(postgres.psql('select count(*) from message_words', 'repaired')).toBe('2')
      // As nodes leave it.
      postgres.psql(
        `update events set position = 7; update deliveries set worker = 'node';
        insert into claims values (1, 'deliveries', 'node', 1, '[1]')`,
        'repaired',
      )
      await move(dataDir, url, false)
      const left = `select (select count(*) from events where position <> 0), (select count(*) from claims),
        (select count(*) from deliveries where worker is not null), (select count(*) from events) > 0`
      expect(postgres.psql(left, 'repaired')).toBe('0|0|0|t')
    } finally {
      await store.close()
      rmSync(dataDir, { recursive: true })
    }
  })

  test('every table and column of both databases moves, or is known not to', async () => {
    const url = await emptyDatabase()
    const moved = await tablesOf(url)
    const there = `select table_name || '.' || column_name from information_schema.columns where table_schema = 'public'`
    const all = [...sqliteColumns(), ...postgres.psql(there, 'migrated').split('\n')]
    const columns = moved.flatMap(({ name, columns }) => columns.map((column) => `${name}.${column.name}`))
    const tables = new Set(all.map((column) => column.split('.')[0] ?? ''))
    const left = new Set(all).difference(new Set([...columns, ...Object.keys(UNMOVED_COLUMNS)]))
    expect(new Set([...left].map((column) => column.split('.')[0]))).toEqual(new Set(Object.keys(UNMOVED)))
    expect(Object.keys(UNMOVED).filter((name) => !tables.has(name))).toEqual([])
    expect(Object.keys(UNMOVED_COLUMNS).filter((name) => !all.includes(name))).toEqual([])
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

  test('the feed keeps its order in both directions, and counters of all connections are added', async () => {
    const dataDir = mkdtempSync(join(tmpdir(), 'postrider-moving-'))
    const back = mkdtempSync(join(tmpdir(), 'postrider-back-'))
    const url = await postgres.createDatabase('ordered')
    const feedOf = async (store: Store, after: string | null) =>
      (await store.events.feed(ALL_EVENTS, after, 9))?.records.map(({ id }) => id)
    await (await openPostgresStore({ url, dataDir, now: START })).close()
    postgres.psql(`select setval('numbers', 50000000, false)`, 'ordered')
    const records = createRecords()
    const events = [records.event(), records.event(), records.event(), records.event()] as const
    const [{ id: first }, { id: second }, { id: third }, { id: fourth }] = events
    const order = [first, third, second, fourth]
    const hook = records.webhook()
    try {
      const store = await openPostgresStore({ url, dataDir, now: START })
      await found(store, records)
      await store.webhooks.create(hook, 'whsec_a')
      for (const event of events) await store.events.append([event])
      await accept(store, records.accepted({ deliveries: [{}, {}] }))
      await store.close()
      // As if another node had written the second event, in a later transaction than the third one.
      postgres.psql(
        `update events set position = (select position + 1 from events where id = '${third}') where id = '${second}';
        update events set position = position + 1 where id = '${fourth}';
        insert into usage values ('org_a', 'volume', '2020-01', 98, 2), ('org_a', 'volume', '2020-01', 99, 3)`,
        'ordered',
      )
      await moveBack(url, dataDir, back)
      const db = connect(join(back, 'postrider.db'), { busyTimeoutMs: 0 })
      expect(db.prepare('select number from messages').pluck().all()).toEqual([1])
      const used = db.prepare(`select writer, used from usage where period = '2020-01'`)
      expect(used.all()).toEqual([{ writer: 0, used: 5 }])
      expect(
        db
          .prepare('select e.id from webhook_deliveries d join events e on e.number = d.event_number order by e.number')
          .pluck()
          .all(),
      ).toEqual(order)
      db.close()
      const returned = await openStore({ dataDir: back, now: START })
      expect(await feedOf(returned, null)).toEqual(order)
      expect(await feedOf(returned, third)).toEqual([second, fourth])
      const fifth = records.event()
      await returned.events.append([fifth])
      await returned.close()

      const again = await postgres.createDatabase('again')
      await move(back, again, false)
      const moved = await openPostgresStore({ url: again, dataDir: back, now: START })
      const sixth = records.event()
      await moved.events.append([sixth])
      expect(await feedOf(moved, third)).toEqual([second, fourth, fifth.id, sixth.id])
      await accept(moved, records.accepted())
      await moved.close()
      const behind = 'select max(number) > (select min(number) from messages) from messages'
      expect(postgres.psql(behind, 'again')).toBe('t')
    } finally {
      for (const folder of [dataDir, back]) rmSync(folder, { recursive: true })
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
            await moveBack(url, dataDir, back)
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

function sqliteColumns(): string[] {
  const db = connect(':memory:', { busyTimeoutMs: 0 })
  migrate(db, START)
  const text = `select t.name || '.' || c.name from pragma_table_list t join pragma_table_info(t.name) c
    where t.schema = 'main' and t.name not like 'sqlite%'`
  return db.prepare<unknown[], string>(text).pluck().all()
}

/** The tables that move into a database. */
async function tablesOf(url: string) {
  const db = connect(':memory:', { busyTimeoutMs: 0 })
  migrate(db, START)
  const connection = await connectPostgres({ address: parseDatabaseUrl(url), name: 'test' })
  try {
    return await movedTables(db, connection)
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

async function moveBack(url: string, dataDir: string, back: string): Promise<void> {
  copyFileSync(join(dataDir, 'seal.key'), join(back, 'seal.key'))
  const file = join(back, 'postrider.db')
  await moveToSqlite({ address: parseDatabaseUrl(url), file, now: START, onCopied: () => {} })
}

/** What the server does when it starts: no worker has anything, and nothing is left to be fanned out. */
async function settle(store: Store): Promise<void> {
  await endLeasesOfEndedWorkers(store, 'none', START)
  while (await store.webhookDeliveries.fanOutSome());
}
