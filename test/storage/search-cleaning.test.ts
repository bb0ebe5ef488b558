import { afterEach, beforeEach, expect, test } from 'bun:test'
import { INSTALLATION } from '../../src/model/organization.ts'
import { type Connection, connect } from '../../src/storage/sqlite/driver.ts'
import { openEncryption } from '../../src/storage/sqlite/encryption-key.ts'
import { RANGE } from '../../src/storage/sqlite/members.ts'
import { migrate } from '../../src/storage/sqlite/migrate.ts'
import { storeOn } from '../../src/storage/sqlite/open.ts'
import { searchCleaning } from '../../src/storage/sqlite/search-cleaning.ts'
import type { Store } from '../../src/storage/store.ts'
import { erase } from './contract-erasures.ts'
import { removeAll } from './contract-retention.ts'
import { ALL_MESSAGES, accept, createRecords, found, idsByPage, type Records, START } from './records.ts'

/** How words leave the search index of SQLite, and how an upgrade fills it. */

const DAY = 86_400_000
const OVER = { status: 'delivered' as const, deliveries: [{ status: 'delivered' as const, nextAttemptAt: null }] }
/** Words read at once, and messages indexed at once. */
const WORDS = 128
const BATCH = 64

let db: Connection
let store: Store
let records: Records
beforeEach(async () => {
  db = connect(':memory:', { busyTimeoutMs: 0 })
  migrate(db, 0)
  store = openOn(db)
  records = createRecords()
  await found(store, records)
})
afterEach(() => store.close())

const openOn = (on: Connection) => storeOn(on, openEncryption(':memory:', on))
const search = (text: string) => idsByPage((page) => store.messages.list({ ...ALL_MESSAGES, text }, page))
const rowsOf = (table: string) => db.prepare(`select * from ${table}`).all()
const count = (table: string) => rowsOf(table).length

async function index(): Promise<void> {
  while (await store.maintain('recent', () => true));
}

/** The index as if all present messages were indexed now. */
async function indexedAnew() {
  db.exec('delete from search_words; delete from search_outdated; update search_state set first = 0, last = 0')
  await index()
  return rowsOf('search_words')
}

/** Old messages, of which every fifth is young, over the border of two ranges, all indexed. */
async function write(): Promise<void> {
  db.prepare("insert into sqlite_sequence (name, seq) values ('messages', ?)").run(RANGE - 200)
  const subject = (at: number) => `word${at} often ${at % 2 === 0 ? 'even' : 'odd'}`
  const message = (at: number) =>
    records.accepted({ ...OVER, subject: subject(at), createdAt: START + (at % 5 === 0 ? 2 * DAY : 0) })
  await accept(store, ...Array.from({ length: 300 }, (_, at) => message(at)))
  await index()
}
const installation = { organizationId: INSTALLATION, before: START + DAY, unsubscribableSince: START }

test('the words of removed messages leave in slices that end when their time is up', async () => {
  await write()
  const reads: number[] = []
  await removeAll(store, START + DAY)
  expect(count('search_outdated')).toBe(240)
  const cleaning = searchCleaning(watched(db, reads))
  let steps = 0
  while (cleaning.clean(() => true)) steps++
  expect(Math.max(...reads)).toBe(WORDS)
  expect(steps).toBeGreaterThan(300 / WORDS + 2)
  expect(count('search_outdated')).toBe(0)
  const cleaned = rowsOf('search_words')
  expect(cleaned).toEqual(await indexedAnew())
})

test('a stop or an undone change in the middle leaves no word behind', async () => {
  await write()
  await removeAll(store, START + DAY)
  for (let steps = 1; steps < 6; steps++) {
    store = openOn(db)
    for (let step = 0; step < steps; step++) await store.retention.remove({ ...installation, timeIsUp: () => true })
  }
  const cleaning = searchCleaning(db)
  cleaning.clean(() => true)
  db.exec('begin')
  for (let step = 0; step < 2; step++) cleaning.clean(() => true)
  db.exec('rollback')
  cleaning.drop()
  while (cleaning.clean(() => true));
  const cleaned = rowsOf('search_words')
  expect(cleaned).toEqual(await indexedAnew())
})

test('a store undoes its cleaning with the change', async () => {
  await write()
  await removeAll(store, START + DAY)
  const step = () => store.retention.remove({ ...installation, timeIsUp: () => true })
  const before = count('search_words')
  while (count('search_words') === before) await step()
  // The commit of the next step fails.
  db.exec(`create table parents (id integer primary key);
    create table children (id integer references parents (id) deferrable initially deferred);
    create temp table armed as select 1 as id;
    create temp trigger fail after delete on search_words when exists (select 1 from armed)
      begin insert into children values (1); end`)
  await expect(step()).rejects.toThrow()
  db.exec('delete from armed')
  while (await step());
  const cleaned = rowsOf('search_words')
  expect(cleaned).toEqual(await indexedAnew())
})

test('an erased recipient is not found from the first step on, the others of the message are', async () => {
  const recipients = { deliveries: [{ email: 'zebra@dest.example' }, { email: 'ben@dest.example' }] }
  const shared = records.accepted({ ...OVER, ...recipients, subject: 'For zebra@dest.example', createdAt: START })
  const over = { ...shared, deliveries: shared.deliveries.map((each) => ({ ...each, status: 'delivered' as const })) }
  await accept(store, over, ...Array.from({ length: 200 }, (_, at) => records.accepted({ subject: `word${at}` })))
  await index()
  const { id } = shared.message
  expect(await search('zebra')).toEqual([id])
  const begun = await store.erasures.begin({
    id: 'ers_1',
    organizationId: shared.message.organizationId,
    email: 'zebra@dest.example',
    now: START + DAY,
  })
  await store.erasures.step(START + DAY, () => true)
  expect(count('search_outdated')).toBe(1)
  expect([await search('zebra'), await search('ben@dest.example')]).toEqual([[], [id]])
  while ((await store.erasures.get(begun!.id))?.finishedAt === null) await store.erasures.step(START + DAY, () => true)
  expect(count('search_outdated')).toBe(0)
  expect([await search('zebra'), await search('ben@dest.example')]).toEqual([[], [id]])
  const cleaned = rowsOf('search_words')
  expect(cleaned).toEqual(await indexedAnew())
})

test('an erasure reads the ranges of its messages only', async () => {
  const to = (email: string) => records.accepted({ ...OVER, deliveries: [{ ...OVER.deliveries[0], email }] })
  const others = Array.from({ length: 2 * RANGE }, () => to('ben@dest.example'))
  await accept(store, ...others, to('zebra@dest.example'))
  await index()
  store = openOn(watchedWrites(db))
  writes.length = 0
  await erase(store, records, 'zebra@dest.example', START + DAY)
  expect(await search('zebra')).toEqual([])
  expect(new Set(writes)).toEqual(new Set([2]))
})

test('a message that is not indexed yet leaves no trace when it is removed', async () => {
  await accept(store, records.accepted({ ...OVER, createdAt: START }))
  await removeAll(store, START + DAY)
  expect([count('search_outdated'), count('search_words')]).toEqual([0, 0])
})

test('a search finds everything while an index that was dropped is filled again', async () => {
  const old = connect(':memory:', { busyTimeoutMs: 0 })
  migrate(old, 0)
  const filled = openOn(old)
  await found(filled, records)
  const all = Array.from({ length: 5 * BATCH }, (_, at) =>
    records.accepted({ subject: at % 50 === 0 ? 'red' : 'blue' }),
  )
  await accept(filled, ...all)
  const red = all.filter((_, at) => at % 50 === 0).map(({ message }) => message.id)
  old.exec(`delete from search_words;
    update search_state set (first, last) = (select max(number) + 1, max(number) from messages)`)

  const firsts: unknown[] = []
  for (let steps = 0; ; steps++) {
    db = old
    store = openOn(old) // each step after a restart
    firsts.push(old.prepare('select first from search_state').pluck().get())
    expect(await search('red')).toEqual(red.toReversed())
    expect(await search('yellow')).toEqual([])
    if (steps === 2) {
      const young = await accept(store, records.accepted({ subject: 'red' }))
      red.push(young.message.id)
      expect(await search('red')).toEqual(red.toReversed())
    }
    if (!(await store.maintain('recent', () => true))) break
  }
  expect(firsts).toEqual([321, 257, 193, 129, 65, 1])
  const stepwise = rowsOf('search_words')
  expect(stepwise).toEqual(await indexedAnew())
})

test('a prefix of more words than are read, and phrases, are compared with the messages', async () => {
  const subject = (at: number) => `pre${2 * at} pre${2 * at + 1} ${at % 100 === 7 ? 'green red' : 'red green'}`
  const all = Array.from({ length: 600 }, (_, at) => records.accepted({ subject: subject(at) }))
  await accept(store, ...all)
  await index()
  const ids = (are: (at: number) => boolean) =>
    all.flatMap(({ message }, at) => (are(at) ? [message.id] : [])).toReversed()
  expect(await search('pre')).toEqual(ids(() => true))
  expect(await search('pre1199')).toEqual(ids((at) => at === 599))
  expect(await search('green-red')).toEqual(ids((at) => at % 100 === 7))
  expect(await search('green-r')).toEqual(ids((at) => at % 100 === 7))
  expect(await search('green.red pre1')).toEqual(ids((at) => at % 100 === 7 && /pre1/.test(subject(at))))
  expect(await search('red-red')).toEqual([])
})

test('a search skips more ranges than one statement does', async () => {
  const write = async (range: number, subject: string) => {
    db.exec("delete from sqlite_sequence where name = 'messages'")
    db.prepare("insert into sqlite_sequence (name, seq) values ('messages', ?)").run(range * RANGE + 5)
    return (await accept(store, records.accepted({ subject }))).message.id
  }
  const first = await write(0, 'red')
  for (let range = 1; range < 150; range++) await write(range, 'blue')
  const last = await write(150, 'redder')
  await index()
  expect(await search('red')).toEqual([last, first])
  expect(await search('blue red')).toEqual([])
  expect(await search('blue')).toHaveLength(149)
})

/** Records how many words each statement for several has returned. */
function watched(on: Connection, reads: number[]): Connection {
  return preparing(on, (statement) => {
    if (!/search_words/.test(statement.source)) return
    const all = statement.all.bind(statement)
    statement.all = (...values: unknown[]) => {
      const rows = all(...values)
      reads.push(rows.length)
      return rows
    }
  })
}

/** Ranges whose words were written. */
const writes: unknown[] = []
function watchedWrites(on: Connection): Connection {
  return preparing(on, (statement) => {
    if (!/search_words/.test(statement.source) || statement.reader) return
    const run = statement.run.bind(statement)
    statement.run = (...values: unknown[]) => {
      writes.push(values[0])
      return run(...values)
    }
  })
}

const prepared = (on: Connection, sql: string) => on.prepare(sql)

function preparing(on: Connection, change: (statement: ReturnType<typeof prepared>) => void): Connection {
  const prepare = on.prepare.bind(on)
  on.prepare = ((sql: string) => {
    const statement = prepare(sql)
    change(statement)
    return statement
  }) as Connection['prepare']
  return on
}
