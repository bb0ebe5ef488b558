import { afterAll, afterEach, beforeAll, expect, test } from 'bun:test'
import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { SQL } from 'bun'
import type { Suppression } from '../../../src/model/suppression.ts'
import { FIRST_USER } from '../../../src/model/user.ts'
import { parseDatabaseUrl } from '../../../src/storage/postgres/address.ts'
import { type Connection, connect } from '../../../src/storage/postgres/connection.ts'
import { MIGRATIONS, type Migration, migrate } from '../../../src/storage/postgres/migrate.ts'
import { openPostgresStore } from '../../../src/storage/postgres/open.ts'
import { postrider, start, testFolder } from '../../cli/command.ts'
import { until } from '../../support/patience.ts'
import { describeWithPostgres, startPostgres, type TestPostgres } from '../../support/postgres.ts'

const ROOT = join(import.meta.dir, '../../..')
const WIDEN: Migration = { name: '9001_widen', sql: `alter table messages add column extra int not null default 7` }
const NARROW: Migration = { name: '9002_narrow', sql: 'drop table search_ranges', isNarrow: true }

describeWithPostgres('upgrading a PostgreSQL', () => {
  let postgres: TestPostgres
  let databases = 0
  const undo: (() => unknown)[] = []
  beforeAll(async () => {
    postgres = await startPostgres()
  })
  afterAll(() => postgres.stop())
  afterEach(async () => {
    for (const step of undo.splice(0).reverse()) await step()
  })

  const created = () => postgres.createDatabase(`upgrade${++databases}`)
  const sql = (statement: string) => postgres.psql(statement, `upgrade${databases}`)
  const connection = async (url: string): Promise<Connection> => {
    const made = await connect({ address: parseDatabaseUrl(url), name: 'test' })
    undo.push(() => made.close())
    return made
  }

  test('a step that older nodes cannot serve waits until they have ended, and what follows waits with it', async () => {
    const one = await connection(await created())
    await migrate(one, 1)
    const steps = [...MIGRATIONS, NARROW, WIDEN]
    sql(`insert into nodes (key, name, version, handles_mail, passed, configuration_version, schema)
      values ('a', 'old', '1', true, 0, 0, ${MIGRATIONS.length}), ('b', 'new', '2', true, 0, 0, ${steps.length})`)
    expect(await migrate(one, 2, steps)).toEqual([])
    sql(`update nodes set ended_at = now() where name = 'old'`)
    expect(await migrate(one, 3, steps)).toEqual(['9002_narrow', '9001_widen'])
    expect(await migrate(one, 4, steps)).toEqual([])
  })

  test('the operator becomes the first user; older nodes still set the password, and no longer accept a changed one', async () => {
    const url = await created()
    const one = await connection(url)
    const before = MIGRATIONS.findIndex(({ name }) => name === '0050_users')
    await migrate(one, 1, MIGRATIONS.slice(0, before))
    sql(`insert into operator_password values (1, 'hash', 1)`)
    sql(`insert into sessions values ('ses_1', '\\x01', 1, 1, 99, null, 'b')`)
    expect(await migrate(one, 2)).toContain('0050_users')
    expect(sql('select id, operator, password_hash from users')).toBe(`${FIRST_USER}|t|hash`)
    expect(sql('select user_id from sessions')).toBe(FIRST_USER)
    sql(`insert into operator_password values (1, 'newer', 2) on conflict (one) do update set hash = excluded.hash`)
    expect(sql('select password_hash from users')).toBe('newer')
    sql(`insert into sessions values ('ses_2', '\\x02', 1, 1, 99, null, 'b')`)
    const place = testFolder()
    undo.push(() => place.remove())
    const store = await openPostgresStore({ url, dataDir: place.folder, now: 3 })
    undo.push(() => store.close())
    await store.users.setPassword(FIRST_USER, 'newest', 'ses_2')
    expect(sql('select count(*) from operator_password')).toBe('0')
    expect(sql('select id from sessions')).toBe('ses_2')
  })

  test('suppressions keep to one for each address and domain until the last older node has ended', async () => {
    const url = await created()
    const one = await connection(url)
    const before = MIGRATIONS.findIndex(({ name }) => name === '0076_suppression_streams')
    await migrate(one, 1, MIGRATIONS.slice(0, before))
    sql(`insert into suppressions values ('sup_a', 'org_a', '', 'old@x.example', 'unsubscribe', null, 1, null, 'live')`)
    sql(`insert into nodes (key, name, version, handles_mail, passed, configuration_version, schema)
      values ('a', 'old', '1', true, 0, 0, ${before})`)
    const place = testFolder()
    undo.push(() => place.remove())
    const store = await openPostgresStore({ url, dataDir: place.folder, now: 3 })
    undo.push(() => store.close())
    expect(await store.suppressions.get('sup_a')).toMatchObject({ stream: null })
    const bulk = suppression('sup_b', 'bulk')
    expect(await store.suppressions.add(bulk)).toEqual({ kind: 'added' })
    expect(await store.suppressions.add(suppression('sup_c', 'news'))).toEqual({ kind: 'exists', suppression: bulk })
    sql(`insert into suppressions values ('sup_d', 'org_a', '', 'ann@x.example', 'manual', null, 1, null, 'live')
      on conflict (organization_id, email, domain_id, mode) do nothing`)
    sql(`update nodes set ended_at = now() where name = 'old'`)
    expect(await migrate(one, 4)).toEqual(['0077_suppression_reaches'])
    expect(await store.suppressions.add(suppression('sup_c', 'news'))).toEqual({ kind: 'added' })
    expect((await store.suppressions.find('org_a', 'ann@x.example')).map(({ id }) => id)).toEqual(['sup_b', 'sup_c'])
  })

  test('a step waits briefly for a table in use, and again, so that others can use it meanwhile', async () => {
    const url = await created()
    const one = await connection(url)
    await migrate(one, 1)
    const other = new SQL(url)
    undo.push(() => other.close({ timeout: 0 }))
    const holding = await other.reserve()
    await holding.unsafe('begin; lock table messages in access share mode')
    const migrating = migrate(one, 2, [...MIGRATIONS, WIDEN])
    await until('the step to wait', () => sql(`select count(*) from pg_locks where not granted`) === '1')
    await until('it to give way', () => sql(`select count(*) from pg_locks where not granted`) === '0')
    await holding.unsafe('commit')
    holding.release()
    expect(await migrating).toEqual(['9001_widen'])
  })

  test('a node of the version before goes on beside a newer one, and does not start again', async () => {
    const url = await created()
    const place = testFolder('[sending]\nrequire_verified_domain = false\n')
    undo.push(() => place.remove())
    place.writeConfig()
    writeFileSync(place.file, `database.url = "${url}"\n${readFileSync(place.file, 'utf8')}`)
    const made = await postrider('init', '--domain', 'example.com', '--skip-checks', '--config', place.file)
    expect(made.stderr).toBe('')
    const permission = ['--permission', 'send', '--mode', 'test']
    const key = await postrider(
      'key',
      'create',
      '--domain',
      'example.com',
      ...permission,
      '--config',
      place.file,
      '--json',
    )
    expect(key.stderr).toBe('')
    const old = await start('serve', '--config', place.file)
    undo.push(() => old.kill('SIGKILL'))
    const { http } = JSON.parse(await old.line)
    const send = async () => {
      const response = await fetch(`http://${http}/v1/messages/send`, {
        method: 'POST',
        headers: { authorization: `Bearer ${JSON.parse(key.stdout).key}`, 'content-type': 'application/json' },
        body: JSON.stringify({ from: 'a@example.com', to: 'b@example.net', subject: 'x', text: 'y' }),
      })
      return response.status
    }
    expect(await send()).toBe(202)

    const newer = newerVersion(undo)
    const listed = Bun.spawn([process.execPath, newer, 'message', 'list', '--json', '--config', place.file])
    expect(JSON.parse(await new Response(listed.stdout).text()).data).toHaveLength(1)
    expect(sql('select extra from messages')).toBe('7')
    expect(await send()).toBe(202)
    expect(sql('select count(*) from messages where extra = 7')).toBe('2')

    const again = await postrider('message', 'list', '--config', place.file)
    expect([again.code, again.stderr]).toEqual([1, expect.stringContaining('a newer Postrider wrote the database')])
    old.kill('SIGTERM')
    expect((await old.ended).code).toBe(0)
    const restarted = await postrider('serve', '--config', place.file)
    expect([restarted.code, restarted.stderr]).toEqual([1, expect.stringContaining('Run that version.')])
  })
})

/** This version with one more step of the schema → its main file. */
function newerVersion(undo: (() => unknown)[]): string {
  const folder = mkdtempSync(join(tmpdir(), 'postrider-newer-'))
  undo.push(() => rmSync(folder, { recursive: true }))
  cpSync(join(ROOT, 'src'), join(folder, 'src'), { recursive: true })
  for (const name of readdirSync(ROOT).filter((each) => each !== 'src' && each !== '.git')) {
    symlinkSync(join(ROOT, name), join(folder, name))
  }
  const file = join(folder, 'src/storage/postgres/migrate.ts')
  const text = readFileSync(file, 'utf8')
  const [name, step] = [JSON.stringify(WIDEN.name), JSON.stringify(WIDEN.sql)]
  writeFileSync(file, text.replace(/(MIGRATIONS[^\n]*= \[[^\]]*)\]/, `$1  { name: ${name}, sql: ${step} },\n]`))
  return join(folder, 'src/main.ts')
}

const suppression = (id: string, stream: string): Suppression => ({
  ...{ id, organizationId: 'org_a', domainId: null, stream, email: 'ann@x.example', reason: 'unsubscribe' },
  ...{ messageId: null, createdAt: 3, evidence: null, mode: 'live' },
})
