import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'bun:test'
import { connect as connectTcp, createServer, type Server, type Socket } from 'node:net'
import { parseDatabaseUrl } from '../../../src/storage/postgres/address.ts'
import { connect } from '../../../src/storage/postgres/connection.ts'
import { type Perform, transactionWriter } from '../../../src/storage/postgres/transactions.ts'
import { LaneEnded, WriteLane } from '../../../src/storage/postgres/write-lane.ts'
import { StoreUnavailable } from '../../../src/storage/store.ts'
import { PATIENCE_MS, until } from '../../support/patience.ts'
import { describeWithPostgres, startPostgres, type TestPostgres } from '../../support/postgres.ts'

const LANES = `create table lanes (id int generated always as identity primary key, group_no bigint not null default 0,
  ended_at timestamptz)`
const NOTES = `create table notes (word text primary key check (word <> 'refused'), size int not null)`

interface Note {
  word: string
  size: number
}

/** Inserts notes → how many notes there are of each word. */
const NOTE: Perform<Note, number> = async ({ query }, changes) => {
  if (changes.some(({ word }) => word === 'unavailable')) throw new StoreUnavailable('not now')
  const rows = await query<{ word: string }>(`${INSERT} returning word`, arraysOf(changes))
  return { results: changes.map(({ word }) => rows.filter((row) => row.word === word).length) }
}

const INSERT = 'insert into notes select * from unnest($1::text[], $2::int[])'
const arraysOf = (changes: readonly Note[]) => [
  arrayOf(changes.map(({ word }) => word)),
  arrayOf(changes.map(({ size }) => String(size))),
]

/** PostgreSQL's text of an array (manual 8.15.2). */
const arrayOf = (items: readonly string[]) => `{${items.map((item) => JSON.stringify(item)).join()}}`

describeWithPostgres('a writing lane', () => {
  let postgres: TestPostgres
  let url: string
  let databases = 0
  let laneId: number
  beforeAll(async () => {
    postgres = await startPostgres()
  })
  afterAll(() => postgres.stop())
  afterEach(async () => {
    if (!postgres.isRunning()) await postgres.resume() // a failed test may have halted it
  })
  beforeEach(async () => {
    url = await postgres.createDatabase(`lane${++databases}`)
    sql(`${LANES}; ${NOTES}`)
    laneId = Number(sql('insert into lanes default values returning id'))
  })

  const sql = (statement: string) => postgres.psql(statement, `lane${databases}`)
  const words = () => sql('select word from notes order by word').split('\n').filter(Boolean)
  const groups = () => Number(sql(`select group_no from lanes where id = ${laneId}`))
  const application = () => `lane ${databases}`
  /** `patience.ms` may change later. */
  const open = (to = url, patience = { ms: PATIENCE_MS }): WriteLane<Note, number> =>
    new WriteLane({
      connect: () => connect({ address: parseDatabaseUrl(to), name: application() }),
      laneId,
      writer: transactionWriter(NOTE),
      most: 100,
      get patienceMs() {
        return patience.ms
      },
    })
  const note = (word: string): Note => ({ word, size: word.length })

  test('changes of one turn share one group', async () => {
    const lane = open()
    expect(await Promise.all(['a', 'b', 'c"{}\\'].map((word) => lane.write(note(word))))).toEqual([1, 1, 1])
    expect(words()).toEqual(['a', 'b', 'c"{}\\'])
    expect(groups()).toBe(1)
    await lane.write(note('d'))
    expect(groups()).toBe(2)
    await lane.close()
  })

  test('a change that PostgreSQL refuses does not affect the others of its group', async () => {
    const lane = open()
    const [first, refused, last] = await Promise.allSettled(['a', 'refused', 'b'].map((word) => lane.write(note(word))))
    expect([first, last]).toEqual([
      { status: 'fulfilled', value: 1 },
      { status: 'fulfilled', value: 1 },
    ])
    expect(refused).toMatchObject({ status: 'rejected', reason: { name: 'Refused', code: '23514' } })
    expect(words()).toEqual(['a', 'b'])
    await lane.close()
  })

  test('a change that is unavailable by itself does not affect the others of its group', async () => {
    const lane = open()
    const written = ['a', 'unavailable', 'b'].map((word) => lane.write(note(word)).catch((error) => error.message))
    expect(await Promise.all(written)).toEqual([1, 'not now', 1])
    await lane.close()
  })

  test('an ended lane writes nothing, also if it is ended while its group waits for the row', async () => {
    const lane = open()
    await lane.write(note('a'))
    const settings = { idle_in_transaction_session_timeout: '0' }
    const ending = await connect({ address: parseDatabaseUrl(url), name: 'ending', settings })
    await ending.query('begin')
    await ending.query('update lanes set ended_at = clock_timestamp()')
    const written = lane.write(note('b')).catch((error) => error)
    const waiting = `select count(*) from pg_stat_activity where wait_event_type = 'Lock'`
    await until('the group to wait', () => sql(waiting) !== '0')
    await ending.query('commit')
    // Clients get 503, and repeat at another node.
    expect(await written).toMatchObject({ name: 'LaneEnded', isUncertain: false })
    expect(await written).toBeInstanceOf(StoreUnavailable)
    expect(await lane.write(note('c')).catch((error) => error)).toBeInstanceOf(LaneEnded)
    expect(words()).toEqual(['a'])
    expect(
      await open()
        .write(note('d'))
        .catch((error) => error),
    ).toBeInstanceOf(LaneEnded)
    ending.close()
    await lane.close()
  })

  test('a terminated backend loses nothing and writes nothing twice', async () => {
    const lane = open()
    const expected: string[] = []
    let isWriting = true
    const killing = (async () => {
      for (let kill = 0; kill < 20; kill++) {
        await Bun.sleep(15)
        for (const pid of postgres.backendsOf(application())) sql(`select pg_terminate_backend(${pid})`)
      }
      isWriting = false
    })()
    for (let n = 0; isWriting; n++) {
      const batch = Array.from({ length: 5 }, (_, at) => `${n}-${at}`)
      expected.push(...batch)
      expect(await Promise.all(batch.map((word) => lane.write(note(word))))).toEqual([1, 1, 1, 1, 1])
    }
    await killing
    expect(words().sort()).toEqual(expected.sort())
    await lane.close()
  })

  test('a crash of the server loses nothing that was answered', async () => {
    const lane = open()
    await lane.write(note('before'))
    await postgres.halt('immediate')
    const written = lane.write(note('during'))
    await postgres.resume()
    expect(await written).toBe(1)
    expect(words()).toEqual(['before', 'during'])
    await lane.close()
  })

  test('without a database a change is rejected in time and not written later', async () => {
    const patience = { ms: PATIENCE_MS }
    const lane = open(url, patience)
    await lane.write(note('a'))
    patience.ms = 300
    await postgres.halt('fast')
    const error = await lane.write(note('b')).catch((reason) => reason)
    expect(error).toBeInstanceOf(StoreUnavailable)
    patience.ms = PATIENCE_MS
    await postgres.resume()
    expect(await lane.write(note('c'))).toBe(1)
    await lane.close()
    expect(words()).toEqual(['a', 'c'])
  })

  test('a group in doubt whose callers have left never follows later', async () => {
    const proxy = await startCuttingProxy(postgres.port)
    const patience = { ms: PATIENCE_MS }
    const lane = open(url.replace(`:${postgres.port}`, `:${proxy.port}`), patience)
    await lane.write(note('earlier')) // a caller that leaves before there is a connection leaves nothing in doubt
    const other = await connect({ address: parseDatabaseUrl(url), name: 'other' })
    await other.query('begin')
    await other.query('lock table notes in share mode')
    patience.ms = 500
    const error = lane.write(note('a')).catch((reason) => reason)
    await until('the group to wait', () => sql(`select count(*) from pg_locks where not granted`) === '1')
    proxy.breakAll()
    expect(await error).toMatchObject({ isUncertain: true })
    const decided = lane.decided()
    expect(decided).not.toBeNull()
    await other.query('commit')
    await decided
    expect(words()).toEqual(['earlier'])
    expect(groups()).toBe(2) // an empty one in its place
    expect(lane.decided()).toBeNull()
    other.close()
    await lane.close()
    proxy.stop()
  })

  test('a lane whose group is in doubt can be closed without a database', async () => {
    const patience = { ms: PATIENCE_MS }
    const lane = open(url, patience)
    await lane.write(note('a'))
    patience.ms = 300
    await postgres.halt('fast')
    expect(await lane.write(note('b')).catch((reason) => reason)).toBeInstanceOf(StoreUnavailable)
    await lane.close()
    await postgres.resume()
    expect(words()).toEqual(['a'])
  })

  test('an answer that is cut at any byte is found out: nothing is lost, nothing is written twice', async () => {
    const proxy = await startCuttingProxy(postgres.port)
    const lane = open(url.replace(`:${postgres.port}`, `:${proxy.port}`))
    await lane.write(note('warm'))
    await lane.write(note('warmer'))
    const answered = await proxy.answerBytesOf(() => lane.write(note('measured')))
    const expected = ['measured', 'warm', 'warmer']
    for (let cut = 0; cut <= answered; cut++) {
      proxy.cutAnswerAt(cut)
      expected.push(`cut ${cut}`)
      expect(await lane.write(note(`cut ${cut}`))).toBe(1)
      await lane.write(note(`prepared ${cut}`))
      expected.push(`prepared ${cut}`)
    }
    expect(proxy.cuts()).toBeGreaterThan(answered / 2)
    expect(words().sort()).toEqual(expected.sort())
    expect(groups()).toBe(expected.length)
    await lane.close()
    proxy.stop()
  })

  test('a silent network ends at the deadline, and the lane continues over a new connection', async () => {
    const proxy = await startCuttingProxy(postgres.port)
    const address = parseDatabaseUrl(url.replace(`:${postgres.port}`, `:${proxy.port}`))
    const connection = await connect({ address, name: application() })
    proxy.silence()
    const error = await connection.query('select 1', [], 200).catch((reason) => reason)
    expect(error.message).toBe('no response within 200 ms')
    await expect(connection.query('select 1')).rejects.toThrow('the connection is closed')
    proxy.stop()
  })

  test('a database that went back to an earlier state ends the lane', async () => {
    const lane = open()
    await lane.write(note('a'))
    await lane.write(note('b'))
    sql('update lanes set group_no = 1')
    for (const pid of postgres.backendsOf(application())) sql(`select pg_terminate_backend(${pid})`)
    const error = await lane.write(note('c')).catch((reason) => reason)
    expect(error).toBeInstanceOf(LaneEnded)
    expect(error.message).toContain('group 1 of this node instead of 2')
    expect(words()).toEqual(['a', 'b'])
    await lane.close()
  })

  test('a serialization failure is repeated; the third in a row rejects the changes as unavailable', async () => {
    sql(`create table fails (n int); create sequence tries; create function fail() returns trigger language plpgsql as $$
      begin
        if (select n from fails) > 0 and new.word like 'x%' and nextval('tries') > 0 then raise exception using errcode = '40001'; end if;
        return new;
      end $$; create trigger fail before insert on notes for each row execute function fail()`)
    const lane = open()
    sql('insert into fails values (1)')
    const error = await lane.write(note('x1')).catch((reason) => reason)
    expect(error).toBeInstanceOf(StoreUnavailable)
    expect(error.isUncertain).toBe(false)
    expect(sql('select last_value from tries')).toBe('3')
    expect(await lane.write(note('y'))).toBe(1)
    sql('update fails set n = 0')
    expect(await lane.write(note('x2'))).toBe(1)
    expect(words()).toEqual(['x2', 'y'])
    await lane.close()
  })
})

interface CuttingProxy {
  port: number
  /** Ends the next exchange after this many bytes of the server's answer, in both directions. */
  cutAnswerAt(bytes: number): void
  /** Bytes that the server sends while `work` runs. */
  answerBytesOf(work: () => Promise<unknown>): Promise<number>
  cuts(): number
  /** Passes nothing on any more and keeps the connections open. */
  silence(): void
  /** Ends the connections; new ones are possible. */
  breakAll(): void
  stop(): void
}

/** A TCP proxy in front of PostgreSQL that breaks connections at an exact byte. */
async function startCuttingProxy(target: number): Promise<CuttingProxy> {
  let left = Number.POSITIVE_INFINITY
  let passed = 0
  let cuts = 0
  let isSilent = false
  const sockets = new Set<Socket>()
  const server: Server = createServer((client) => {
    const upstream = connectTcp(target, '127.0.0.1')
    const both = [client, upstream]
    const end = () => {
      for (const socket of both) socket.destroy()
    }
    for (const socket of both) {
      sockets.add(socket)
      socket.on('error', end).on('close', () => {
        sockets.delete(socket)
        end()
      })
    }
    client.on('data', (bytes) => !isSilent && upstream.write(bytes))
    upstream.on('data', (bytes: Buffer) => {
      if (isSilent) return
      passed += bytes.length
      if (bytes.length <= left) {
        left -= bytes.length
        client.write(bytes)
        return
      }
      const part = bytes.subarray(0, left)
      left = Number.POSITIVE_INFINITY
      cuts++
      client.write(part, end)
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error('no port')
  const breakAll = () => {
    for (const socket of sockets) socket.destroy()
  }
  return {
    port: address.port,
    cutAnswerAt: (bytes) => {
      left = bytes
    },
    answerBytesOf: async (work) => {
      const before = passed
      await work()
      return passed - before
    },
    cuts: () => cuts,
    silence: () => {
      isSilent = true
    },
    breakAll,
    stop: () => {
      breakAll()
      server.close()
    },
  }
}
