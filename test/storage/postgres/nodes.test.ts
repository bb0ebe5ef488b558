import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'bun:test'
import { copyFileSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openPostgresStore } from '../../../src/storage/postgres/open.ts'
import type { Store } from '../../../src/storage/store.ts'
import { until } from '../../support/patience.ts'
import { describeWithPostgres, startPostgres, type TestPostgres } from '../../support/postgres.ts'
import { createMigrated } from '../migrated.ts'
import { accept, claim, createRecords, found, type Records, recordOf, START } from '../records.ts'

/** Longer than any test: what these nodes hand over, they do not take over. */
const TAKEOVER_MS = 3_600_000

describeWithPostgres('nodes of an installation', () => {
  let postgres: TestPostgres
  let createDatabase: () => Promise<string>
  let url: string
  let folders: string[]
  let stores: Set<Store>
  let records: Records
  beforeAll(async () => {
    postgres = await startPostgres()
    createDatabase = await createMigrated(postgres)
  })
  afterAll(() => postgres.stop())
  beforeEach(async () => {
    if (!postgres.isRunning()) await postgres.resume() // a failed test may have halted it
    url = await createDatabase()
    folders = []
    stores = new Set()
    records = createRecords()
  })
  afterEach(async () => {
    for (const store of stores) await store.close()
    for (const folder of folders) rmSync(folder, { recursive: true })
  })

  const sql = (statement: string) => postgres.psql(statement, new URL(url).pathname.slice(1))
  const open = async (name: string, { isCommand = false } = {}): Promise<Store> => {
    const dataDir = mkdtempSync(join(tmpdir(), 'postrider-node-'))
    if (folders[0] !== undefined) copyFileSync(join(folders[0], 'seal.key'), join(dataDir, 'seal.key'))
    folders.push(dataDir)
    const node = { name, hostname: `${name}.example.com`, version: '1.2.3', takeoverMs: TAKEOVER_MS, isCommand }
    const store = await openPostgresStore({ url, dataDir, now: START, clock: () => START, node })
    stores.add(store)
    return store
  }
  const close = async (store: Store) => {
    stores.delete(store)
    await store.close()
  }
  const together = (...nodes: Store[]) =>
    until('the nodes to see each other', () => nodes.every((node) => node.nodes.share().nodes === 2))
  const namesOf = async (store: Store) => (await store.nodes.list()).map(({ name, state }) => `${name} ${state}`)

  test('are listed with their attempts under way; commands are not', async () => {
    const beganAt = Date.now()
    const one = await open('one')
    await found(one, records)
    const two = await open('two')
    const command = await open('', { isCommand: true })
    await together(one, two)
    for (let n = 0; n < 4; n++) {
      await accept(one, records.accepted({ deliveries: [{ email: `a@d${n}.example` }] }))
    }
    const claimed: string[] = []
    await until('a claim', async () => claimed.push(...(await claim(one)).map(({ message }) => message.id)) > 0)
    await until('the attempts under way', async () => (await command.nodes.list())[0]?.underWay === claimed.length)
    const [first, second, ...others] = await command.nodes.list()
    expect(others).toEqual([])
    const recent = (ms: number) => ms >= beganAt - 1 && ms <= Date.now() + 1
    expect(first).toMatchObject({ name: 'one', hostname: 'one.example.com', version: '1.2.3', state: 'active' })
    expect([first!.startedAt, first!.seenAt].map(recent)).toEqual([true, true])
    expect(first!.endedAt).toBeNull()
    expect(second).toMatchObject({ name: 'two', underWay: 0, keyName: first!.keyName })
    expect(first!.keyName).toMatch(/^[0-9a-f]{8}$/)
  })

  test('a node that drains gives all its work to the other and is not ready', async () => {
    const one = await open('one')
    await found(one, records)
    const two = await open('two')
    await together(one, two)
    expect([one.nodes.whyNotReady(), two.nodes.whyNotReady()]).toEqual([null, null])
    expect(await one.nodes.drain('three')).toBe('unknown')
    expect(await one.nodes.drain('two')).toBe('draining')
    expect(await one.nodes.drain('two')).toBe('unchanged')
    await until('the node to drain', () => two.nodes.whyNotReady() === 'this node drains')
    expect(one.nodes.whyNotReady()).toBeNull()
    const ids = []
    for (let n = 0; n < 20; n++) {
      const { message } = await accept(two, records.accepted({ deliveries: [{ email: `a@d${n}.example` }] }))
      ids.push(message.id)
    }
    const claimed: string[] = []
    await until(
      'all claims',
      async () => claimed.push(...(await claim(one)).map(({ message }) => message.id)) >= ids.length,
    )
    expect(claimed.sort()).toEqual(ids.sort())
    expect(await claim(two)).toEqual([])
    await until('the node to have handed over', () => one.nodes.share().nodes === 1)
    const list = await one.nodes.list()
    expect(list.map(({ name, state, isHandedOver }) => [name, state, isHandedOver])).toEqual([
      ['one', 'active', false],
      ['two', 'draining', true],
    ])
  })

  test('an attempt under way of a node that leaves is recorded; what it had only claimed goes on elsewhere', async () => {
    const one = await open('one')
    await found(one, records)
    for (let n = 0; n < 2; n++) {
      await accept(one, records.accepted({ deliveries: [{ email: `a@d${n}.example` }] }))
    }
    const [finishes, remains] = await claim(one)
    const two = await open('two')
    await together(one, two)
    await one.nodes.leave()
    expect(await claim(one)).toEqual([])
    expect(await one.deliveries.record(recordOf(finishes!))).toBe('recorded')
    await close(one)
    const continued: string[] = []
    await until(
      'a claim of the other node',
      async () => continued.push(...(await claim(two)).map(({ message }) => message.id)) > 0,
    )
    expect(continued).toEqual([remains!.message.id])
    expect(two.nodes.share()).toEqual({ nodes: 1, place: 0 })
  })

  test('an ended node stays on the list until it is forgotten or one of its name starts', async () => {
    const one = await open('one')
    await close(await open('two'))
    expect(await namesOf(one)).toEqual(['one active', 'two ended'])
    await close(await open('two'))
    expect(await namesOf(one)).toEqual(['one active', 'two ended'])
    const two = await open('two')
    expect(await namesOf(one)).toEqual(['one active', 'two active'])
    expect(await one.nodes.forget('two')).toBe('running')
    await close(two)
    expect(await one.nodes.forget('two')).toBe('forgotten')
    expect(await one.nodes.forget('two')).toBe('unknown')
    expect(await namesOf(one)).toEqual(['one active'])
  })

  test('the facts are those of the server, with the oldest transaction of any session', async () => {
    const one = await open('one')
    const read = async () => (await one.nodes.database(Date.now))!
    const before = await read()
    expect(before).toMatchObject({
      encoding: 'UTF8',
      user: 'postgres',
      seesAll: true,
      fsync: false,
      fullPageWrites: true,
      synchronousCommit: 'on',
      synchronousStandbys: '',
      standbys: [],
      maxConnections: 100,
      maxWalBytes: 1024 ** 3,
      autovacuum: true,
      replicationSlots: [],
      keepsSession: true,
    })
    expect(before.version).toBe(sql('show server_version'))
    expect(before.connections).toBeGreaterThan(5)
    expect(before.sizeBytes).toBeGreaterThan(1e6)
    expect(before.frozenAge).toBeGreaterThan(0)
    expect(before.roundTripMs).toBeGreaterThan(0)
    // The same clock, read at some time of the round trip; on a busy machine it can be compared a while later.
    await until('equal clocks', async () => {
      const { clockAheadMs, roundTripMs } = await read()
      return Math.abs(clockAheadMs) <= roundTripMs / 2 + 2
    })
    expect((await one.nodes.database(() => Date.now() + 90_000))!.clockAheadMs).toBeGreaterThan(80_000)

    const holding = new Bun.SQL(url, { max: 1 })
    const held = await holding.reserve()
    const startedAt = performance.now()
    await held`begin`
    await held`select 1`
    await until('an old transaction', async () => ((await read()).oldestTransactionMs ?? 0) >= 300)
    expect(performance.now() - startedAt).toBeGreaterThan(200)
    held.release()
    await holding.close({ timeout: 0 })
  })

  test('a node without contact to the database is not ready, and is again with it', async () => {
    const one = await open('one')
    await postgres.halt('fast')
    await until('the node to notice', () => one.nodes.whyNotReady() === 'this node has no contact with the database')
    await postgres.resume()
    await until('the node to be ready', () => one.nodes.whyNotReady() === null)
  })
})
