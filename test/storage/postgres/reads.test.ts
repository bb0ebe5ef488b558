import { afterAll, beforeAll, expect, test } from 'bun:test'
import { parseDatabaseUrl } from '../../../src/storage/postgres/address.ts'
import { connect, Refused } from '../../../src/storage/postgres/connection.ts'
import { createReads, type Reads } from '../../../src/storage/postgres/reads.ts'
import { StoreUnavailable } from '../../../src/storage/store.ts'
import { describeWithPostgres, startPostgres, type TestPostgres } from '../../support/postgres.ts'

describeWithPostgres('reads', () => {
  let postgres: TestPostgres
  let opened = 0
  beforeAll(async () => {
    postgres = await startPostgres()
  })
  afterAll(() => postgres.stop())

  const open = (settings: Record<string, string> = {}, patienceMs?: number): Reads => {
    opened = 0
    return createReads(() => {
      opened++
      return connect({ address: parseDatabaseUrl(postgres.url('postgres')), name: 'reads', settings })
    }, patienceMs)
  }

  test('share four connections, which open when they are needed', async () => {
    const reads = open()
    await reads.query('select 1')
    expect(opened).toBe(1)
    const rows = await Promise.all(Array.from({ length: 40 }, (_, n) => reads.query('select $1::int as n', [n])))
    expect(rows).toEqual(Array.from({ length: 40 }, (_, n) => [{ n }]))
    expect(opened).toBe(4)
    reads.close()
  })

  test('are repeated when their session ends', async () => {
    const reads = open()
    const read = reads.query<{ n: number }>('select pg_sleep(2), 7 as n')
    while (postgres.backendsOf('reads').length === 0) await Bun.sleep(10)
    for (const pid of postgres.backendsOf('reads')) postgres.psql(`select pg_terminate_backend(${pid})`)
    expect((await read).map(({ n }) => n)).toEqual([7])
    expect(opened).toBe(2)
    reads.close()
  })

  test('wait for a server that restarts', async () => {
    const reads = open()
    await postgres.halt('fast')
    const read = reads.query<{ n: number }>('select 1 as n')
    while (opened < 4) await Bun.sleep(5)
    await postgres.resume()
    expect(await read).toEqual([{ n: 1 }])
    reads.close()
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
    reads.close()
  })

  test('reject as unavailable when the server ends the statement, and with its error when the statement is wrong', async () => {
    const reads = open({ statement_timeout: '50ms' })
    await expect(reads.query('select pg_sleep(5)')).rejects.toBeInstanceOf(StoreUnavailable)
    await expect(reads.query('select 1 / 0')).rejects.toBeInstanceOf(Refused)
    reads.close()
  })
})
