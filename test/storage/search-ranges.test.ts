import { afterEach, beforeEach, expect, test } from 'bun:test'
import { connect } from '../../src/storage/sqlite/driver.ts'
import { openEncryption } from '../../src/storage/sqlite/encryption-key.ts'
import { migrate } from '../../src/storage/sqlite/migrate.ts'
import { PART } from '../../src/storage/sqlite/search-index.ts'
import { storeOn } from '../../src/storage/sqlite/store.ts'
import type { MessageFilter, Store } from '../../src/storage/store.ts'
import { removeAll } from './contract-retention.ts'
import { ALL_MESSAGES, accept, createRecords, found, idsByPage, type Records, START } from './records.ts'

const DAY = 86_400_000
const OVER = { status: 'delivered' as const, deliveries: [{ status: 'delivered' as const, nextAttemptAt: null }] }

let store: Store
let records: Records
/** Sets the number of the next message. */
let numberFrom: (number: number) => void
beforeEach(async () => {
  const db = connect(':memory:', { busyTimeoutMs: 0 })
  migrate(db, 0)
  store = storeOn(db, openEncryption(':memory:', db))
  records = createRecords()
  await found(store, records)
  numberFrom = (number) => {
    db.prepare("delete from sqlite_sequence where name = 'messages'").run()
    db.prepare("insert into sqlite_sequence (name, seq) values ('messages', ?)").run(number - 1)
  }
})
afterEach(() => store.close())

/** Messages with these subjects, the first of them with number `from` → their ids, newest first. */
async function write(from: number, subjects: string[], change: Parameters<Records['accepted']>[0] = {}) {
  numberFrom(from)
  const all = subjects.map((subject) => records.accepted({ ...change, subject }))
  await accept(store, ...all)
  return all.map(({ message }) => message.id).reverse()
}
const search = (text: string, filter: Partial<MessageFilter> = {}) =>
  idsByPage((page) => store.messages.list({ ...ALL_MESSAGES, ...filter, text }, page))

test('a search crosses the borders of ranges, in pages, and continues over empty ones', async () => {
  const oldest = await write(1, ['red one', 'red two'])
  const border = await write(PART - 2, ['red', 'redder', 'red', 'red', 'reddest'])
  const newest = await write(40 * PART - 1, ['red', 'red'])
  const all = [...newest, ...border, ...oldest]
  expect(await search('red')).toEqual(all)
  const pageOf = async (limit: number, after: string | null) =>
    (await store.messages.list({ ...ALL_MESSAGES, text: 'red' }, { limit, after })).records.map(({ id }) => id)
  expect(await pageOf(4, null)).toEqual(all.slice(0, 4))
  expect(await pageOf(4, all[3]!)).toEqual(all.slice(4, 8))
  expect(await pageOf(4, all[7]!)).toEqual(all.slice(8))
})

test('words of one message count together, words of two in a range do not', async () => {
  const [both] = await write(PART - 1, ['red green'])
  await write(PART, ['red', 'green'])
  expect(await search('green red')).toEqual([both!])
  expect(await search('red-green')).toEqual([both!])
  expect(await search('green-red')).toEqual([])
})

test('a word that looks like the code of a range is a normal word', async () => {
  const [coded] = await write(PART, ['00001red 00001'])
  await write(PART + 1, ['red'])
  expect(await search('00001')).toEqual([coded!])
  expect(await search('00001red')).toEqual([coded!])
  expect(await search('0000')).toEqual([coded!])
})

test('accents, other scripts and symbols are found in every range', async () => {
  const subjects = ['Cafe\u0301 noir', 'Дом 2', '東京 タワー', 'x²', 'नमस्ते']
  const old = await write(3, subjects)
  const ids = [...(await write(PART, subjects)), ...old]
  for (const [at, text] of ['café', 'дом', '東京', 'x²', 'नमस्ते'].entries()) {
    expect([text, await search(text)]).toEqual([text, [ids[4 - at]!, ids[9 - at]!]])
  }
})

test('letters unknown to the tokenizer find nothing, rather than everything', async () => {
  const [odd] = await write(PART, ['red \u19b0 \u1cf2'])
  await write(PART + 1, ['red'])
  expect(await search('\u19b0')).toEqual([])
  expect(await search('red \u1cf2\u19c9')).toHaveLength(2)
  expect(await search('\u19b0red')).toHaveLength(2)
  expect(await search('red')).toContain(odd!)
})

test('other filters apply in each range, and an organization sees its own messages', async () => {
  const bob = { deliveries: [{ email: 'bob@dest.example' }], tags: ['vip'] }
  const [old] = await write(5, ['red'], bob)
  await write(PART + 5, ['red', 'red'])
  await write(2 * PART, ['red'], { organizationId: 'org_b', ...bob })
  const [young] = await write(3 * PART, ['red'], { ...bob, status: 'bounced' })
  expect(await search('red', { to: 'bob@dest.example' })).toEqual([young!, old!])
  expect(await search('red', { tag: 'vip' })).toEqual([young!, old!])
  expect(await search('red', { tag: 'vip', status: 'bounced', to: 'bob@dest.example' })).toEqual([young!])
  expect(await search('red', { organizationId: 'org_b' })).toHaveLength(1)
  expect(await search('red', { status: 'cancelled' })).toEqual([])
})

test('messages that retention removed on both sides of a border are not found', async () => {
  await write(PART - 2, ['red', 'red', 'red', 'red'], OVER)
  const young = await write(PART + 2, ['red'], { ...OVER, createdAt: START + DAY })
  while (await store.maintain('recent', () => true));
  await removeAll(store, START + DAY)
  while (await store.maintain('removed', () => true));
  expect(await search('red')).toEqual(young)
})
