import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'bun:test'
import { UNLIMITED_PLAN } from '../../src/model/organization.ts'
import { withObjects } from '../../src/storage/objects/contents.ts'
import type { Objects } from '../../src/storage/objects/objects.ts'
import { s3Objects } from '../../src/storage/objects/s3.ts'
import { type AcceptedMessage, type Store, StoreUnavailable } from '../../src/storage/store.ts'
import { openMemoryStore } from '../support/migrated-store.ts'
import { until } from '../support/patience.ts'
import { startS3, type TestS3 } from '../support/s3.ts'
import { objectsBackend } from './backends.ts'
import { testStoreContract } from './contract.ts'
import {
  accept,
  claim,
  contentOf,
  createRecords,
  found,
  ORGANIZATION,
  type Records,
  START,
  YEARS_LATER,
} from './records.ts'

testStoreContract(objectsBackend(), [
  'messages',
  'claims',
  'deliveries',
  'held after a restore',
  'retention',
  'content removal',
  'erasures',
  'inbound',
  'inbound deliveries',
])

const DAY_MS = 86_400_000
/** Objects are written at the time of the machine. */
const TOMORROW = Date.now() + DAY_MS

let s3: TestS3
let prefixes = 0
let objects: Objects
let inside: Store
let store: Store
let records: Records

beforeAll(async () => {
  s3 = await startS3()
})
afterAll(() => s3.remove())
beforeEach(async () => {
  objects = s3Objects({ ...s3.place, prefix: `own${++prefixes}/` })
  inside = await openMemoryStore({ plans: () => UNLIMITED_PLAN })
  store = withObjects(inside, objects)
  records = createRecords()
  await found(store, records)
})
afterEach(() => store.close())

const volume = { organizationId: ORGANIZATION, month: '2026-11', count: 1, limit: -1 }
const keys = async () => (await objects.list('', '')).map(({ key }) => key)
const long = (change: Parameters<Records['accepted']>[0] = {}): AcceptedMessage => ({
  ...records.accepted(change),
  content: crypto.getRandomValues(new Uint8Array(20_000)),
})

describe('contents of 16 kB and more', () => {
  test('are objects, and the database keeps key, length and hash of 100 bytes', async () => {
    const { message, content } = await accept(store, long())
    expect(await keys()).toEqual([`content/${message.id}`])
    expect((await inside.messages.content(message.id))!.byteLength).toBeLessThan(100)
    expect(await store.messages.content(message.id)).toEqual(content)
  })

  test('shorter ones stay in the database', async () => {
    const { message, content } = await accept(store, { ...records.accepted(), content: new Uint8Array(16 * 1024 - 1) })
    expect(await keys()).toEqual([])
    expect(await inside.messages.content(message.id)).toEqual(content)
  })

  test('of 25 MB are written and read', async () => {
    const { message, content } = await accept(store, { ...records.accepted(), content: new Uint8Array(25e6).fill(7) })
    expect(Buffer.compare((await store.messages.content(message.id))!, content)).toBe(0)
  })

  test('come without their claim, so that they wait for memory', async () => {
    const { content } = await accept(store, long())
    const [claimed] = await claim(store)
    expect(claimed!.content).toBeNull()
    expect(await contentOf(store, claimed!)).toEqual(content)
  })

  test('of inbound mail are one object for all its messages', async () => {
    const route = records.inboundRoute()
    await store.inboundRoutes.create(route, 'secret')
    const mail = records.acceptedInbound([route, route])
    const raw = crypto.getRandomValues(new Uint8Array(30_000))
    await store.inbound.accept({ ...mail, raw })
    const ids = mail.taken.map(({ message }) => message.id)
    expect(await keys()).toEqual([`raw/${ids.join('.')}`])
    for (const id of ids) expect(await store.inbound.raw(id)).toEqual(raw)
  })

  test('of inbound mail with more messages than a key can name stay in the database', async () => {
    const route = records.inboundRoute()
    await store.inboundRoutes.create(route, 'secret')
    await store.inbound.accept({
      ...records.acceptedInbound(Array.from({ length: 26 }, () => route)),
      raw: new Uint8Array(30_000),
    })
    expect(await keys()).toEqual([])
  })
})

describe('an object that', () => {
  test('was changed is not read', async () => {
    const { message } = await accept(store, long())
    await objects.put(`content/${message.id}`, new Uint8Array(20_000))
    await expect(store.messages.content(message.id)).rejects.toThrow(`the object content/${message.id} is damaged`)
  })

  test('is missing is not read as a content that retention removed', async () => {
    const { message } = await accept(store, long())
    await objects.remove(`content/${message.id}`)
    await expect(store.messages.content(message.id)).rejects.toThrow(`the object content/${message.id} is missing`)
  })

  test('belongs to a refused message is removed', async () => {
    const refused = await store.messages.accept([long(), long()], { ...volume, limit: 0 })
    expect(refused.kind).toBe('volume_exceeded')
    expect(await keys()).toEqual([])
  })

  test('belongs to a message that was not written is removed, and stays if it may have been written', async () => {
    const failing = (isUncertain: boolean) => {
      const broken = async () => {
        throw new StoreUnavailable('the disk is full', { isUncertain })
      }
      return withObjects({ ...inside, messages: { ...inside.messages, accept: broken } }, objects)
    }
    await expect(failing(false).messages.accept([long()], volume)).rejects.toThrow('the disk is full')
    expect(await keys()).toEqual([])
    const unsure = long()
    await expect(failing(true).messages.accept([unsure], volume)).rejects.toThrow('the disk is full')
    expect(await keys()).toEqual([`content/${unsure.message.id}`])
  })
})

describe('orphans', () => {
  const removeAll = async (before: number) => {
    let after: string | null = ''
    while (after !== null) after = await store.contents.removeOrphans({ after, before })
  }

  test('are removed a day after they were written, and nothing else', async () => {
    const { message } = await accept(store, long())
    await objects.put('content/msg_never', new Uint8Array(3))
    await objects.put('raw/inb_never.inb_neither', new Uint8Array(3))
    await removeAll(Date.now() - DAY_MS)
    expect(await keys()).toHaveLength(3)
    await removeAll(TOMORROW)
    expect(await keys()).toEqual([`content/${message.id}`])
  })

  test('include the contents of what retention removed', async () => {
    const [open, ended] = [await accept(store, long()), await accept(store, long())]
    await store.messages.cancel(ended.message.id, START)
    await store.retention.remove({
      organizationId: ORGANIZATION,
      before: YEARS_LATER,
      unsubscribableSince: YEARS_LATER,
      timeIsUp: () => false,
    })
    await removeAll(TOMORROW)
    expect(await keys()).toEqual([`content/${open.message.id}`])
  })

  test('an inbound object stays while one of its messages exists', async () => {
    const route = records.inboundRoute()
    await store.inboundRoutes.create(route, 'secret')
    const mail = records.acceptedInbound([route])
    await store.inbound.accept(mail)
    const key = `raw/inb_removed.${mail.taken[0]!.message.id}`
    await objects.put(key, new Uint8Array(3))
    await removeAll(TOMORROW)
    expect(await keys()).toEqual([key])
  })

  test('of another folder are of another store, or of the one that this is a copy of', async () => {
    const copy = withObjects(inside, objects, { folder: 'copy/' })
    const { message } = await accept(copy, long())
    await objects.put('original/content/msg_unknown', new Uint8Array(3))
    await objects.put('copy/content/msg_unknown', new Uint8Array(3))
    for (let after: string | null = ''; after !== null; )
      after = await copy.contents.removeOrphans({ after, before: TOMORROW })
    expect((await keys()).sort()).toEqual([`copy/content/${message.id}`, 'original/content/msg_unknown'])
    expect((await copy.messages.content(message.id))!.byteLength).toBe(20_000)
  })

  test('beyond one page are found', async () => {
    // The server of the tests fails when there is a further page, so sorted pages of two are made here.
    const pageOf = (all: { key: string; writtenAt: number }[], after: string) =>
      all
        .filter(({ key }) => key > after)
        .sort((one, other) => (one.key < other.key ? -1 : 1))
        .slice(0, 2)
    const paged: Objects = { ...objects, list: async (folder, after) => pageOf(await objects.list(folder, ''), after) }
    store = withObjects(inside, paged)
    const { message } = await accept(store, long())
    for (const id of ['xa', 'xb', 'xc', 'xd', 'xe']) await objects.put(`content/msg_${id}`, new Uint8Array(1))
    await removeAll(TOMORROW)
    expect(await keys()).toEqual([`content/${message.id}`])
  })
})

describe('object storage that', () => {
  test('does not answer refuses mail, and nothing is written', async () => {
    await s3.stop()
    const refused = long()
    const accepting = store.messages.accept([refused], volume).catch((error) => error)
    const error = await accepting.finally(() => s3.start())
    expect(error).toBeInstanceOf(StoreUnavailable)
    expect(error.message).toStartWith('object storage mail: ')
    expect(await store.messages.get(refused.message.id)).toBeNull()
    await accept(store, refused)
    expect(await store.messages.content(refused.message.id)).toEqual(refused.content)
  })

  test('refuses the secret refuses mail', async () => {
    const strict = await startS3({ checksSignatures: true })
    try {
      const wrong = s3Objects({ ...strict.place, secretAccessKey: 'wrong' })
      await expect(wrong.put('x', new Uint8Array(1))).rejects.toThrow(StoreUnavailable)
      await s3Objects(strict.place).put('x', new Uint8Array(1))
      expect(await s3Objects(strict.place).get('x', 10)).toEqual(new Uint8Array(1))
      expect(await s3Objects(strict.place).list('', 'a')).toMatchObject([{ key: 'x' }])
      expect(await s3Objects(strict.place).list('x y+z/', '')).toEqual([])
    } finally {
      await strict.remove()
    }
  })

  test('does not answer for a while is given up, without a queue behind it, and used again when it answers', async () => {
    let isSilent = true
    const asked: string[] = []
    let startedAt = 0
    const service = Bun.serve({
      hostname: '127.0.0.1',
      port: 0,
      fetch: ({ method, url }) => {
        asked.push(`${method} ${new URL(url).pathname} ${(performance.now() - startedAt) | 0}`)
        return isSilent ? new Promise<Response>(() => {}) : new Response('')
      },
    })
    try {
      const slow = s3Objects({ ...s3.place, endpoint: `http://127.0.0.1:${service.port}` }, 1_000)
      startedAt = performance.now()
      const puts = Array.from({ length: 100 }, (_, at) => slow.put(`${at}`, new Uint8Array(1)))
      for (const { status, reason } of (await Promise.allSettled(puts)) as PromiseRejectedResult[])
        expect([status, reason.message]).toEqual(['rejected', 'object storage mail: no answer in 1 s'])
      // 32 at the same time. The others had waited for a turn as long, and were not sent after that.
      expect(asked.length, asked.join()).toBeLessThanOrEqual(32)
      isSilent = false
      await until('it to be used again', () =>
        slow.put('x', new Uint8Array(1)).then(
          () => true,
          () => false,
        ),
      )
    } finally {
      await service.stop(true)
    }
  })

  test('is checked by an object that is written, read and removed', async () => {
    expect(await store.contents.checkObjects()).toBe(true)
    expect(await keys()).toEqual([])
    expect(await inside.contents.checkObjects()).toBe(false)
  })
})

test('the store closes after the message that it is writing', async () => {
  const own = withObjects(await openMemoryStore(), objects)
  await found(own, records)
  const accepting = own.messages.accept([long()], volume)
  await own.close()
  expect(await accepting).toEqual({ kind: 'accepted' })
})
