import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'bun:test'
import { parseDatabaseUrl } from '../../../src/storage/postgres/address.ts'
import { type Connection, connect, Refused } from '../../../src/storage/postgres/connection.ts'
import { createTransactions, type Transactions, transactionWriter } from '../../../src/storage/postgres/transactions.ts'
import { createWriteLane, LaneEnded } from '../../../src/storage/postgres/write-lane.ts'
import { PATIENCE_MS, until } from '../../support/patience.ts'
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
  const open = (settings: Record<string, string> = {}) =>
    createTransactions({
      connect: () => connect({ address: parseDatabaseUrl(url), name: application(), settings }),
      laneId,
      writtenTo: () => 0,
      patienceMs: PATIENCE_MS,
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
      patienceMs: PATIENCE_MS,
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

  /** A lane whose changes are words, of which `reads` are looked up first. `answered` may replace an answer. */
  const laneOfWords = ({
    reads = [],
    text = () => 'insert into notes values ($1)',
    answered = async (_, rows) => rows,
  }: {
    reads?: string[]
    text?: (word: string) => string
    answered?: (text: string, rows: never[], connection: Connection) => Promise<never[]>
  }) => {
    const sent: string[] = []
    const writer = transactionWriter<string, string>(async ({ query }, changes) => {
      const looked = changes.filter((word) => reads.includes(word))
      for (const word of looked) await query('select word from notes where word = $1', [word])
      return { results: changes, writes: changes.map((word) => ({ text: text(word), values: [word] })) }
    })
    const lane = createWriteLane<string, string>({
      connect: async () => {
        const connection = await connect({ address: parseDatabaseUrl(url), name: application() })
        return {
          run: (text, values) => connection.run(text, values),
          close: () => connection.close(),
          query: async (text, values) => {
            sent.push(text)
            return answered(text, await connection.query<never>(text, values), connection)
          },
        }
      },
      laneId,
      writer,
      writtenTo: () => 0,
      gatherMs: 0,
      most: 10,
      patienceMs: PATIENCE_MS,
    })
    return { lane, sent }
  }

  test('changes that read nothing are one statement, with the number of the lane', async () => {
    const { lane, sent } = laneOfWords({})
    expect(await Promise.all([lane.write('one'), lane.write('two')])).toEqual(['one', 'two'])
    expect(words()).toEqual(['one', 'two'])
    expect(sent.filter((text) => !text.includes('for update'))).toHaveLength(1)
    expect(sql('select group_no from lanes')).toBe('1')
    await expect(lane.write('one')).rejects.toBeInstanceOf(Refused)
    expect(await lane.write('three')).toBe('three')
    expect(sql('select group_no from lanes')).toBe('2')
    sql('update lanes set ended_at = now()')
    await expect(lane.write('four')).rejects.toBeInstanceOf(LaneEnded)
    expect(words()).toEqual(['one', 'three', 'two'])
    await lane.close()
  })

  test('one statement without an answer is found to be committed, and is not written again', async () => {
    let lost = 0
    const { lane } = laneOfWords({
      answered: async (text, rows, connection) => {
        if (!text.includes('notes') || lost++ > 0) return rows
        connection.close()
        return connection.query<never>('select 1')
      },
    })
    expect(await Promise.all([lane.write('one'), lane.write('two')])).toEqual(['one', 'two'])
    expect(words()).toEqual(['one', 'two'])
    expect(sql('select group_no from lanes')).toBe('1')
    await lane.close()
  })

  test('changes that read something are in a transaction, whose writes are one statement', async () => {
    const { lane, sent } = laneOfWords({ reads: ['two'] })
    await Promise.all([lane.write('one'), lane.write('two')])
    expect(words()).toEqual(['one', 'two'])
    expect(sent.filter((text) => text.includes('insert'))).toHaveLength(1)
    expect(sent.at(-1)).toBe('commit')
    await lane.close()
  })

  test('combinations that are not remembered any more are written too', async () => {
    const { lane } = laneOfWords({ text: (word) => `insert into notes values ($1) -- ${word}\n` })
    const all = Array.from({ length: 70 }, (_, n) => `word ${100 + n}`)
    for (const word of all) expect(await lane.write(word)).toBe(word)
    expect(words()).toEqual(all)
    expect(sql('select group_no from lanes')).toBe('70')
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
