import { afterEach, beforeEach, expect, test } from 'bun:test'
import { copyFileSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { INSTALLATION } from '../../src/model/organization.ts'
import { type Connection, connect } from '../../src/storage/sqlite/driver.ts'
import { eachRunner } from '../../src/storage/sqlite/each.ts'
import { DATABASE_FILE, openStore } from '../../src/storage/sqlite/open.ts'
import { type Reader, readerOn } from '../../src/storage/sqlite/reader.ts'
import { shareReads } from '../../src/storage/sqlite/reading.ts'
import { createSearch, Outdated } from '../../src/storage/sqlite/search.ts'
import { PART, SEARCH_FILE, searchIndex } from '../../src/storage/sqlite/search-index.ts'
import { createWriter } from '../../src/storage/sqlite/writer.ts'
import type { PageRequest, Store } from '../../src/storage/store.ts'
import { openNewStore } from '../support/migrated-store.ts'
import { erase } from './contract-erasures.ts'
import { removeAll } from './contract-retention.ts'
import { listOf } from './message-lists.ts'
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

test('words that a merge copied before their message was removed leave the file too', async () => {
  const word = (at: number, of: number) => `${Bun.hash.crc32(`${at} ${of}`).toString(36)}quagga${at}end`
  const subject = (at: number) => Array.from({ length: 100 }, (_, of) => word(at, of)).join(' ')
  const createdAt = (at: number) => START + (at % 20 === 0 ? 0 : 2 * DAY)
  const message = (at: number) => records.accepted({ ...OVER, subject: subject(at), createdAt: createdAt(at) })
  await accept(store, ...Array.from({ length: 600 }, (_, at) => message(at)))
  await index()
  const numbers = db.prepare<unknown[], number>('select number from messages order by number').pluck().all()
  const stopped = searchIndex(db)
  stopped.renew(0, numbers.slice(0, 1))
  expect(stopped.purge(0)).toBe(true)
  stopped.close()
  await removeAll(store, START + DAY)
  while (await store.maintain('removed', () => true));
  expect(Array.from({ length: 30 }, (_, at) => `quagga${20 * at}end`).filter(hasBytes)).toEqual([])
})

test('words that another process still reads leave the file once it has ended', async () => {
  await write()
  await removeAll(store, START + DAY)
  const other = connect(file(), { busyTimeoutMs: 1_000 })
  other.exec('begin')
  other.prepare('select * from parts').all()
  expect(await store.maintain('removed', () => true).catch(String)).toContain('another process')
  expect([outdated(), hasBytes('quagga')]).toEqual([240, true])
  other.exec('commit')
  other.close()
  while (await store.maintain('removed', () => true));
  expect([outdated(), hasBytes('quagga')]).toEqual([0, false])
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
    if (changes-- > 0) await note()
  }
  const ask = reader.ask as (name: string, ...rest: unknown[]) => Promise<unknown>
  const changing: Reader = {
    ...reader,
    ask: (async (name: string, ...rest: unknown[]) => {
      if (name === 'purgeSearch') await change()
      return ask(name, ...rest)
    }) as Reader['ask'], // of each read
  }
  const noted = new Outdated()
  const runEach = eachRunner(db)
  const note = () =>
    writer.write(() => {
      for (const step of noted.note([{ number: 1 }])) if (step.wants === 'each') runEach(step)
    })
  const cleaned = createSearch(db, noted, { writer, reader: changing })
  await note()
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

test('a batch ends before its words take long, and the next continues there', async () => {
  const subject = Array.from({ length: 4_000 }, (_, at) => `word${at}`).join(' ')
  const all = Array.from({ length: 40 }, (_, at) => records.accepted({ subject: `${subject} last${at}` }))
  await accept(store, ...all)
  expect(await store.maintain('recent', () => true)).toBe(true)
  const opened = connect(file(), { busyTimeoutMs: 1_000 })
  const last = opened.prepare<unknown[], number>('select last from indexed').pluck()
  expect(last.get()).toBeLessThan(20)
  await index()
  expect([last.get(), await search('last39')]).toEqual([40, [all[39]!.message.id]])
  opened.close()
})

test('a search ends its page after a part that took long, though it found nothing there', async () => {
  for (const part of [0, 1, 2]) {
    continueAt((part + 1) * PART - 20)
    const others = Array.from({ length: 10 }, () => records.accepted({ subject: 'other' }))
    await accept(store, ...others, ...(part === 1 ? [records.accepted({ subject: 'quagga' })] : []))
  }
  await index()
  let now = 0
  const list = listOf(db, searchIndex(db), () => {
    now += 100
    return now
  })
  const pages: number[] = []
  const read = async (page: PageRequest) => {
    const answer = list({ ...ALL_MESSAGES, text: 'quagg' }, page)
    pages.push(answer.records.length)
    return answer
  }
  // The last page begins at the first message.
  expect([await idsByPage(read), pages]).toEqual([await search('quagg'), [0, 1, 0, 0]])
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

test('an index whose damage only its use shows is filled anew', async () => {
  const { id } = (await accept(store, records.accepted({ subject: 'needle' }))).message
  await index()
  const other = connect(file(), { busyTimeoutMs: 1_000 })
  other.unsafeMode()
  expect(other.prepare("update words_0_data set block = x'00' where id > 10").run().changes).toBeGreaterThan(0)
  other.close()
  expect(await search('needle').catch(String)).toContain('corruption')
  expect(await search('needle')).toEqual([id])
  await accept(store, records.accepted({ subject: 'next' }))
  await index()
  expect([await search('needle'), hasBytes('needle')]).toEqual([[id], true])
})

test('an index that cannot be opened refuses no search', async () => {
  mkdirSync(file())
  const { id } = (await accept(store, records.accepted({ subject: 'needle' }))).message
  expect([await search('needle'), await search('absent')]).toEqual([[id], []])
  expect(store.maintain('recent', () => true)).rejects.toThrow('EISDIR')
  rmSync(file(), { recursive: true })
  await index()
  expect([await search('needle'), hasBytes('needle')]).toEqual([[id], true])
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
