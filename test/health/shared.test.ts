import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'bun:test'
import { spfAllows } from '../../src/domains/spf.ts'
import { runChecks } from '../../src/operating/health/check.ts'
import { databaseChecks } from '../../src/operating/health/database.ts'
import { nodeChecks } from '../../src/operating/health/nodes.ts'
import type { DatabaseFacts, NodeRecord } from '../../src/storage/store.ts'
import { START } from '../support/server.ts'
import { INSTALLATION, startTestMachine, type TestMachine } from './setup.ts'

/** Checks of an installation on PostgreSQL. */
const GB = 1024 ** 3
const WELL: DatabaseFacts = {
  version: '17.2',
  encoding: 'UTF8',
  user: 'postrider',
  seesAll: true,
  sizeBytes: GB,
  fsync: true,
  fullPageWrites: true,
  synchronousCommit: 'on',
  synchronousStandbys: 'FIRST 1 (db2)',
  standbys: [{ name: 'db2', isSynchronous: true, lagMs: 1 }],
  connections: 30,
  maxConnections: 100,
  maxWalBytes: 4 * GB,
  autovacuum: true,
  frozenAge: 1_000_000,
  oldestTransactionMs: null,
  replicationSlots: [{ name: 'db2', isActive: true, keptBytes: 0 }],
  roundTripMs: 0.4,
  clockAheadMs: 3,
  keepsSession: true,
}

describe('the database', () => {
  const check = async (change: Partial<DatabaseFacts>, nodes = 2) => {
    const results = await runChecks(
      databaseChecks(
        async () => ({ ...WELL, ...change }),
        async () => nodes,
      ),
    )
    return results.filter(({ status }) => status !== 'pass')
  }

  test('passes every check if all is well', async () => {
    expect(await check({})).toEqual([])
  })

  test.each<[string, string, Partial<DatabaseFacts>, string]>([
    ['database', 'fail', { version: '14.11' }, 'PostgreSQL 14.11 is too old'],
    ['database', 'fail', { encoding: 'LATIN1' }, 'LATIN1'],
    ['database', 'fail', { keepsSession: false }, 'pool_mode = session'],
    ['database_durability', 'fail', { fsync: false, fullPageWrites: false }, 'set fsync = on, full_page_writes = on'],
    ['database_durability', 'fail', { synchronousCommit: 'off' }, 'synchronous_commit = on'],
    ['database_standbys', 'warn', { synchronousStandbys: '' }, 'loses the last acknowledged messages'],
    ['database_standbys', 'warn', { synchronousCommit: 'local' }, 'synchronous_mode in Patroni'],
    ['database_standbys', 'warn', { standbys: [] }, 'Start the standby'],
    ['database_standbys', 'skip', { standbys: [], synchronousStandbys: '' }, 'no standby'],
    ['database_connections', 'fail', { maxConnections: 35 }, 'set max_connections = 36'],
    ['database_wal', 'warn', { maxWalBytes: GB }, 'max_wal_size is 1 GB'],
    ['database_latency', 'warn', { roundTripMs: 2.1 }, 'same data center'],
    ['database_clock', 'warn', { clockAheadMs: -1_500 }, '1.5 s behind PostgreSQL'],
    ['database_clock', 'warn', { clockAheadMs: 1_001 }, '1.0 s ahead of PostgreSQL'],
    ['database_vacuum', 'fail', { autovacuum: false }, 'autovacuum = on'],
    ['database_vacuum', 'warn', { frozenAge: 500_000_000 }, 'vacuumdb --freeze'],
    ['database_vacuum', 'fail', { frozenAge: 1_500_000_000 }, 'stops at 2,000 million'],
    ['database_transactions', 'warn', { oldestTransactionMs: 301_000 }, 'pg_terminate_backend'],
    ['database_transactions', 'skip', { seesAll: false }, 'grant pg_monitor to postrider'],
    ['database_replication_slots', 'skip', { replicationSlots: [] }, 'no replication slot'],
    [
      'database_replication_slots',
      'warn',
      { replicationSlots: [{ name: 'gone', isActive: false, keptBytes: 5 * GB }] },
      'gone is not in use and keeps 5 GB',
    ],
    [
      'database_replication_slots',
      'warn',
      { replicationSlots: [{ name: 'slow', isActive: true, keptBytes: 11 * GB }] },
      'slow is behind and keeps 11 GB',
    ],
  ])('%s is %s with %j', async (name, status, change, part) => {
    const found = await check(change)
    expect(found.map((result) => [result.name, result.status])).toEqual([[name, status]] as never)
    expect(`${found[0]?.message} ${found[0]?.advice}`).toContain(part)
  })

  test('a limit is not passed at its value', async () => {
    const atLimits = { maxConnections: 36, roundTripMs: 2, clockAheadMs: 1_000, oldestTransactionMs: 300_000 }
    expect(await check({ ...atLimits, frozenAge: 499_999_999 })).toEqual([])
  })
})

const node = (name: string, change: Partial<NodeRecord> = {}): NodeRecord => ({
  id: 1,
  name,
  hostname: `${name}.sender.example`,
  version: '1.2.3',
  keyName: 'aabbccdd',
  startedAt: START,
  seenAt: START,
  state: 'active',
  underWay: 0,
  isHandedOver: false,
  endedAt: null,
  settings: null,
  ...change,
})

describe('nodes', () => {
  const check = (...list: NodeRecord[]) => checkWith([], ...list)
  const checkWith = async (addressesOfNodes: typeof INSTALLATION.addressesOfNodes, ...list: NodeRecord[]) => {
    const checks = nodeChecks(async () => list, { domains: [], smarthost: null, addressesOfNodes }, {} as never)
    return (await runChecks(checks.filter(({ name }) => name === 'nodes')))[0]!
  }

  test('that run with one version and key pass', async () => {
    const found = await check(node('mx1'), node('mx2', { version: '1.3.0' }))
    expect(found).toMatchObject({ status: 'pass', message: '2 nodes run: mx1, mx2' })
    expect(await check()).toMatchObject({ status: 'skip' })
  })

  test('that have the sending addresses pass, and one that does not run is named', async () => {
    const addresses = [{ address: '192.0.2.9', node: 'mx2' }]
    expect(await checkWith(addresses, node('mx1'), node('mx2'))).toMatchObject({ status: 'pass' })
    for (const others of [[], [node('mx2', { state: 'ended' })]]) {
      expect(await checkWith(addresses, node('mx1'), ...others)).toMatchObject({
        status: 'warn',
        message: 'mx2, which has the sending address 192.0.2.9, does not run; its mail is sent from other addresses',
      })
    }
  })

  test.each<[string, string, Partial<NodeRecord>, string]>([
    ['another key', 'fail', { keyName: 'other' }, 'Copy the same seal.key'],
    ['another major version', 'warn', { version: '2.0.0' }, 'mx1 1.2.3, mx2 2.0.0'],
    ['no contact', 'fail', { state: 'silent' }, 'mx2 has no contact'],
    ['ended', 'warn', { state: 'ended' }, 'postrider node forget mx2'],
    ['draining', 'warn', { state: 'draining' }, 'mx2 drains'],
  ])('with %s are reported', async (_, status, change, part) => {
    const found = await check(node('mx1'), node('mx2', change))
    expect(found.status).toBe(status as never)
    expect(`${found.message} ${found.advice}`).toContain(part)
  })

  test('that all drain fail, and a key of an ended node does not count', async () => {
    expect(await check(node('mx1', { state: 'draining' }))).toMatchObject({ status: 'fail' })
    const found = await check(node('mx1'), node('mx2', { state: 'ended', keyName: 'other' }))
    expect(found.message).toBe('mx2 has ended')
  })
})

describe('settings of nodes', () => {
  const check = async (...list: NodeRecord[]) => {
    const checks = nodeChecks(async () => list, { domains: [], smarthost: null, addressesOfNodes: [] }, {} as never)
    return (await runChecks(checks.filter(({ name }) => name === 'node_settings')))[0]!
  }
  const same = { 'oidc.issuer': 'aa' }

  test('that are the same pass, and a node without published ones is left out', async () => {
    expect(await check(node('mx1', { settings: same }), node('mx2'))).toMatchObject({ status: 'skip' })
    const two = [node('mx1', { settings: same }), node('mx2', { settings: { ...same } })]
    expect(await check(...two)).toMatchObject({ status: 'pass' })
    expect(await check(...two, node('mx3', { settings: {}, state: 'ended' }))).toMatchObject({ status: 'pass' })
  })

  test('that differ are named by their keys, also where one node has the default', async () => {
    const other = node('mx2', { settings: { 'oidc.issuer': 'bb', 'plans.free.domains': 'cc' } })
    expect(await check(node('mx1', { settings: same }), other)).toMatchObject({
      status: 'warn',
      message: 'these settings differ between mx1, mx2: oidc.issuer, plans.free.domains',
    })
  })

  test('are not compared while the nodes have different keys', async () => {
    const other = node('mx2', { settings: {}, keyName: 'other' })
    expect(await check(node('mx1', { settings: same }), other)).toMatchObject({ status: 'skip' })
  })
})

describe('names of nodes', () => {
  let machine: TestMachine
  beforeAll(async () => {
    machine = await startTestMachine()
  })
  afterAll(() => machine.stop())
  const SPF_HOST = 'bounces.sender.example'
  const [A1, A2] = ['11.22.33.41', '11.22.33.42']
  beforeEach(() => {
    for (const [name, address] of [
      ['mx1', A1],
      ['mx2', A2],
    ] as const) {
      machine.zone.set(`${name}.sender.example`, 'A', [address])
      machine.zone.set(`${address.split('.').reverse().join('.')}.in-addr.arpa`, 'PTR', [`${name}.sender.example`])
    }
    machine.zone.set(SPF_HOST, 'TXT', ['v=spf1 a:mx1.sender.example ip4:11.22.33.42 ~all'])
  })
  const check = async (list = [node('mx1'), node('mx2')], smarthost: typeof INSTALLATION.smarthost = null) => {
    const { resolver } = machine
    const checks = nodeChecks(
      async () => list,
      { ...INSTALLATION, smarthost },
      {
        resolver,
        spfAllows: (record, host, sender) => spfAllows(record, host, sender, resolver),
      },
    )
    return (await runChecks(checks.filter(({ name }) => name === 'node_names')))[0]!
  }

  test('that are in SPF and reverse DNS pass', async () => {
    expect(await check()).toMatchObject({ status: 'pass' })
  })

  test('one node and a smarthost need none', async () => {
    expect(await check([node('mx1'), node('mx2', { state: 'ended' })])).toMatchObject({ status: 'skip' })
    expect(await check(undefined, { host: 'relay.example', port: 587 })).toMatchObject({ status: 'skip' })
  })

  test('a node that SPF leaves out fails, with the record to publish', async () => {
    machine.zone.set(SPF_HOST, 'TXT', ['v=spf1 a:mx1.sender.example ~all'])
    const found = await check()
    expect(found).toMatchObject({
      status: 'fail',
      message: `the SPF record of ${SPF_HOST} leaves out mx2.sender.example`,
    })
    expect(found.advice).toContain('v=spf1 a:mx1.sender.example a:mx2.sender.example ~all')
  })

  test('a node with another name in reverse DNS, or without an address, fails', async () => {
    machine.zone.set('42.33.22.11.in-addr.arpa', 'PTR', ['host42.provider.example'])
    expect((await check()).message).toBe(`${A2} of mx2.sender.example has another name in reverse DNS`)
    machine.zone.set('mx1.sender.example', 'A', [])
    expect((await check()).message).toBe('mx1.sender.example has no address')
  })
})
