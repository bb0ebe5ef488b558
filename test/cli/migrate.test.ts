import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'bun:test'
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { SQL } from 'bun'
import { until } from '../support/patience.ts'
import { describeWithPostgres, startPostgres, type TestPostgres } from '../support/postgres.ts'
import { start, testFolder } from './command.ts'
import { postriderInOneProcess } from './in-one-process.ts'

// biome-ignore lint/suspicious/noExplicitAny: records of every kind
type Json = any

/** Longer than one part of a content in SQLite, also when it is packed. */
const LARGE = Array.from({ length: 60_000 }, (_, at) => `${at} ${Math.sin(at)}`).join('\n')

describeWithPostgres('postrider migrate', () => {
  let postgres: TestPostgres
  let place: ReturnType<typeof testFolder>
  let url: string
  let databases = 0
  const undo: (() => unknown)[] = []
  const postrider = postriderInOneProcess()
  const run = (...args: string[]) => postrider(...args, '--config', place.file)
  const json = async (...args: string[]): Promise<Json> => {
    const { stdout, stderr, code } = await run(...args, '--json')
    if (code !== 0) throw new Error(`${args[0]}: exit code ${code}: ${stderr}`)
    return JSON.parse(stdout)
  }
  const send = (to: string, mode: 'test' | 'live', html = 'Hi') => {
    const body = join(place.folder, 'body.html')
    writeFileSync(body, html)
    const mail = ['--from', 'a@example.com', '--to', to, '--subject', `For ${to}`, '--html-file', body]
    return json('send', ...mail, '--mode', mode)
  }
  const shown = async (id: string) => json('message', 'show', id)
  const serve = async () => {
    const server = await start('serve', '--config', place.file)
    undo.push(() => server.kill('SIGKILL'))
    expect(JSON.parse(await server.line)).toMatchObject({ event: 'ready' })
    return server
  }
  const stop = async (server: Awaited<ReturnType<typeof serve>>) => {
    server.kill('SIGTERM')
    expect((await server.ended).code).toBe(0)
  }

  beforeAll(async () => {
    postgres = await startPostgres()
  })
  afterAll(() => postgres.stop())
  beforeEach(async () => {
    place = testFolder('[sending]\nrequire_verified_domain = false\n')
    place.writeConfig('off')
    url = await postgres.createDatabase(`migrate${++databases}`)
    await json('init', '--domain', 'example.com', '--skip-checks')
  })
  afterEach(async () => {
    for (const step of undo.splice(0).reverse()) await step()
    place.remove()
  })

  test('moves beside the running server, then the rest, and only PostgreSQL serves from then on', async () => {
    const server = await serve()
    const early = [await send('ann@example.net', 'test'), await send('bounce@example.net', 'test', LARGE)]
    const first = await json('migrate', '--to', url)
    expect(first.finished).toBe(false)
    const running = await run('migrate', '--to', url, '--finish')
    expect([running.code, running.stderr]).toEqual([3, `a server is running on ${place.dataDir}. Stop it first.\n`])
    await stop(server)
    const waiting = await send('bob@example.net', 'live')
    const ids = [...early, waiting].map(({ id }) => id)
    const before = await Promise.all(ids.map(shown))

    const unfinished = `database.url = "${url}"\n`
    writeFileSync(join(place.folder, 'other.toml'), `${unfinished}${readFileSync(place.file, 'utf8')}`)
    const tooEarly = await postrider('message', 'list', '--config', join(place.folder, 'other.toml'))
    expect([tooEarly.code, tooEarly.stderr]).toEqual([2, expect.stringContaining('the database is not complete')])

    const { finished, tables } = await json('migrate', '--to', url, '--finish')
    expect(finished).toBe(true)
    const rows = Object.fromEntries(tables.map((table: Json) => [table.name, table.rows]))
    expect(rows).toMatchObject({ messages: 3, message_contents: 3, deliveries: 3, organizations: 1 })
    expect(readdirSync(place.dataDir).filter((name) => name.startsWith('.postrider-'))).toEqual([])

    for (const command of [['serve'], ['message', 'list'], ['backup', join(place.folder, 'b.tar.zst')]]) {
      const refused = await run(...command)
      expect([refused.code, refused.stderr]).toEqual([2, expect.stringContaining('Set database.url in the config')])
    }
    const again = await run('migrate', '--to', url, '--finish')
    expect([again.code, again.stderr]).toEqual([2, expect.stringContaining('the data is in this database already')])

    writeFileSync(place.file, `${unfinished}${readFileSync(place.file, 'utf8')}`)
    expect(await Promise.all(ids.map(shown))).toEqual(before)
    const { entries } = { entries: (await json('audit')).data }
    expect(entries.map(({ action }: Json) => action)).toContain('migrate')
    await stop(await serve())

    const data = join(place.folder, 'back')
    const moved = await json('migrate', '--to', data)
    expect(moved.tables.find(({ name }: Json) => name === 'messages').rows).toBe(3)
    const gone = await run('message', 'list')
    expect([gone.code, gone.stderr]).toEqual([2, expect.stringContaining('its data moved to a data directory')])
    const full = await run('migrate', '--to', data)
    expect([full.code, full.stderr]).toEqual([1, `${data} is not empty. Choose an empty directory.\n`])
    // Cut off after the database was marked: the next run copies it again.
    expect((await json('migrate', '--to', join(place.folder, 'again'))).rows).toBe(moved.rows)
    const config = readFileSync(place.file, 'utf8')
      .replace(unfinished, '')
      .replace('data_dir = "data"', 'data_dir = "back"')
    writeFileSync(place.file, config)
    expect(await Promise.all(ids.map(shown))).toEqual(before)
    expect((await json('message', 'list', '--search', 'For ann')).data).toHaveLength(1)
    await stop(await serve())
  })

  test('is cut off anywhere and repeated without harm, and the data directory serves until it is finished', async () => {
    const sent = []
    for (let n = 0; n < 3; n++) sent.push(await send(`bounce+${n}@example.net`, 'test'))
    await json('migrate', '--to', url)
    for (const args of [[], ['--finish']]) {
      const sql = new SQL(url)
      const blocking = await sql.reserve()
      await blocking.unsafe('begin; lock table attempts')
      const cut = await start('migrate', '--to', url, ...args, '--config', place.file)
      undo.push(() => sql.close({ timeout: 0 }))
      undo.push(() => cut.kill('SIGKILL'))
      await until('it to wait', async () => {
        const [row] = await sql`select count(*)::int as count from pg_stat_activity where wait_event_type = 'Lock'`
        return row.count === 1
      })
      cut.kill('SIGKILL')
      expect((await cut.ended).code).toBeNull()
      blocking.release()
      await sql.close({ timeout: 0 })
      expect(await shown(sent[0].id)).toMatchObject({ id: sent[0].id })
    }
    const { tables } = await json('migrate', '--to', url, '--finish')
    expect(tables.find(({ name }: Json) => name === 'messages').rows).toBe(3)
    expect(existsSync(join(place.dataDir, 'moved.json'))).toBe(true)
    const { to } = JSON.parse(readFileSync(join(place.dataDir, 'moved.json'), 'utf8'))
    expect(to).toBe(`127.0.0.1:${postgres.port}/migrate${databases}`)
  })

  test('refuses a database of another installation', async () => {
    expect((await json('migrate', '--to', url, '--finish')).finished).toBe(true)
    const other = testFolder()
    undo.push(() => other.remove())
    other.writeConfig('off')
    await postrider('init', '--domain', 'other.example', '--skip-checks', '--config', other.file)
    const refused = await postrider('migrate', '--to', url, '--config', other.file)
    expect([refused.code, refused.stderr]).toEqual([2, expect.stringContaining('contains another installation')])
    const nowhere = await postrider('migrate', '--to', postgres.url('missing'), '--config', other.file)
    expect([nowhere.code, nowhere.stderr]).toEqual([1, expect.stringContaining('database "missing" does not exist')])
  })
})
