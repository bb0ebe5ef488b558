import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'bun:test'
import { copyFileSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { SQL } from 'bun'
import { openPostgresStore } from '../../../src/storage/postgres/open.ts'
import type { Store } from '../../../src/storage/store.ts'
import { until } from '../../support/patience.ts'
import { describeWithPostgres, startPostgres, type TestPostgres } from '../../support/postgres.ts'
import { createMigrated } from '../migrated.ts'
import { accept, createRecords, found, ORGANIZATION, type Records, START } from '../records.ts'

const HOURS_AGO = `now() - interval '2 hours'`
/** Longer than any test: no node ends another. */
const TAKEOVER_MS = 3_600_000
const VOLUME = { organizationId: ORGANIZATION, month: '2026-11', count: 1, limit: -1 }

describeWithPostgres('what ended nodes leave', () => {
  let postgres: TestPostgres
  let createDatabase: () => Promise<string>
  let url: string
  let folders: string[]
  let stores: Store[]
  let records: Records
  beforeAll(async () => {
    postgres = await startPostgres()
    createDatabase = await createMigrated(postgres)
  })
  afterAll(() => postgres.stop())
  beforeEach(async () => {
    url = await createDatabase()
    folders = []
    stores = []
    records = createRecords()
  })
  afterEach(async () => {
    for (const store of stores) await store.close()
    for (const folder of folders) rmSync(folder, { recursive: true })
  })

  const sql = (statement: string) => postgres.psql(statement, new URL(url).pathname.slice(1))
  const open = async (name = `n${folders.length}`): Promise<Store> => {
    const dataDir = mkdtempSync(join(tmpdir(), 'postrider-node-'))
    if (folders[0] !== undefined) copyFileSync(join(folders[0], 'seal.key'), join(dataDir, 'seal.key'))
    folders.push(dataDir)
    const store = await openPostgresStore({
      url,
      dataDir,
      now: START,
      clock: () => START,
      node: { name, takeoverMs: TAKEOVER_MS },
    })
    stores.push(store)
    return store
  }
  const close = async (store: Store) => {
    stores.splice(stores.indexOf(store), 1)
    await store.close()
  }
  const tidyUp = async (store: Store) => {
    while (await store.maintain('ended', () => false));
  }
  /** All counters of mail that the API shows. */
  const counted = async (store: Store) => ({
    volume: await store.messages.volume(ORGANIZATION, '2026-11'),
    usage: await store.usage.of(ORGANIZATION, START),
    stats: await store.stats.days({ organizationId: ORGANIZATION, domainId: null, tag: null, mode: 'live' }, [
      { from: START - (START % 86_400_000), before: START + 86_400_000 },
    ]),
  })
  const acceptAt = (store: Store) => store.messages.accept([records.accepted()], VOLUME)

  test('their counters become one row each, and the sums are the same', async () => {
    const one = await open()
    await found(one, records)
    for (let n = 0; n < 3; n++) {
      const other = await open()
      await acceptAt(other)
      await close(other)
    }
    await acceptAt(one)
    const before = await counted(one)
    expect(before.volume).toBe(4)
    await tidyUp(one)
    expect(await counted(one)).toEqual(before)
    const lanesOf = (table: string) =>
      sql(`select string_agg(distinct writer::text, ' ' order by writer::text) from ${table}`)
    const own = sql('select min(id) from lanes where node_id = 1') // which accepts
    expect([lanesOf('usage'), lanesOf('stats')]).toEqual([`0 ${own}`, `0 ${own}`])
    await tidyUp(one)
    expect(await counted(one)).toEqual(before)
  })

  test('sums stay the same for readers while two nodes fold and others count', async () => {
    const one = await open()
    await found(one, records)
    const two = await open()
    const gone = await open()
    await acceptAt(gone)
    await close(gone)
    const [lane] = sql('select id from lanes where node_id = 3 order by id').split('\n')
    sql(`insert into usage select 'org_many', 'volume', to_char(n, 'FM000000'), ${lane}, 3 from generate_series(1, 4000) n;
      insert into usage select 'org_many', 'volume', to_char(n, 'FM000000'), 0, 5 from generate_series(1, 2000) n;
      insert into quality_counts select 3600000, 'dom_' || n, 0, ${lane}, 1, 2, 3, 4, 5 from generate_series(1, 3000) n`)
    // Not by psql: this process, with both nodes, would stand still meanwhile.
    await using reader = new SQL(url)
    const sums = async (): Promise<string> => {
      const [row] = await reader`select (select sum(used) from usage where organization_id = 'org_many') || ' ' ||
        (select sum(delivered + 10 * bounced + 100 * hard_bounced + 1000 * late_bounced + 10000 * complained)
          from quality_counts) as sums`
      return row.sums
    }
    const before = await sums()
    const seen = new Set<string>()
    let isFolding = true
    let accepted = 0
    const [folded] = await Promise.all([
      Promise.all([tidyUp(one), tidyUp(two)]).finally(() => {
        isFolding = false
      }),
      (async () => {
        for (; isFolding; accepted++) await acceptAt(accepted % 2 === 0 ? one : two)
      })(),
      (async () => {
        while (isFolding) seen.add(await sums())
      })(),
    ])
    expect(folded).toHaveLength(2)
    expect([...seen, await sums()]).toEqual([...seen].map(() => before).concat(before))
    expect(sql(`select count(*) from usage where writer = ${lane}`)).toBe('0')
    expect(sql(`select count(*) from quality_counts where writer = 0`)).toBe('3000')
    expect((await counted(one)).volume).toBe(accepted + 1)
  })

  test('their lanes and rows go after an hour, but the last one of a name stays on the list for a month', async () => {
    const one = await open()
    await found(one, records)
    const command = await openPostgresStore({ url, dataDir: folders[0]!, now: START, node: { isCommand: true } })
    await command.close()
    const replaced = await open('same')
    await accept(replaced, records.accepted())
    await close(replaced)
    await close(await open('same'))
    await close(await open('other'))
    await one.leases.take('leader', 60_000)
    const nodes = () => sql(`select string_agg(id::text, ' ' order by id) from nodes`)
    await tidyUp(one)
    expect(nodes()).toBe('1 2 3 4 5')
    sql(`update nodes set ended_at = ${HOURS_AGO} where ended_at is not null;
      update lanes set ended_at = ${HOURS_AGO} where ended_at is not null`)
    await tidyUp(one)
    // 4 and 5 are on the list, as the last ones of their names.
    expect(nodes()).toBe('1 4 5')
    expect(sql('select count(distinct node_id) from lanes')).toBe('1')
    sql(`update nodes set ended_at = now() - interval '31 days' where ended_at is not null`)
    await tidyUp(one)
    expect(nodes()).toBe('1')
    expect((await accept(one, records.accepted())).message.id).toBeString()
  })

  test('changes of settings go once every live node has them', async () => {
    const one = await open()
    await found(one, records)
    const two = await open()
    await one.webhooks.create(records.webhook(), 'whsec_a')
    const changes = () => Number(sql('select count(*) from configuration_changes'))
    expect(changes()).toBeGreaterThan(0)
    sql('update nodes set configuration_version = 1 where id = 2 and configuration_version > 1')
    await until('the changes to go', async () => {
      await tidyUp(one)
      return changes() === 0
    })
    const hook = records.webhook()
    await two.webhooks.create(hook, 'whsec_b')
    expect((await one.webhooks.get(hook.id))?.id).toBe(hook.id)
  })

  test('parts of contents that they were about to accept, and their rates, are removed', async () => {
    const one = await open()
    await found(one, records)
    await close(await open())
    const [lane] = sql('select id from lanes where node_id = 2 order by id').split('\n')
    sql(`insert into large_contents (number, kind, owner, writer) values (1, 'coming', null, ${lane});
      insert into content_parts (content, part, bytes) values (1, 1, '\\x00');
      insert into rates values ('key_a', 1, 0, 1), ('key_a', 2, 0, 1);
      insert into due_rates values ('old', ${START - 3_600_001}), ('new', ${START - 3_599_999})`)
    sql(`select pg_notify('postrider', '*')`)
    await until('the parts to be given up', () => sql('select kind from large_contents') === 'gone')
    await tidyUp(one)
    expect(sql('select count(*) from content_parts')).toBe('0')
    expect(sql('select node_id from rates')).toBe('1')
    expect(sql('select name from due_rates')).toBe('new')
  })
})
