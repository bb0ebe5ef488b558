import { afterAll, afterEach, beforeAll, expect, test } from 'bun:test'
import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { SQL } from 'bun'
import { type Migration, NEWEST_SCHEMA, POSTGRES_MIGRATIONS } from '../../../src/storage/migrations.ts'
import { parseDatabaseUrl } from '../../../src/storage/postgres/address.ts'
import { type Connection, connect } from '../../../src/storage/postgres/connection.ts'
import { migrate } from '../../../src/storage/postgres/migrate.ts'
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
    const steps = [...POSTGRES_MIGRATIONS, NARROW, WIDEN]
    sql(`insert into nodes (key, name, version, handles_mail, configuration_version, schema)
      values ('a', 'old', '1', true, 0, ${NEWEST_SCHEMA}), ('b', 'new', '2', true, 0, ${steps.length})`)
    expect(await migrate(one, 2, steps)).toEqual([])
    sql(`update nodes set ended_at = now() where name = 'old'`)
    expect(await migrate(one, 3, steps)).toEqual(['9002_narrow', '9001_widen'])
    expect(await migrate(one, 4, steps)).toEqual([])
  })

  test('a step waits briefly for a table in use, and again, so that others can use it meanwhile', async () => {
    const url = await created()
    const one = await connection(url)
    await migrate(one, 1)
    const other = new SQL(url)
    undo.push(() => other.close({ timeout: 0 }))
    const holding = await other.reserve()
    await holding.unsafe('begin; lock table messages in access share mode')
    const migrating = migrate(one, 2, [...POSTGRES_MIGRATIONS, WIDEN])
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
    expect([restarted.code, restarted.stderr]).toEqual([1, expect.stringContaining('Run that version')])
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
  const file = join(folder, 'src/storage/migrations.ts')
  const text = readFileSync(file, 'utf8')
  const [name, step] = [JSON.stringify(WIDEN.name), JSON.stringify(WIDEN.sql)]
  writeFileSync(
    file,
    text.replace(/(STEPS: [^=]*= \[[^\]]*?),?\s*\]/, `$1, { name: ${name}, both: '', sqlite: '', postgres: ${step} }]`),
  )
  return join(folder, 'src/main.ts')
}
