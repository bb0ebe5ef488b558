import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'bun:test'
import { parseDatabaseUrl } from '../../../src/storage/postgres/address.ts'
import { connect, Refused } from '../../../src/storage/postgres/connection.ts'
import { createTransactions, type Transactions } from '../../../src/storage/postgres/transactions.ts'
import { LaneEnded } from '../../../src/storage/postgres/write-lane.ts'
import { describeWithPostgres, startPostgres, type TestPostgres } from '../../support/postgres.ts'

describeWithPostgres('transactions', () => {
  let postgres: TestPostgres
  let url: string
  let databases = 0
  let laneId: number
  let transactions: Transactions
  beforeAll(async () => {
    postgres = await startPostgres()
  })
  afterAll(() => postgres.stop())
  beforeEach(async () => {
    url = await postgres.createDatabase(`transactions${++databases}`)
    sql(`create table lanes (id int generated always as identity primary key, group_no bigint not null default 0,
      written_to bigint not null default 0, ended_at timestamptz)`)
    sql('create table notes (word text primary key)')
    laneId = Number(sql('insert into lanes default values returning id'))
    transactions = open()
  })
  afterEach(() => transactions.close())

  const sql = (statement: string) => postgres.psql(statement, `transactions${databases}`)
  const words = () => sql('select word from notes order by word').split('\n').filter(Boolean)
  const application = () => `transactions ${databases}`
  const open = () =>
    createTransactions({
      connect: () => connect({ address: parseDatabaseUrl(url), name: application() }),
      laneId,
      writtenTo: () => 0,
    })
  const add = (word: string) =>
    transactions.write(async (queries) => {
      await queries.query('insert into notes values ($1)', [word])
      return (await queries.query('select word from notes')).length
    })

  test('a change reads what it wrote, and its result comes once it is committed', async () => {
    expect(await add('one')).toBe(1)
    expect(words()).toEqual(['one'])
    expect(await Promise.all([add('two'), add('three')])).toEqual([2, 3])
  })

  test('what a change throws is passed on, nothing of it is written, and the next one works', async () => {
    const failing = transactions.write(async (queries) => {
      await queries.query('insert into notes values ($1)', ['one'])
      throw new Error('no')
    })
    await expect(failing).rejects.toThrow('no')
    await add('two')
    expect(words()).toEqual(['two'])
    await expect(add('two')).rejects.toBeInstanceOf(Refused)
    await add('three')
    expect(words()).toEqual(['three', 'two'])
  })

  test('a change is run again when its session ends before the commit, and is written once', async () => {
    let runs = 0
    const value = await transactions.write(async (queries) => {
      runs++
      await queries.query('insert into notes values ($1)', ['one'])
      if (runs === 1) process.kill(postgres.backendsOf(application())[0]!)
      return runs
    })
    expect(value).toBe(2)
    expect(words()).toEqual(['one'])
  })

  test('a statement after the end of its session runs in no other session', async () => {
    let runs = 0
    await transactions.write(async (queries) => {
      runs++
      await queries.query('insert into notes values ($1)', ['one'])
      if (runs === 1) process.kill(postgres.backendsOf(application())[0]!)
      while (runs === 1 && postgres.backendsOf(application()).length > 0) await Bun.sleep(1)
      await queries.query('insert into notes values ($1)', ['two'])
    })
    expect(runs).toBe(2)
    expect(words()).toEqual(['one', 'two'])
  })

  test('a change whose commit has no answer keeps its result and is not written again', async () => {
    let runs = 0
    const opened: { close(): void }[] = []
    transactions = createTransactions({
      connect: async () => {
        const connection = await connect({ address: parseDatabaseUrl(url), name: application() })
        opened.push(connection)
        if (opened.length > 1) return connection
        return {
          run: (text, values) => connection.run(text, values),
          close: () => connection.close(),
          query: async (text, values) => {
            const rows = await connection.query<never>(text, values)
            if (text !== 'commit') return rows
            connection.close() // the answer is lost
            return connection.query<never>('select 1')
          },
        }
      },
      laneId,
      writtenTo: () => 0,
    })
    expect(
      await transactions.write(async (queries) => {
        runs++
        await queries.query('insert into notes values ($1)', ['one'])
        return `run ${runs}`
      }),
    ).toBe('run 1')
    expect(opened).toHaveLength(2)
    expect(words()).toEqual(['one'])
    await add('two')
    expect(words()).toEqual(['one', 'two'])
  })

  test('a lane that another node ended writes nothing', async () => {
    await add('one')
    sql('update lanes set ended_at = now()')
    await expect(add('two')).rejects.toBeInstanceOf(LaneEnded)
    expect(words()).toEqual(['one'])
  })

  test('a change is run again for the error of the statement that failed, not of those sent behind it', async () => {
    const addBefore = (word: string) =>
      transactions.write(async ({ query }) => {
        const insert = async () => query('insert into notes values ($1)', [word])
        // Its error passes through more promises than those of the statements behind it.
        const nested = async () => Promise.all([Promise.all([insert()])])
        await Promise.all([nested(), query('select 1'), query('select 2')])
      })
    await addBefore('prepared')
    sql(`create sequence tries; create function fail_once() returns trigger language plpgsql as $$
      begin
        if nextval('tries') = 1 then raise exception using errcode = '40001'; end if;
        return new;
      end $$; create trigger fail_once before insert on notes for each row execute function fail_once()`)
    await addBefore('one')
    expect(words()).toEqual(['one', 'prepared'])
  })

  test('a change that PostgreSQL ends because of a deadlock is run again', async () => {
    await add('a')
    await add('b')
    const other = await connect({ address: parseDatabaseUrl(url), name: 'other' })
    await other.query(`set deadlock_timeout = '30s'`) // the server ends our transaction, not this one
    await other.query('begin')
    await other.query(`update notes set word = 'b' where word = 'b'`)
    let runs = 0
    const written = transactions.write(async (queries) => {
      runs++
      await queries.query(`update notes set word = 'a' where word = 'a'`)
      if (runs === 1)
        void other.query(`update notes set word = 'a' where word = 'a'`).then(
          () => other.query('commit'),
          () => other.query('rollback'),
        )
      await queries.query(`update notes set word = 'b' where word = 'b'`)
      return runs
    })
    expect(await written).toBe(2)
    other.close()
    expect(words()).toEqual(['a', 'b'])
  })
})
