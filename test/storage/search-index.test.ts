import { afterEach, beforeEach, expect, test } from 'bun:test'
import { copyFileSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { INSTALLATION } from '../../src/model/organization.ts'
import { type Connection, connect } from '../../src/storage/sqlite/driver.ts'
import { DATABASE_FILE, openStore } from '../../src/storage/sqlite/open.ts'
import { type Reader, readerOn } from '../../src/storage/sqlite/reader.ts'
import { shareReads } from '../../src/storage/sqlite/reading.ts'
import { createSearch } from '../../src/storage/sqlite/search.ts'
import { PART, SEARCH_FILE, searchIndex } from '../../src/storage/sqlite/search-index.ts'
import { createWriter } from '../../src/storage/sqlite/writer.ts'
import type { Store } from '../../src/storage/store.ts'
import { openNewStore } from '../support/migrated-store.ts'
import { erase } from './contract-erasures.ts'
import { removeAll } from './contract-retention.ts'
import { ALL_MESSAGES, accept, createRecords, found, idsByPage, type Records, START } from './records.ts'

/** How words get into the search index of SQLite, and leave it. */

const DAY = 86_400_000
const OVER = { status: 'delivered' as const, deliveries: [{ status: 'delivered' as const, nextAttemptAt: null }] }

let dataDir: string
let db: Connection
let store: Store
let records: Records
beforeEach(async () => {
  dataDir = mkdtempSync(join(tmpdir(), 'postrider-search-'))
  store = await openNewStore({ dataDir, now: START })
  db = connect(join(dataDir, DATABASE_FILE), { busyTimeoutMs: 1_000 })
  records = createRecords()
  await found(store, records)
})
afterEach(async () => {
  db.close()
  await store.close()
  rmSync(dataDir, { recursive: true })
})

const file = () => join(dataDir, SEARCH_FILE)
const search = (text: string) => idsByPage((page) => store.messages.list({ ...ALL_MESSAGES, text }, page))
const outdated = () => db.prepare('select count(*) from search_outdated').pluck().get()
const hasBytes = (text: string) =>
  ['', '-wal'].some((end) => existsSync(file() + end) && readFileSync(file() + end).includes(text))

async function index(): Promise<void> {
  while (await store.maintain('recent', () => true));
}

/** The next message gets this number. */
function continueAt(number: number): void {
  db.exec("delete from sqlite_sequence where name = 'messages'")
  db.prepare("insert into sqlite_sequence (name, seq) values ('messages', ?)").run(number - 1)
}

/** Old messages, of which every fifth is young, over the border of two parts, all indexed. */
async function write() {
  continueAt(PART - 100)
  const message = (at: number) => {
    const isYoung = at % 5 === 0
    const subject = `${isYoung ? 'young' : 'quagga'}${at} often`
    return records.accepted({ ...OVER, subject, createdAt: START + (isYoung ? 2 * DAY : 0) })
  }
  const all = Array.from({ length: 300 }, (_, at) => message(at))
  await accept(store, ...all)
  await index()
  return all
}
const installation = { organizationId: INSTALLATION, before: START + DAY, unsubscribableSince: START }

test('the words of removed messages leave the file at the end of a pass', async () => {
  await write()
  expect(hasBytes('quagga')).toBe(true)
  await removeAll(store, START + DAY)
  expect([outdated(), await search('quagga')]).toEqual([240, []])
  while (await store.retention.remove({ ...installation, timeIsUp: () => true }));
  expect([outdated(), hasBytes('quagga')]).toEqual([0, false])
  expect(await search('often')).toHaveLength(60)
  expect(await search('young295')).toHaveLength(1)
})

test('a stop while words are erased leaves none behind', async () => {
  await write()
  await removeAll(store, START + DAY)
  const numbers = db.prepare<unknown[], number>('select number from search_outdated where number < ?').pluck().all(PART)
  const stopped = searchIndex(db)
  stopped.renew(0, numbers.slice(0, 40))
  stopped.purge(0)
  stopped.renew(0, numbers)
  stopped.close()
  expect([hasBytes('quagga'), outdated()]).toEqual([true, 240])
  while (await store.maintain('removed', () => true));
  expect([hasBytes('quagga'), outdated()]).toEqual([false, 0])
  expect(await search('often')).toHaveLength(60)
})

test('an erased recipient is not found from the first step on, the others of the message are', async () => {
  const recipients = { deliveries: [{ email: 'zebra@dest.example' }, { email: 'ben@dest.example' }] }
  const shared = records.accepted({ ...OVER, ...recipients, subject: 'For zebra@dest.example', createdAt: START })
  const over = { ...shared, deliveries: shared.deliveries.map((each) => ({ ...each, status: 'delivered' as const })) }
  await accept(store, over, ...Array.from({ length: 200 }, (_, at) => records.accepted({ subject: `word${at}` })))
  await index()
  const { id, organizationId } = shared.message
  expect([await search('zebra'), hasBytes('zebra')]).toEqual([[id], true])
  const begun = await store.erasures.begin({
    id: 'ers_1',
    organizationId,
    email: 'zebra@dest.example',
    now: START + DAY,
  })
  await store.erasures.step(START + DAY, () => true)
  expect(outdated()).toBe(1)
  expect([await search('zebra'), await search('ben@dest.example')]).toEqual([[], [id]])
  while ((await store.erasures.get(begun!.id))?.finishedAt === null) await store.erasures.step(START + DAY, () => true)
  expect([outdated(), hasBytes('zebra')]).toEqual([0, false])
  expect([await search('zebra'), await search('ben@dest.example')]).toEqual([[], [id]])
})

test('a message that changes again while its words are erased is cleaned again', async () => {
  await accept(store, records.accepted({ ...OVER, subject: 'quagga' }))
  await index()
  const reading = shareReads(db)
  const writer = createWriter(db, { beginning: reading.end, begun: () => {}, ending: () => {}, undone: () => {} })
  const reader = readerOn(db, reading)
  let changes = 1
  const change = async () => {
    if (changes-- > 0) await writer.write(() => cleaned.note(1))
  }
  const changing: Reader = {
    ...reader,
    ask: (name, ...args) =>
      name === 'purgeSearch' ? change().then(() => reader.ask(name, ...args)) : reader.ask(name, ...args),
  }
  const cleaned = createSearch(db, writer, changing)
  await writer.write(() => cleaned.note(1))
  expect([await cleaned.clean(), outdated()]).toEqual([true, 1])
  expect([await cleaned.clean(), outdated()]).toEqual([false, 0])
  await reader.close()
})

test('an erasure rewrites the parts of its messages only', async () => {
  const to = (email: string) => records.accepted({ ...OVER, deliveries: [{ ...OVER.deliveries[0], email }] })
  await accept(store, ...Array.from({ length: 50 }, () => to('ben@dest.example')))
  continueAt(3 * PART)
  await accept(store, to('zebra@dest.example'), to('ben@dest.example'))
  await index()
  const opened = connect(file(), { busyTimeoutMs: 1_000 })
  const bytesOf = (part: number) => opened.prepare(`select id, block from words_${part}_data order by id`).all()
  const before = [bytesOf(0), bytesOf(3)]
  await erase(store, records, 'zebra@dest.example', START + DAY)
  expect(bytesOf(0)).toEqual(before[0]!)
  expect(bytesOf(3)).not.toEqual(before[1]!)
  opened.close()
  expect([await search('zebra'), (await search('ben@dest.example')).length]).toEqual([[], 51])
})

test('a message that is not indexed yet leaves no trace when it is removed', async () => {
  await accept(store, records.accepted({ ...OVER, subject: 'quagga', createdAt: START }))
  await removeAll(store, START + DAY)
  await index()
  while (await store.maintain('removed', () => true));
  expect([outdated(), hasBytes('quagga'), await search('quagga')]).toEqual([0, false, []])
})

test('a part without messages is removed, and searches find the others, newest first', async () => {
  const ids: string[] = []
  for (const part of [0, 1, 7, 200]) {
    continueAt(part * PART + 5)
    const createdAt = START + (part === 7 ? 0 : 2 * DAY)
    const accepted = await accept(store, records.accepted({ ...OVER, createdAt, subject: `red part${part}` }))
    ids.unshift(accepted.message.id)
  }
  await index()
  expect(await search('red')).toEqual(ids)
  await removeAll(store, START + DAY)
  while (await store.maintain('removed', () => true));
  const opened = connect(file(), { busyTimeoutMs: 1_000 })
  expect(opened.prepare('select part from parts').pluck().all()).toEqual([0, 1, 200])
  expect(opened.prepare("select count(*) from sqlite_master where name like 'words_7%'").pluck().get()).toBe(0)
  opened.close()
  expect(await search('red')).toEqual(ids.filter((_, at) => at !== 1))
  expect(await search('red part200')).toEqual([ids[0]!])
})

test('a lost, a damaged and a foreign index are filled anew', async () => {
  const all = await write()
  const last = all[299]!.message.id
  const reopened = async () => {
    store = await openStore({ dataDir, now: START })
    const found = await search('quagga299 often')
    await index()
    return [found, await search('quagga299 often'), (await search('often')).length]
  }
  const spare = join(dataDir, 'spare.db')
  await store.close()
  copyFileSync(file(), spare)
  rmSync(file())
  expect(await reopened()).toEqual([[last], [last], 300])
  await store.close()
  writeFileSync(file(), 'x'.repeat(8_192))
  expect(await reopened()).toEqual([[last], [last], 300])

  // A backup was restored, and other messages got the same numbers.
  await removeAll(store, START + 3 * DAY)
  await store.close()
  copyFileSync(spare, file())
  db.exec('delete from search_outdated')
  continueAt(PART - 100)
  store = await openStore({ dataDir, now: START })
  await accept(store, ...Array.from({ length: 300 }, () => records.accepted({ subject: 'other' })))
  await index()
  expect([await search('quagga299 often'), (await search('other')).length]).toEqual([[], 300])
})

test('an index that cannot be written refuses no search', async () => {
  const old = await accept(store, records.accepted({ subject: 'indexed needle' }))
  await index()
  const late = await accept(store, records.accepted({ subject: 'late needle' }))
  const other = connect(file(), { busyTimeoutMs: 1_000 })
  other.exec('begin immediate')
  expect(await search('needle')).toEqual([late.message.id, old.message.id])
  other.exec('commit')
  other.close()
})

test('words, prefixes and phrases are found as they are in the message', async () => {
  const subject = (at: number) => `pre${2 * at} pre${2 * at + 1} ${at % 100 === 7 ? 'green red' : 'red green'}`
  const all = Array.from({ length: 600 }, (_, at) => records.accepted({ subject: subject(at) }))
  const strange = records.accepted({ subject: 'ǅungla 𞤀𞤁 "quoted" words_with=signs naïve' })
  await accept(store, ...all, strange)
  await index()
  const ids = (are: (at: number) => boolean) =>
    all.flatMap(({ message }, at) => (are(at) ? [message.id] : [])).toReversed()
  expect(await search('pre')).toEqual(ids(() => true))
  expect(await search('pre1199')).toEqual(ids((at) => at === 599))
  expect(await search('green-red')).toEqual(ids((at) => at % 100 === 7))
  expect(await search('green-r')).toEqual(ids((at) => at % 100 === 7))
  expect(await search('green.red pre1')).toEqual(ids((at) => at % 100 === 7 && /pre1/.test(subject(at))))
  expect(await search('red-red')).toEqual([])
  for (const text of ['ǆungla', '𞤀𞤁', '"quoted"', 'words with', 'signs', 'naive', 'ǆungla quoted nai']) {
    expect([text, await search(text)]).toEqual([text, [strange.message.id]])
  }
  for (const text of ['=', '*', '" OR "', 'NOT', 'quoted AND words', 'words_']) {
    expect([text, await search(text)]).toEqual([text, text === 'words_' ? [strange.message.id] : []])
  }
  expect(await search(Array.from({ length: 400 }, (_, at) => `a${at}`).join(' '))).toEqual([])
})
