import { afterAll, afterEach, beforeAll, expect, test } from 'bun:test'
import { parseDatabaseUrl } from '../../../src/storage/postgres/address.ts'
import { connect, Refused } from '../../../src/storage/postgres/connection.ts'
import { createReads, type Reads } from '../../../src/storage/postgres/reads.ts'
import { StoreUnavailable } from '../../../src/storage/store.ts'
import { PATIENCE_MS, until } from '../../support/patience.ts'
import { describeWithPostgres, startPostgres, type TestPostgres } from '../../support/postgres.ts'

describeWithPostgres('reads', () => {
  let postgres: TestPostgres
  let opened = 0
  beforeAll(async () => {
    postgres = await startPostgres()
  })
  afterAll(() => postgres.stop())
  afterEach(async () => {
    for (const each of all.splice(0)) each.close()
    if (!postgres.isRunning()) await postgres.resume() // a failed test may have halted it
  })

  const all: Reads[] = []
  const open = (settings: Record<string, string> = {}, patienceMs = PATIENCE_MS): Reads => {
    opened = 0
    const reads = createReads(() => {
      opened++
      return connect({ address: parseDatabaseUrl(postgres.url('postgres')), name: 'reads', settings })
    }, patienceMs)
    all.push(reads)
    return reads
  }

  test('share four connections, which open when they are needed', async () => {
    const reads = open()
    await reads.query('select 1')
    expect(opened).toBe(1)
    const rows = await Promise.all(Array.from({ length: 40 }, (_, n) => reads.query('select $1::int as n', [n])))
    expect(rows).toEqual(Array.from({ length: 40 }, (_, n) => [{ n }]))
    expect(opened).toBe(4)
  })

  test('are repeated when their session ends', async () => {
    const reads = open()
    postgres.psql('create sequence reading')
    const read = reads.query<{ n: number }>(`select pg_sleep(case nextval('reading') when 1 then 9 else 0 end), 7 as n`)
    const sleeping = `from pg_stat_activity where application_name = 'reads' and wait_event = 'PgSleep'`
    await until('the read to run', () => postgres.psql(`select count(*) ${sleeping}`) === '1')
    expect(postgres.psql(`select pg_terminate_backend(pid) ${sleeping}`)).toBe('t')
    expect((await read).map(({ n }) => n)).toEqual([7])
    expect(opened).toBe(2)
  })

  test('wait for a server that restarts', async () => {
    const reads = open()
    await postgres.halt('fast')
    const read = reads.query<{ n: number }>('select 1 as n')
    await until('four attempts', () => opened >= 4)
    await postgres.resume()
    expect(await read).toEqual([{ n: 1 }])
  })

  test('reject as unavailable when the server stays away or they are closed, and work again after it', async () => {
    const closed = open()
    await postgres.halt('fast')
    const read = closed.query('select 1')
    closed.close()
    await expect(read).rejects.toBeInstanceOf(StoreUnavailable)
    const reads = open({}, 100)
    await expect(reads.query('select 1')).rejects.toBeInstanceOf(StoreUnavailable)
    await postgres.resume()
    expect(await reads.query('select 1 as n')).toEqual([{ n: 1 }])
  })

  test('reject as unavailable when the server ends the statement, and with its error when the statement is wrong', async () => {
    const hurried = open({ statement_timeout: '50ms' })
    await expect(hurried.query('select pg_sleep(5)')).rejects.toBeInstanceOf(StoreUnavailable)
    await expect(open().query('select 1 / 0')).rejects.toBeInstanceOf(Refused)
  })
})
