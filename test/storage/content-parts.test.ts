import { afterEach, beforeEach, expect, test } from 'bun:test'
import { copyFileSync, mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { packMime, unpackMime } from '../../src/mail/mime-content.ts'
import { contentOf, letGo, PART_BYTES } from '../../src/storage/mail/contents.ts'
import type { Work } from '../../src/storage/sql.ts'
import { performingOn } from '../../src/storage/sqlite/database.ts'
import { type Connection, connect } from '../../src/storage/sqlite/driver.ts'
import { openStore } from '../../src/storage/sqlite/open.ts'
import type { Store } from '../../src/storage/store.ts'
import { removeAll } from './contract-retention.ts'
import { accept, claim, createRecords, found, ORGANIZATION, type Records, START } from './records.ts'

const DAY = 86_400_000
const OVER = { status: 'delivered' as const, deliveries: [{ status: 'delivered' as const, nextAttemptAt: null }] }

let dataDir: string
let store: Store
let records: Records
let db: Connection
beforeEach(async () => {
  dataDir = mkdtempSync(join(tmpdir(), 'postrider-parts-'))
  store = await openStore({ dataDir, now: START })
  records = createRecords()
  await found(store, records)
  db = connect(join(dataDir, 'postrider.db'), { busyTimeoutMs: 1000 })
})
afterEach(async () => {
  db.close()
  await store.close()
  rmSync(dataDir, { recursive: true })
})

const random = (size: number) => {
  const bytes = Buffer.alloc(size)
  for (let from = 0; from < size; from += 65_536) crypto.getRandomValues(bytes.subarray(from, from + 65_536))
  return bytes
}
const partsLeft = () => db.prepare('select count(*) from content_parts').pluck().get()

const LENGTHS = [
  0,
  1,
  PART_BYTES - 1,
  PART_BYTES,
  PART_BYTES + 1,
  2 * PART_BYTES,
  3 * PART_BYTES + 7,
  9 * PART_BYTES,
  20 * PART_BYTES,
]
const kinds = () => db.prepare('select kind from large_contents order by number').pluck().all()

test.each(LENGTHS)('a content of %p bytes is read as written', async (length) => {
  const content = random(length)
  const { message } = await accept(
    store,
    { ...records.accepted(), content },
    { ...records.accepted(), content: random(9) },
  )
  expect(Buffer.compare((await store.messages.content(message.id))!, content)).toBe(0)
  const [claimed] = await claim(store)
  expect(claimed!.message.id).toBe(message.id)
  expect(Buffer.compare(claimed!.content!, content)).toBe(0)

  const mail = { ...records.acceptedInbound([records.inboundRoute()]), raw: random(length), parsed: random(length) }
  await store.inbound.accept(mail)
  const { id } = mail.taken[0]!.message
  expect(Buffer.compare((await store.inbound.raw(id))!, mail.raw)).toBe(0)
  expect(Buffer.compare((await store.inbound.parsed(id))!, mail.parsed)).toBe(0)
  expect(partsLeft()).toBe(3 * Math.max(0, Math.ceil(length / PART_BYTES) - 1))
})

test('a content with a lost part is damaged, and no other is affected', async () => {
  const content = packMime(random(4 * PART_BYTES))
  await accept(store, { ...records.accepted(), content }, { ...records.accepted(), content: packMime(random(9)) })
  expect(db.prepare('delete from content_parts where part = 2').run().changes).toBe(1)
  const [cut, other] = await claim(store)
  expect(() => unpackMime(cut!.content!)).toThrow('damaged')
  expect(unpackMime(other!.content!)).toHaveLength(9)
})

test('a content with a changed part is damaged', async () => {
  const content = packMime(random(2 * PART_BYTES))
  const { message } = await accept(store, { ...records.accepted(), content })
  db.prepare('update content_parts set bytes = ? where part = 1').run(random(PART_BYTES))
  const packed = await store.messages.content(message.id)
  expect(() => unpackMime(packed!)).toThrow('damaged')
})

test('a long mail is gone at once, and its parts are removed some at a time', async () => {
  const { message } = await accept(store, { ...records.accepted(OVER), content: random(6 * PART_BYTES) })
  const mail = records.acceptedInbound([records.inboundRoute({ action: { type: 'store', config: {} } })])
  await store.inbound.accept({ ...mail, raw: random(4 * PART_BYTES), parsed: random(2 * PART_BYTES) })
  const step = () => {
    const request = { organizationId: ORGANIZATION, before: START + DAY, unsubscribableSince: START }
    return store.retention.remove({ ...request, timeIsUp: () => false })
  }
  expect(partsLeft()).toBe(9)
  await step()
  expect(await store.messages.content(message.id)).toBeNull()
  expect(await store.messages.get(message.id)).toBeNull()
  const counts = [partsLeft() as number]
  while (await step()) counts.push(partsLeft() as number)
  expect(counts.every((count, at) => at === 0 || counts[at - 1]! - count <= 2)).toBe(true)
  expect([counts[0], partsLeft()]).toEqual([9, 0])
})

test('a long mail that is removed while it is read is whole or gone', async () => {
  const content = random(40 * PART_BYTES)
  const { message } = await accept(store, { ...records.accepted(OVER), content })
  const request = { organizationId: ORGANIZATION, before: START + DAY, unsubscribableSince: START }
  let isOver = false
  const removing = store.retention.remove({ ...request, timeIsUp: () => false }).finally(() => {
    isOver = true
  })
  while (!isOver) {
    const found = await store.messages.content(message.id)
    expect(found === null || Buffer.compare(found, content) === 0).toBe(true)
    await Bun.sleep(0)
  }
  await removing
  expect(await store.messages.content(message.id)).toBeNull()
})

test.each([2, 9, 20])(
  'a mail of %p parts that is removed between any two reads of it is whole or gone',
  async (parts) => {
    const content = random(parts * PART_BYTES)
    const { message } = await accept(store, { ...records.accepted(OVER), content })
    const perform = performingOn(db)
    const owner = db.prepare('select message_number as number from message_contents').get() as { number: number }
    for (let step = 1, isRemoved = true; isRemoved; step++) {
      db.exec('begin')
      isRemoved = false
      const found = perform(
        interrupted(contentOf(message.id), step, () => {
          db.exec('delete from message_contents')
          perform(letGo('content', [owner]))
          isRemoved = true
        }),
      )
      db.exec('rollback')
      const outcome = found === null ? 'gone' : Buffer.compare(found, content) === 0 ? 'whole' : 'cut'
      expect([step, outcome]).toEqual([step, isRemoved ? 'gone' : 'whole'])
    }
  },
)

/** The same work, with `other` called before step `at`, counted from 0. Fewer steps: `other` is not called. */
function* interrupted<T>(work: Work<T>, at: number, other: () => void): Work<T> {
  let next = work.next()
  for (let step = 0; next.done !== true; step++) {
    if (step === at) other()
    next = work.next(yield next.value)
  }
  return next.value
}

test('parts that a stopped process left are removed with the space, whatever the plans then say', async () => {
  await accept(store, { ...records.accepted(OVER), content: random(5 * PART_BYTES) })
  const request = { organizationId: ORGANIZATION, before: START + DAY, unsubscribableSince: START }
  await store.retention.remove({ ...request, timeIsUp: () => true })
  await store.close()
  store = await openStore({ dataDir, now: START })
  expect(partsLeft()).toBe(4)
  while (await store.maintain('removed', () => true));
  expect(partsLeft()).toBe(0)
})

test('a long mail is written some parts at a time, with others in between', async () => {
  const mail = records.acceptedInbound([records.inboundRoute()])
  const taken = store.inbound.accept({ ...mail, raw: random(40 * PART_BYTES) })
  const sizes: number[] = []
  for (let isOver = false; !isOver; ) {
    await store.checkWritable()
    sizes.push(partsLeft() as number)
    isOver = await Promise.race([taken.then(() => true), new Promise<boolean>((later) => setImmediate(later, false))])
  }
  expect(sizes.length).toBeGreaterThan(9)
  expect(sizes.every((size, at) => at === 0 || size - sizes[at - 1]! <= 8)).toBe(true)
  expect([partsLeft(), kinds()]).toEqual([39, ['raw']])
})

test('parts of a mail that is then not accepted are removed, and belong to no mail until it is accepted', async () => {
  const month = { organizationId: ORGANIZATION, month: '2026-01', count: 1 }
  const large = () => ({ ...records.accepted(), content: random(8 * PART_BYTES) })
  const over = { kind: 'volume_exceeded' as const, used: 0 }
  expect(await store.messages.accept([large()], { ...month, limit: 0 })).toEqual(over)
  expect([kinds(), partsLeft()]).toEqual([[], 0]) // that was known before

  const last = store.messages.accept([large()], { ...month, limit: 1 })
  const late = store.messages.accept([large()], { ...month, limit: 1 })
  expect(await Promise.all([last, late])).toEqual([{ kind: 'accepted' }, { ...over, used: 1 }])
  expect([kinds(), partsLeft()]).toEqual([['content', 'gone'], 14])
  while (await store.maintain('removed', () => true));
  expect([kinds(), partsLeft()]).toEqual([['content'], 7])

  const twice = records.acceptedInbound([records.inboundRoute()])
  await store.inbound.accept({ ...twice, raw: random(8 * PART_BYTES) })
  const again = store.inbound.accept({ ...twice, raw: random(8 * PART_BYTES) }) // an id in use, for example by a bug
  expect(await again.catch((error) => error.code)).toStartWith('SQLITE_CONSTRAINT')
  expect(kinds()).toEqual(['content', 'raw', 'gone'])
})

test('parts of a mail that was being written at a crash are removed after the next start', async () => {
  const stopped = new Promise<void>((resolve) => {
    const mail = records.acceptedInbound([records.inboundRoute()])
    void store.inbound.accept({ ...mail, raw: random(40 * PART_BYTES) }).catch(() => {})
    const look = () => ((partsLeft() as number) > 8 ? resolve() : setImmediate(look))
    look()
  })
  await stopped
  const folder = mkdtempSync(join(tmpdir(), 'postrider-parts-'))
  for (const file of readdirSync(dataDir)) copyFileSync(join(dataDir, file), join(folder, file)) // as a kill leaves them
  const next = await openStore({ dataDir: folder, now: START, onTorn: () => {} })
  const seen = connect(join(folder, 'postrider.db'), { busyTimeoutMs: 1000 })
  const left = () => seen.prepare('select kind from large_contents').pluck().all()
  expect(left()).toEqual(['gone'])
  while (await next.maintain('removed', () => true));
  expect(left()).toEqual([])
  seen.close()
  await next.close()
  rmSync(folder, { recursive: true })
})

test('a new mail never gets the number of one whose parts are left', async () => {
  const stored = records.inboundRoute({ action: { type: 'store', config: {} } })
  await store.inbound.accept({ ...records.acceptedInbound([stored]), raw: random(3 * PART_BYTES) })
  const request = { organizationId: ORGANIZATION, before: START + DAY, unsubscribableSince: START }
  while (partsLeft() !== 2 || (db.prepare('select count(*) from inbound_raws').pluck().get() as number) > 0) {
    await store.retention.remove({ ...request, timeIsUp: () => true })
  }
  const mail = { ...records.acceptedInbound([stored], { receivedAt: START + DAY }), raw: random(2 * PART_BYTES) }
  await store.inbound.accept(mail)
  await removeAll(store, START + DAY)
  expect(Buffer.compare((await store.inbound.raw(mail.taken[0]!.message.id))!, mail.raw)).toBe(0)
})
