import { afterAll, beforeAll, expect, test } from 'bun:test'
import { createEncryption, KEY_BYTES } from '../../../src/storage/encryption.ts'
import { parseDatabaseUrl } from '../../../src/storage/postgres/address.ts'
import { connect } from '../../../src/storage/postgres/connection.ts'
import { postgresDatabase } from '../../../src/storage/postgres/database.ts'
import type { MailLane } from '../../../src/storage/postgres/group.ts'
import { migrate } from '../../../src/storage/postgres/migrate.ts'
import { createMirrors, loadMirrors } from '../../../src/storage/postgres/mirrors.ts'
import { registerNode } from '../../../src/storage/postgres/nodes.ts'
import { createReads, type Reads } from '../../../src/storage/postgres/reads.ts'
import { createTransactions } from '../../../src/storage/postgres/transactions.ts'
import { createWriter } from '../../../src/storage/postgres/writer.ts'
import { organizationRecords } from '../../../src/storage/records/organizations.ts'
import { StoreUnavailable } from '../../../src/storage/store.ts'
import { PATIENCE_MS } from '../../support/patience.ts'
import { describeWithPostgres, startPostgres, type TestPostgres } from '../../support/postgres.ts'

describeWithPostgres('changes of settings', () => {
  let postgres: TestPostgres
  beforeAll(async () => {
    postgres = await startPostgres()
  })
  afterAll(() => postgres.stop())

  /** Organizations write no events. */
  const withoutMail: Pick<MailLane, 'perform'> = {
    perform: () => Promise.reject(new Error('no lane')),
  }
  /** Organizations of two nodes, and the reads of the first, which fail while `isBroken`. */
  const openNodes = async (database: string) => {
    const address = parseDatabaseUrl(await postgres.createDatabase(database))
    const first = await connect({ address, name: 'start' })
    expect(await migrate(first, 0)).toEqual([])
    const state = { isBroken: false }
    const open = async () => {
      const { node, settingsLane } = await registerNode(first, {
        dataDir: null,
        key: crypto.randomUUID(),
        name: '',
        hostname: '',
        version: '',
        keyName: '',
        placement: null,
        now: Date.now,
      })
      const shared = createReads(() => connect({ address, name: 'reads' }))
      const reads: Reads = {
        close: shared.close,
        query: (text, values) =>
          state.isBroken ? Promise.reject(new StoreUnavailable('no reads')) : shared.query(text, values),
      }
      const mirrors = createMirrors(createEncryption([new Uint8Array(KEY_BYTES)]))
      await loadMirrors(mirrors, reads)
      const transactions = createTransactions({
        connect: () => connect({ address, name: 'settings' }),
        laneId: settingsLane,
        writtenTo: () => 0,
        patienceMs: PATIENCE_MS, // each change waits for those before it
      })
      const writer = createWriter(transactions, {
        reads,
        mirrors,
        accompany: (change) => change,
        version: node.configurationVersion,
        mailSettled: () => null,
        announce: async () => {},
      })
      return {
        organizations: organizationRecords(postgresDatabase(reads, writer, withoutMail), mirrors.organization.get),
        close: async () => {
          await transactions.close()
          reads.close()
        },
      }
    }
    const [one, two] = [await open(), await open()]
    const close = async () => {
      await one.close()
      await two.close()
      first.close()
    }
    return { one: one.organizations, two: two.organizations, first, state, close }
  }
  const organization = (n: number) => ({ id: `org_${n}`, name: `Shop ${n}`, plan: 'pro', createdAt: n })

  test('each change has the next version, with the records that it changed', async () => {
    const { one, first, close } = await openNodes('versions')
    await one.create(organization(1))
    await one.create(organization(2))
    expect(await one.create({ ...organization(3), name: 'Shop 1' })).toBe('conflict')
    await one.setPlan('org_1', 'free')
    expect(
      await first.query('select version::int, kind, record_id as id from configuration_changes order by version'),
    ).toEqual([
      { version: 1, kind: 'organization', id: 'org_1' },
      { version: 2, kind: 'organization', id: 'org_2' },
      { version: 3, kind: 'organization', id: 'org_3' },
      { version: 4, kind: 'organization', id: 'org_1' },
    ])
    await close()
  })

  test('changes of two nodes are serial: of a hundred names that both create, each exists once', async () => {
    const { one, two, first, close } = await openNodes('serial')
    const answers = await Promise.all(
      Array.from({ length: 100 }, (_, n) => [
        one.create({ ...organization(n), id: `org_a${n}` }),
        two.create({ ...organization(n), id: `org_b${n}` }),
      ]).flat(),
    )
    expect(answers.filter((answer) => answer === 'created')).toHaveLength(100)
    expect(await first.query('select count(*)::int as count from organizations')).toEqual([{ count: 100 }])
    await close()
  })

  test('a change that cannot be read back is uncertain, and the next change reads it too', async () => {
    const { one, state, close } = await openNodes('unread')
    await one.create(organization(1))
    state.isBroken = true
    const changed = one.setPlan('org_1', 'free')
    await expect(changed).rejects.toMatchObject({ name: 'StoreUnavailable', isUncertain: true })
    expect((await one.get('org_1'))?.plan).toBe('pro')
    state.isBroken = false
    await one.create(organization(2))
    expect((await one.get('org_1'))?.plan).toBe('free')
    await close()
  })
})
