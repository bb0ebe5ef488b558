import { afterAll, beforeAll, expect, test } from 'bun:test'
import { once } from 'node:events'
import { readdirSync } from 'node:fs'
import { type AddressInfo, createServer } from 'node:net'
import { parseDatabaseUrl } from '../../../src/storage/postgres/address.ts'
import { valueArray } from '../../../src/storage/postgres/arrays.ts'
import { type Connection, connect, NoAnswer, Refused } from '../../../src/storage/postgres/connection.ts'
import { until } from '../../support/patience.ts'
import { describeWithPostgres, startPostgres, type TestPostgres } from '../../support/postgres.ts'

/** What the store relies on in the runtime's driver, Bun.SQL. Its earlier versions failed some of this: they gave one
 *  statement the rows of another (oven-sh/bun #33665, #30494), lost the connection (#30947), leaked with jsonb (#40102). */
describeWithPostgres('the driver', () => {
  let postgres: TestPostgres
  let connection: Connection
  const open = (settings?: Record<string, string>) =>
    connect({ address: parseDatabaseUrl(postgres.url('postgres')), name: 'driver test', settings })
  beforeAll(async () => {
    postgres = await startPostgres()
    connection = await open()
  })
  afterAll(async () => {
    connection.close()
    await postgres.stop()
  })

  test('the next host is tried beside one that is silent, and after one that closes the connection', async () => {
    for (const isSilent of [true, false]) {
      let asked = 0
      let closed = 0
      const server = createServer((socket) => {
        asked++
        socket.on('close', () => closed++).on('error', () => {})
        if (!isSilent) socket.destroy()
      }).listen(0, '127.0.0.1')
      await once(server, 'listening')
      const { port } = server.address() as AddressInfo
      const address = parseDatabaseUrl(postgres.url('postgres').replace('127.0.0.1', `127.0.0.1:${port},127.0.0.1`))
      const second = await connect({ address, name: 'driver test' })
      expect(asked).toBeGreaterThan(0)
      // The silent one was not given up first.
      if (isSilent) expect(closed).toBe(0)
      expect(await second.query('select 1 as one')).toEqual([{ one: 1 }])
      second.close()
      server.close()
    }
  })

  test('values return as they were sent', async () => {
    const values = {
      small: -5,
      big: Number.MAX_SAFE_INTEGER,
      text: `quote ' " \\ {} ü 𝄞`,
      bytes: Buffer.from([0, 255, 10, 92]),
      none: null,
      yes: true,
    }
    const [row] = await connection.query(
      'select $1::int small, $2::bigint big, $3::text text, $4::bytea bytes, $5::text none, $6::bool yes',
      Object.values(values),
    )
    expect(row).toEqual(values)
  })

  test('an integer that a number cannot hold is an error', () => {
    expect(connection.query('select $1::bigint', ['9007199254740993'])).rejects.toThrow(RangeError)
  })

  test('arrays return as they were sent, also with null, quotes and bytes', async () => {
    const [row] = await connection.query(
      `select $1::text[] texts, $2::bigint[] numbers, $3::bool[] flags, $4::bytea[] bytes`,
      ['{"a","b\\"c",NULL,"NULL","{}","ü"}', '{1,NULL,9007199254740993}', '{t,NULL,f}', '{"\\\\x00ff",NULL}'],
    )
    expect(row).toMatchObject({
      texts: ['a', 'b"c', null, 'NULL', '{}', 'ü'],
      flags: [true, null, false],
      bytes: [Buffer.from([0, 255]), null],
    })
    expect((row as { numbers: unknown[] }).numbers.map(String)).toEqual(['1', 'null', '9007199254740993'])
  })

  test('25 MB of bytes return unchanged', async () => {
    const bytes = Buffer.alloc(25_000_000, 'Postrider')
    const [row] = await connection.query<{ bytes: Buffer }>('select $1::bytea bytes', [bytes])
    expect(row?.bytes.equals(bytes)).toBe(true)
  })

  test('a text with a NUL returns unchanged, also through an array', async () => {
    const texts = ['a\0b', '\0', '\u0001', '\u00010', '\u00011\0\u0001', '\\u0000']
    for (const text of texts) {
      expect(await connection.query('select $1::text t', [text])).toEqual([{ t: text }])
      expect(await connection.query('select unnest($1::text[]) t', [valueArray([text])])).toEqual([{ t: text }])
    }
  })

  test('a refused value leaves the connection as it was', async () => {
    const error = await connection.query('select $1::text::int', ['x']).catch((reason) => reason)
    expect(error).toBeInstanceOf(Refused)
    expect(error.code).toBe('22P02')
    expect(await connection.query('select 1 n')).toEqual([{ n: 1 }])
  })

  test('every statement gets its own rows, with errors in between', async () => {
    const connections = [connection, await open(), await open(), await open()]
    let wrong = 0
    for (let round = 0; round < 20; round++) {
      const all = Array.from({ length: 100 }, async (_, at) => {
        const via = connections[at % connections.length]!
        const n = round * 100 + at
        if (at % 7 === 0) return via.query('select $1::int / 0', [n]).catch(() => {})
        const text = at % 3 === 0 ? 'select $1::int n, $2::text t' : `select $1::int n, $2::text t, ${at % 5} more`
        const [row] = await via.query<{ n: number; t: string }>(text, [n, `text ${n}`])
        if (row?.n !== n || row.t !== `text ${n}`) wrong++
      })
      await Promise.all(all)
    }
    expect(wrong).toBe(0)
    for (const each of connections.slice(1)) each.close()
  })

  test('session settings apply', async () => {
    const own = await open({ enable_seqscan: 'off' })
    const [row] = await own.query(
      `select current_setting('statement_timeout') statement, current_setting('lock_timeout') lock,
        current_setting('enable_seqscan') seqscan, current_setting('application_name') name`,
    )
    expect(row).toEqual({ statement: '10s', lock: '5s', seqscan: 'off', name: 'driver test' })
    own.close()
  })

  test('a passed deadline closes the connection and leaks no descriptor', async () => {
    const descriptors = () => readdirSync('/proc/self/fd').length
    const slow = async () => {
      const own = await open()
      const error = await own.query('select pg_sleep(10)', [], 20).catch((reason) => reason)
      expect(error).toBeInstanceOf(NoAnswer)
    }
    for (let n = 0; n < 5; n++) await slow()
    const before = descriptors()
    for (let n = 0; n < 40; n++) await slow()
    await until('the descriptors to be closed', () => descriptors() <= before + 2)
  })

  test('a terminated session has no answer; a refused statement has a code', async () => {
    const own = await open()
    const [row] = await own.query<{ pid: number }>('select pg_backend_pid() pid')
    const sleeping = own.query('select pg_sleep(10)').catch((reason) => reason)
    postgres.psql(`select pg_terminate_backend(${row?.pid})`)
    expect(await sleeping).toBeInstanceOf(NoAnswer)
    const error = await connection.query('select * from missing').catch((reason) => reason)
    expect(error).toBeInstanceOf(Refused)
    expect(error.code).toBe('42P01')
  })

  test('a host that does not accept connections is skipped', async () => {
    const url = `postgres://postgres@127.0.0.1:1,127.0.0.1:${postgres.port}/postgres`
    const second = await connect({ address: parseDatabaseUrl(url), name: 'second host' })
    expect(await second.query('select 1 n')).toEqual([{ n: 1 }])
    second.close()
    const none = await connect({ address: parseDatabaseUrl('postgres://u:secret@127.0.0.1:1/x'), name: 'none' }).catch(
      (reason) => reason,
    )
    expect(none).toBeInstanceOf(NoAnswer)
    expect(none.message).toContain('127.0.0.1:')
    expect(none.message).not.toContain('secret')
  })
})
