import { afterAll, beforeAll, expect, test } from 'bun:test'
import { UNLIMITED_PLAN } from '../../../src/model/organization.ts'
import { createEncryption, KEY_BYTES } from '../../../src/storage/encryption.ts'
import { parseDatabaseUrl } from '../../../src/storage/postgres/address.ts'
import { connect } from '../../../src/storage/postgres/connection.ts'
import { postgresDatabase } from '../../../src/storage/postgres/database.ts'
import { DueKeys } from '../../../src/storage/postgres/due-keys.ts'
import { createLanes } from '../../../src/storage/postgres/lanes.ts'
import { migrate } from '../../../src/storage/postgres/migrate.ts'
import { createMirrors, loadMirrors } from '../../../src/storage/postgres/mirrors.ts'
import { registerNode } from '../../../src/storage/postgres/nodes.ts'
import { createReads, type Reads } from '../../../src/storage/postgres/reads.ts'
import { createSettings } from '../../../src/storage/postgres/settings.ts'
import { auditedAction } from '../../../src/storage/records/audit-log.ts'
import { organizationRecords } from '../../../src/storage/records/organizations.ts'
import { rows, run, sql } from '../../../src/storage/sql.ts'
import { StoreUnavailable } from '../../../src/storage/store.ts'
import { PATIENCE_MS } from '../../support/patience.ts'
import { describeWithPostgres, startPostgres, type TestPostgres } from '../../support/postgres.ts'

const TAG = sql(`insert into message_tags (organization_id, tag, message_number) values ('org_1', 'late', 1)`)
const TAGS = sql<{ tag: string }>('select tag from message_tags')

describeWithPostgres('changes of settings', () => {
  let postgres: TestPostgres
  beforeAll(async () => {
    postgres = await startPostgres()
  })
  afterAll(() => postgres.stop())

  /** Organizations of two nodes, and the reads of the first, which fail while `isBroken`. */
  const openNodes = async (database: string, patienceMs = PATIENCE_MS) => {
    const address = parseDatabaseUrl(await postgres.createDatabase(database))
    const first = await connect({ address, name: 'start' })
    expect(await migrate(first, 0)).toEqual([])
    const state = { isBroken: false }
    const open = async () => {
      const { node, lanes: laneIds } = await registerNode(first, {
        dataDir: null,
        key: crypto.randomUUID(),
        name: '',
        hostname: '',
        version: '',
        keyName: '',
        placement: null,
        settings: null,
      })
      const shared = createReads(() => connect({ address, name: 'reads' }))
      const reads: Reads = {
        close: shared.close,
        query: (text, values) =>
          state.isBroken ? Promise.reject(new StoreUnavailable('no reads')) : shared.query(text, values),
      }
      const mirrors = createMirrors(createEncryption([new Uint8Array(KEY_BYTES)]))
      await loadMirrors(mirrors, reads)
      const lanes = createLanes({
        connect: () => connect({ address, name: 'mail' }),
        laneIds,
        mirrors,
        planOf: () => UNLIMITED_PLAN,
        settings: () => settings,
        action: auditedAction(),
        listener: undefined,
        observer: undefined,
        patienceMs, // each change waits for those before it
        offered: () => {},
        due: new DueKeys(reads).indexes,
      })
      const settings = createSettings(lanes.settings, {
        reads,
        mirrors,
        version: node.configurationVersion,
        mailSettled: lanes.settled,
        announce: async () => {},
        patienceMs: PATIENCE_MS,
      })
      const database = postgresDatabase(reads, lanes.records, settings)
      return {
        organizations: organizationRecords(database, mirrors.organization.get),
        lanes,
        settings,
        close: async () => {
          await lanes.close()
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
    const { lanes, settings } = one
    return { one: one.organizations, two: two.organizations, lanes, settings, first, state, close }
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

  test('a change follows mail whose caller has left and that is committed later', async () => {
    const { one, lanes, settings, first, close } = await openNodes('doubt', 500)
    await one.create(organization(1)) // over a connection that stays open
    await first.query('begin')
    await first.query('lock table message_tags in share mode')
    const mail = lanes.accepting.perform(() => run(TAG)).catch((error) => error)
    expect(await mail).toMatchObject({ name: 'StoreUnavailable', isUncertain: true })
    const seen = settings.write(() => rows(TAGS))
    await Promise.race([seen, Bun.sleep(500)]) // it would not see the mail yet
    await first.query('commit')
    expect(await seen).toEqual([{ tag: 'late' }])
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
