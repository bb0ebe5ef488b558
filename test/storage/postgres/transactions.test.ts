import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'bun:test'
import { parseDatabaseUrl } from '../../../src/storage/postgres/address.ts'
import { type Connection, connect, Refused } from '../../../src/storage/postgres/connection.ts'
import { type Statements, transactionWriter } from '../../../src/storage/postgres/transactions.ts'
import { LaneEnded, WriteLane } from '../../../src/storage/postgres/write-lane.ts'
import { PATIENCE_MS, until } from '../../support/patience.ts'
import { describeWithPostgres, startPostgres, type TestPostgres } from '../../support/postgres.ts'

/** Performs each change in a transaction of its own. */
function createTransactions(connect: () => Promise<Connection>, laneId: number) {
  type Work = (statements: Statements) => Promise<unknown>
  const writer = transactionWriter<Work, unknown>(async (statements, changes) => {
    const results: unknown[] = []
    for (const work of changes) results.push(await work(statements))
    return { results }
  })
  const lane = new WriteLane<Work, unknown>({
    connect,
    laneId,
    writer,
    most: 1,
    patienceMs: PATIENCE_MS,
  })
  return {
    write: async <T>(work: (statements: Statements) => Promise<T>) => (await lane.write(work)) as T, // its own
    close: () => lane.close(),
  }
}

describeWithPostgres('transactions', () => {
  let postgres: TestPostgres
  let url: string
  let databases = 0
  let laneId: number
  let transactions: ReturnType<typeof createTransactions>
  beforeAll(async () => {
    postgres = await startPostgres()
  })
  afterAll(() => postgres.stop())
  beforeEach(async () => {
    url = await postgres.createDatabase(`transactions${++databases}`)
    sql(`create table lanes (id int generated always as identity primary key, group_no bigint not null default 0,
      ended_at timestamptz)`)
    sql('create table notes (word text primary key)')
    laneId = Number(sql('insert into lanes default values returning id'))
    transactions = open()
  })
  afterEach(() => transactions.close())

  const sql = (statement: string) => postgres.psql(statement, `transactions${databases}`)
  const words = () => sql('select word from notes order by word').split('\n').filter(Boolean)
  const application = () => `transactions ${databases}`
  const open = (settings: Record<string, string> = {}) =>
    createTransactions(() => connect({ address: parseDatabaseUrl(url), name: application(), settings }), laneId)
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
      if (runs === 1) await until('the session to end', () => postgres.backendsOf(application()).length === 0)
      await queries.query('insert into notes values ($1)', ['two'])
    })
    expect(runs).toBe(2)
    expect(words()).toEqual(['one', 'two'])
  })

  test('a change whose commit has no answer keeps its result and is not written again', async () => {
    let runs = 0
    const opened: { close(): void }[] = []
    await transactions.close()
    transactions = createTransactions(async () => {
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
    }, laneId)
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

  test('a change without a statement rejects when its lane was ended', async () => {
    await add('one')
    sql('update lanes set ended_at = now()')
    await expect(transactions.write(async () => {})).rejects.toBeInstanceOf(LaneEnded)
  })

  test('a change without a statement that the database refuses is not taken for a committed one', async () => {
    await add('one')
    sql(`create function refuse() returns trigger language plpgsql as 'begin raise exception ''no''; end'`)
    sql('create trigger refuse before update on lanes for each row execute function refuse()')
    await expect(transactions.write(async () => {})).rejects.toBeInstanceOf(Refused)
    sql('drop trigger refuse on lanes')
    await add('two')
    expect(words()).toEqual(['one', 'two'])
  })

  test('a lane that another node ended writes nothing', async () => {
    await add('one')
    sql('update lanes set ended_at = now()')
    await expect(add('two')).rejects.toBeInstanceOf(LaneEnded)
    expect(words()).toEqual(['one'])
  })

  test('statements whose answers nobody awaits are committed, and one that fails leaves nothing', async () => {
    const writer = transactionWriter<string, string>(async ({ run }, changes) => {
      const sent = Promise.all(changes.map((word) => run('insert into notes values ($1)', [word])))
      sent.catch(() => {})
      return { results: changes, sent }
    })
    const lane = new WriteLane<string, string>({
      connect: () => connect({ address: parseDatabaseUrl(url), name: application() }),
      laneId,
      writer,
      most: 10,
      patienceMs: PATIENCE_MS,
    })
    expect(await Promise.all([lane.write('one'), lane.write('two')])).toEqual(['one', 'two'])
    await expect(lane.write('one')).rejects.toBeInstanceOf(Refused)
    expect(await lane.write('three')).toBe('three')
    expect(words()).toEqual(['one', 'three', 'two'])
    expect(sql('select group_no from lanes')).toBe('2')
    await lane.close()
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
    await transactions.close()
    transactions = open({ deadlock_timeout: '10ms', idle_in_transaction_session_timeout: '0' })
    // The server ends our transaction, not this one.
    const settings = { deadlock_timeout: '1h', lock_timeout: '0', idle_in_transaction_session_timeout: '0' }
    const other = await connect({ address: parseDatabaseUrl(url), name: 'other', settings })
    await other.query('begin')
    await other.query(`update notes set word = 'b' where word = 'b'`)
    let runs = 0
    let otherEnded: Promise<unknown> = Promise.resolve()
    const written = transactions.write(async (queries) => {
      runs++
      await otherEnded // or the second run could collide with it too
      await queries.query(`update notes set word = 'a' where word = 'a'`)
      if (runs === 1) {
        otherEnded = other.query(`update notes set word = 'a' where word = 'a'`).then(
          () => other.query('commit'),
          () => other.query('rollback'),
        )
        const waiting = `select count(*) from pg_stat_activity where wait_event_type = 'Lock'`
        await until('the other transaction to wait', () => sql(waiting) === '1')
      }
      await queries.query(`update notes set word = 'b' where word = 'b'`)
      return runs
    })
    expect(await written).toBe(2)
    other.close()
    expect(words()).toEqual(['a', 'b'])
  })
})
