import { afterEach, beforeEach, expect, spyOn, test } from 'bun:test'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { StoreUnavailable } from '../store.ts'
import { type Connection, connect } from './driver.ts'
import { createWriter, type Writer } from './writer.ts'

let db: Connection
let writer: Writer
let reported: string[]
/** The time of the writer: only `take` advances it, so that no group ends early on a slow machine. */
let now: number
const take = (ms: number) => {
  now += ms
}
let performanceNow: { mockRestore(): void }
beforeEach(() => {
  now = 0
  performanceNow = spyOn(performance, 'now').mockImplementation(() => now)
  db = connect(':memory:', { busyTimeoutMs: 0 })
  db.exec('create table t (n integer primary key, filling blob) strict')
  reported = []
  writer = createWriter(db, {
    beginning: () => {},
    begun: () => reported.push('begun'),
    ending: () => {},
    undone: () => reported.push('undone'),
  })
})
afterEach(async () => {
  performanceNow.mockRestore()
  await writer.idle()
  db.close()
})

const add = (n: number) => writer.write(() => db.prepare('insert into t (n) values (?)').run(n).changes)
const rows = () => db.prepare('select n from t order by n').pluck().all()

test('changes of one turn share one transaction, in request order', async () => {
  const inTransaction: boolean[] = []
  const all = [3, 1, 2].map((n) =>
    writer.write(() => {
      inTransaction.push(db.inTransaction)
      db.prepare('insert into t (n) values (?)').run(n)
      return rows().length
    }),
  )
  expect(rows()).toEqual([])
  expect(await Promise.all(all)).toEqual([1, 2, 3])
  expect(inTransaction).toEqual([true, true, true])
  expect(reported).toEqual(['begun'])
  expect(rows()).toEqual([1, 2, 3])
})

const turn = () => new Promise<void>((resolve) => setImmediate(resolve))

test('turns that each bring a change share one transaction', async () => {
  const all: Promise<number>[] = []
  for (let n = 0; n < 5; n++) {
    all.push(add(n))
    await turn()
  }
  expect(rows()).toEqual([])
  await Promise.all(all)
  expect(reported).toEqual(['begun'])
})

test('a read before a group runs outside its transaction, once no more changes arrive, and its response joins the group', async () => {
  void add(0)
  const read = writer.before(() => ({ isInside: db.inTransaction, rows: rows() }))
  await turn()
  void add(1)
  const response = read.then((seen) => add(2).then(() => seen))
  expect(await response).toEqual({ isInside: false, rows: [] })
  expect(reported).toEqual(['begun'])
  expect(rows()).toEqual([0, 1, 2])
})

test('a read before a group also runs if nothing is written, and rejects with what it threw', async () => {
  expect(await writer.before(() => rows())).toEqual([])
  await writer.idle()
  expect(reported).toEqual([]) // no transaction
  const failing = writer.before(() => {
    throw new Error('no plan')
  })
  const written = add(1)
  await expect(failing).rejects.toThrow('no plan')
  expect(await written).toBe(1)
})

test.each([
  ['many', 0, 300],
  ['long', 1, 15],
])('the first caller does not wait forever for %s turns that bring changes', async (_, turnMs, most) => {
  let isWritten = false
  void add(0).then(() => {
    isWritten = true
  })
  let brought = 0
  while (!isWritten) {
    void add(++brought)
    take(turnMs)
    await turn()
  }
  await writer.idle()
  expect(brought).toBeLessThan(most)
  expect(rows()).toHaveLength(1 + brought)
})

// threat: batch-holds-main-thread
test('concurrent large changes do not share one long transaction', async () => {
  const order: number[] = []
  const long = (n: number) =>
    writer.write(() => {
      take(15)
      order.push(n)
      return n
    })
  const turns: number[] = []
  const all = Array.from({ length: 8 }, (_, n) => long(n).then(() => turns.push(reported.length)))
  await Promise.all(all)
  expect(order).toEqual([0, 1, 2, 3, 4, 5, 6, 7])
  expect(reported.length).toBeGreaterThanOrEqual(4)
})

// threat: batch-holds-main-thread
test('when one change of a long group throws, those not begun wait and all others are written', async () => {
  const long = (n: number) =>
    writer.write(() => {
      take(10)
      if (n === 1) throw new Error('broken')
      db.prepare('insert into t (n) values (?)').run(n)
    })
  const outcomes = await Promise.allSettled(Array.from({ length: 8 }, (_, n) => long(n)))
  expect(outcomes.map(({ status }) => status === 'fulfilled')).toEqual([
    true,
    false,
    true,
    true,
    true,
    true,
    true,
    true,
  ])
  expect(rows()).toEqual([0, 2, 3, 4, 5, 6, 7])
})

const SIZE = 6
test.each(Array.from({ length: SIZE }, (_, at) => at))(
  'when change %p of a group throws, it alone is not written',
  async (broken) => {
    const outcomes = await Promise.allSettled(
      Array.from({ length: SIZE }, (_, n) =>
        writer.write(() => {
          db.prepare('insert into t (n) values (?)').run(n)
          if (n === broken) throw new RangeError('mine')
          return n
        }),
      ),
    )
    const others = Array.from({ length: SIZE }, (_, n) => n).filter((n) => n !== broken)
    expect(outcomes.flatMap((each) => (each.status === 'fulfilled' ? [each.value] : []))).toEqual(others)
    expect(outcomes[broken]).toEqual({ status: 'rejected', reason: new RangeError('mine') })
    expect(rows()).toEqual(others)
    expect(reported.filter((each) => each === 'undone')).toHaveLength(2)
  },
)

test('when all of a group throw, nothing is written and the next group is', async () => {
  const failing = [1, 2, 3].map((n) => writer.write(() => db.prepare('insert into missing values (?)').run(n)))
  const outcomes = await Promise.allSettled(failing)
  expect(outcomes.map(({ status }) => status)).toEqual(['rejected', 'rejected', 'rejected'])
  expect(await add(1)).toBe(1)
})

test('rows of a change that throws are never visible', async () => {
  const seen: unknown[][] = []
  const look = () => writer.write(() => seen.push(rows()))
  const first = look()
  const broken = writer.write(() => {
    db.exec('insert into t (n) values (9)')
    throw new Error('no')
  })
  await Promise.allSettled([first, broken, look()])
  expect(seen).toEqual([[], [], []])
})

test('a change that enqueues another change gets it written afterwards', async () => {
  let inner: Promise<number> | undefined
  await writer.write(() => {
    inner = add(2)
    db.exec('insert into t (n) values (1)')
  })
  expect(await inner).toBe(1)
  expect(rows()).toEqual([1, 2])
})

test('idle waits for everything enqueued, however many groups that takes', async () => {
  for (let n = 0; n < 1000; n++) void add(n)
  await writer.idle()
  expect(rows()).toHaveLength(1000)
  await writer.idle()
})

test('on a full disk a change is refused as unavailable, and works again when there is space', async () => {
  await add(1)
  const pages = db.pragma('page_count', { simple: true }) as number
  db.pragma(`max_page_count = ${pages}`)
  const fill = (n: number) =>
    writer.write(() => db.prepare('insert into t (n, filling) values (?, zeroblob(100000))').run(n).changes)
  const [first, second] = await Promise.allSettled([fill(2), fill(3)])
  for (const outcome of [first, second]) {
    expect(outcome).toMatchObject({ status: 'rejected', reason: { name: 'StoreUnavailable', isFull: true } })
  }
  expect(fill(4)).rejects.toThrow(new StoreUnavailable('the database cannot write: SQLITE_FULL'))
  await writer.idle()
  expect(db.inTransaction).toBe(false)
  expect(rows()).toEqual([1])
  db.pragma(`max_page_count = ${pages + 1000}`)
  expect(await Promise.all([fill(2), fill(3)])).toEqual([1, 1])
  expect(rows()).toEqual([1, 2, 3])
})

test('a lock held by others makes a group unavailable, and none of its changes is tried', async () => {
  let isLocked = true
  const locked = { ...db, prepare: (sql: string) => (sql === 'begin immediate' ? begin : db.prepare(sql)) }
  const begin = {
    run: () => {
      if (isLocked) throw Object.assign(new Error('database is locked'), { code: 'SQLITE_BUSY' })
      return db.exec('begin immediate')
    },
  }
  Object.defineProperty(locked, 'inTransaction', { get: () => db.inTransaction })
  const blocked = createWriter(locked as never, {
    beginning: () => {},
    begun: () => {},
    ending: () => {},
    undone: () => {},
  })
  let tries = 0
  const change = () => blocked.write(() => ++tries)
  const outcomes = await Promise.allSettled([change(), change()])
  expect(outcomes.map((each) => each.status === 'rejected' && each.reason instanceof StoreUnavailable)).toEqual([
    true,
    true,
  ])
  expect(tries).toBe(0)
  isLocked = false
  expect(await Promise.all([change(), change()])).toEqual([1, 2])
})

test('a store that cannot catch up with other processes writes nothing', async () => {
  let isBlind = true
  const blind = createWriter(db, {
    beginning: () => {},
    begun: () => {
      if (isBlind) throw new Error('cannot read')
    },
    ending: () => {},
    undone: () => {},
  })
  const outcome = blind.write(() => db.exec('insert into t (n) values (1)'))
  expect(outcome).rejects.toThrow('cannot read')
  await blind.idle()
  expect([db.inTransaction, rows()]).toEqual([false, []])
  isBlind = false
  await blind.write(() => db.exec('insert into t (n) values (1)'))
  expect(rows()).toEqual([1])
})

test('a change waits for the lock of another process without blocking the thread, and gives up in time', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'postrider-writer-'))
  const file = join(folder, 'lock.db')
  const [ours, theirs] = [connect(file, { busyTimeoutMs: 0 }), connect(file, { busyTimeoutMs: 0 })]
  ours.exec('create table t (n integer primary key) strict')
  const patient = createWriter(ours, silent, { lockPatienceMs: 60_000 })
  theirs.exec('begin immediate')
  let isDone = false
  const waiting = patient
    .write(() => ours.exec('insert into t (n) values (1)'))
    .then(() => {
      isDone = true
    })
  // The thread continues with other work.
  for (let turn = 0; turn < 100; turn++) await new Promise((resolve) => setImmediate(resolve))
  expect(isDone).toBe(false)
  theirs.exec('commit')
  await waiting
  performanceNow.mockRestore() // the limit of the next writer is over in real time
  const hasty = createWriter(ours, silent, { lockPatienceMs: 1 })
  theirs.exec('begin immediate')
  expect(hasty.write(() => {})).rejects.toBeInstanceOf(StoreUnavailable)
  await hasty.idle()
  theirs.exec('commit')
  await hasty.write(() => ours.exec('insert into t (n) values (2)'))
  expect(theirs.prepare('select n from t').pluck().all()).toEqual([1, 2])
  for (const each of [ours, theirs]) each.close()
  rmSync(folder, { recursive: true })
})

test('after an I/O error nothing is written until the whole log is in the file', async () => {
  const said: string[] = []
  const fails = { commit: true, checkpoint: true }
  const fail = (what: string) => Object.assign(new Error(what), { code: 'SQLITE_IOERR_FSYNC' })
  const failing = {
    prepare: (sql: string) =>
      sql !== 'commit'
        ? db.prepare(sql)
        : {
            run: () => {
              if (fails.commit) throw fail('commit')
              said.push('commit')
              db.exec('commit')
            },
          },
    pragma: (text: string) => {
      said.push(text)
      if (fails.checkpoint) throw fail('checkpoint')
      return db.pragma(text)
    },
  }
  Object.defineProperty(failing, 'inTransaction', { get: () => db.inTransaction })
  const careful = createWriter(failing as never, silent)
  const change = () => careful.write(() => db.exec('insert into t (n) values (null)'))
  await expect(change()).rejects.toBeInstanceOf(StoreUnavailable)
  fails.commit = false
  await expect(change()).rejects.toBeInstanceOf(StoreUnavailable)
  expect([said, rows()]).toEqual([['wal_checkpoint(truncate)'], []])
  fails.checkpoint = false
  await change()
  await change()
  expect(said).toEqual(['wal_checkpoint(truncate)', 'wal_checkpoint(truncate)', 'commit', 'commit'])
})

const silent = { beginning: () => {}, begun: () => {}, ending: () => {}, undone: () => {} }
