import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'bun:test'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createMintId } from '../../../src/os/ids.ts'
import { listMessages } from '../../../src/storage/lists/messages.ts'
import { BY_STATEMENT } from '../../../src/storage/lists/slices.ts'
import { listWebhookDeliveries } from '../../../src/storage/lists/webhook-deliveries.ts'
import { parseDatabaseUrl } from '../../../src/storage/postgres/address.ts'
import { connect } from '../../../src/storage/postgres/connection.ts'
import { readWith } from '../../../src/storage/postgres/database.ts'
import { postgresMessageSearch } from '../../../src/storage/postgres/message-search.ts'
import { openPostgresStore } from '../../../src/storage/postgres/open.ts'
import { createReads, type Reads } from '../../../src/storage/postgres/reads.ts'
import type { EventFilter, MessageFilter, Store, WebhookDeliveryFilter } from '../../../src/storage/store.ts'
import { describeWithPostgres, startPostgres, type TestPostgres } from '../../support/postgres.ts'
import {
  ALL_EVENTS,
  ALL_MESSAGES,
  accept,
  createRecords,
  found,
  idsByPage,
  ORGANIZATION,
  type Records,
  START,
} from '../records.ts'

const SECOND = 1_000
const MINUTE = 60 * SECOND
const HOUR = 60 * MINUTE
const DAY = 24 * HOUR
/** Numbers of the longest range. */
const WEEK = 2 ** 35
/** Two full ranges of the search index and part of a third. */
const MANY = 4_600
/** A rare message. */
const SELDOM = {
  from: 'Bob <Bob@a.example>',
  subject: 'A Käleidoscope for you',
  templateId: 'tpl_1',
  domainId: 'dom_x',
  mode: 'test' as const,
  metadata: { order: 7, vip: true, name: 'Ä "b"' },
  tags: ['often'],
  deliveries: [{ email: 'bob.rare@dest.example' }],
}

describeWithPostgres('long lists in PostgreSQL', () => {
  let postgres: TestPostgres
  let dataDir: string
  let database: string
  let url: string
  let reads: Reads
  let store: Store
  let records: Records
  let databases = 0
  beforeAll(async () => {
    postgres = await startPostgres()
  })
  beforeEach(async () => {
    dataDir = mkdtempSync(join(tmpdir(), 'postrider-store-'))
    database = `lists${++databases}`
    url = await postgres.createDatabase(database)
    store = await openPostgresStore({ url, dataDir, now: START })
    reads = createReads(() => connect({ address: parseDatabaseUrl(url), name: 'lists' }))
    records = createRecords()
    await found(store, records)
  })
  afterEach(async () => {
    reads.close()
    await store.close()
    rmSync(dataDir, { recursive: true })
  })
  afterAll(() => postgres.stop())

  const messages = (filter: Partial<MessageFilter>, list: Store['messages']['list'] = store.messages.list) =>
    idsByPage((page) => list({ ...ALL_MESSAGES, ...filter }, page))
  const events = (filter: Partial<EventFilter>) =>
    idsByPage((page) => store.events.list({ ...ALL_EVENTS, ...filter }, page))
  const fed = (filter: Partial<EventFilter>) =>
    idsByPage(async ({ after, limit }) => (await store.events.feed({ ...ALL_EVENTS, ...filter }, after, limit))!)

  /** Messages with IDs of that time and the milliseconds after it → their IDs, newest first. */
  const write = async (at: number, count: number, change: Parameters<Records['accepted']>[0]) => {
    let ms = at
    const clock = { now: () => ms++, sleep: () => Promise.resolve() }
    const mint = createMintId(clock, {
      bytes: (size) => crypto.getRandomValues(new Uint8Array(size)),
      fraction: () => 0,
    })
    const all = Array.from({ length: count }, () => {
      const id = mint('msg')
      const createdAt = ms - 1
      const accepted = records.accepted({ id, createdAt, messageIdHeader: `<${id}@a.example>`, ...change })
      return accepted
    })
    for (let from = 0; from < count; from += 200) await accept(store, ...all.slice(from, from + 200))
    return all.map(({ message }) => message.id).reverse()
  }
  /** Continues with higher numbers. */
  const skip = async (numbers: number) => {
    await store.close()
    postgres.psql(`select setval('numbers', nextval('numbers') + ${numbers})`, database)
    store = await openPostgresStore({ url, dataDir, now: START })
  }
  const common = { metadata: { order: 1 }, tags: ['often'], subject: 'Common thing' }

  /** Rare messages among many, in ranges of every length, and in those of later times → their IDs, newest first. */
  const writeScattered = async () => {
    const ids: string[] = []
    const rare = async (at: number) => ids.unshift(...(await write(at, 1, SELDOM)))
    await rare(START)
    await write(START + SECOND, MANY, common)
    await rare(START + 6 * SECOND)
    await write(START + 6 * SECOND + 1, 1, { ...SELDOM, organizationId: 'org_b' })
    for (const later of [MINUTE, 20 * MINUTE, 10 * HOUR, 13 * DAY, 26 * DAY]) {
      await skip(WEEK)
      await rare(START + later)
      await write(START + later + 1, 30, common)
    }
    return ids
  }

  test('every filter finds rare messages far behind the newest, in every range of the search index', async () => {
    const all = await writeScattered()
    const lengths = `select distinct length(prefix) from search_ranges where organization_id = '${ORGANIZATION}' order by 1`
    expect(postgres.psql(lengths, database).split('\n')).toEqual(['4', '5', '6'])
    const finding: Partial<MessageFilter>[] = [
      { from: 'bob@A.example' },
      { subject: 'KÄLEIDO' },
      { templateId: 'tpl_1' },
      { domainId: 'dom_x' },
      { mode: 'test' },
      { metadata: [{ key: 'order', value: '7' }] },
      { metadata: [{ key: 'vip', value: 'true' }] },
      { metadata: [{ key: 'name', value: 'Ä "b"' }] },
      { to: 'Bob.Rare@dest.example' },
      { text: 'kaleidos' },
      { text: 'bob.rare@dest.exam' },
      { text: 'you kaleidoscope' },
    ]
    for (const filter of [...finding, Object.assign({}, ...finding)]) {
      expect([filter, await messages(filter)]).toEqual([filter, all])
      for (const more of [{ tag: 'often' }, { status: 'queued' as const }, { to: 'bob.rare@dest.example' }]) {
        expect([filter, more, await messages({ ...filter, ...more })]).toEqual([filter, more, all])
      }
    }
    expect(await messages({ text: 'common', from: 'bob@a.example' })).toEqual([])
    expect(await messages({ text: 'kaleidoscope thing' })).toEqual([])
    expect(await messages({ text: 'kaleid', mode: 'live' })).toEqual([])
    expect(await messages({ mode: 'test', templateId: 'dom_x' })).toEqual([])
    expect(await messages({ text: 'kaleid', organizationId: 'org_b' })).toHaveLength(1)
    const middle = { createdAfter: START + MINUTE, createdBefore: START + 13 * DAY }
    expect(await messages({ text: 'kaleid', ...middle })).toEqual(all.slice(2, 5))
    expect(await messages({ templateId: 'tpl_1', ...middle })).toEqual(all.slice(2, 5))
  })

  test('a common word and a common field are found in every range, each message once', async () => {
    await writeScattered()
    const all = { ...ALL_MESSAGES, tag: 'often', metadata: [{ key: 'order', value: '1' }] }
    for (const filter of [{ text: 'common' }, { text: 'thi' }, { subject: 'common' }, {}]) {
      const ids: string[] = []
      for (let after: string | null = null; ; ) {
        const page = await store.messages.list({ ...all, ...filter }, { limit: 500, after })
        ids.push(...page.records.map(({ id }) => id))
        if (!page.hasMore) break
        after = page.next ?? ids.at(-1)!
      }
      expect([filter, ids.length, new Set(ids).size]).toEqual([filter, MANY + 150, MANY + 150])
      expect(ids).toEqual(ids.toSorted().toReversed())
    }
  })

  test('a list that has searched long enough ends its page, and the next page continues there', async () => {
    const all = await writeScattered()
    let looks = 0
    /** Each look at the clock takes 150 ms. */
    const pace = { ...BY_STATEMENT, nowMs: () => 150 * looks++ }
    const search = postgresMessageSearch(pace)
    const list: Store['messages']['list'] = (filter, page) =>
      readWith(reads, listMessages(filter, page, { search, pace }))
    const filters: Partial<MessageFilter>[] = [
      { subject: 'käleido' },
      { subject: 'käleido', tag: 'often' },
      { subject: 'käleido', status: 'queued' },
      { text: 'kaleidoscope' },
      { templateId: 'tpl_1' },
    ]
    for (const filter of filters) {
      let cut = 0
      const ids = await messages(filter, async (...args) => {
        const page = await list(...args)
        if (page.next !== undefined) {
          cut++
          expect(page.next).toMatch(/^msg_[0-9a-z]{26}$/)
        }
        return page
      })
      expect([filter, ids]).toEqual([filter, all])
      expect(cut).toBeGreaterThan(2)
    }
  })

  test('many messages to one address are listed once each, also at the end of a slice', async () => {
    const twice = {
      deliveries: [{ email: 'bob@dest.example' }, { email: 'Bob@dest.example' }, { email: 'a@b.example' }],
    }
    const ids = await write(START, 400, twice)
    expect(await messages({ to: 'bob@dest.example' })).toEqual(ids)
    expect(await messages({ to: 'bob@dest.example', status: 'queued' })).toEqual(ids)
  })

  test('an internal token of the search index cannot be searched as a word', async () => {
    await accept(store, records.accepted({ templateId: 'tpl_1', subject: 'x=1' }))
    const lexemes = postgres.psql('select unnest(tsvector_to_array(words)) from message_words', database).split('\n')
    const tokens = lexemes.filter((lexeme) => lexeme.includes('='))
    expect(tokens).toHaveLength(5) // sender, template, domain, mode, Message-ID
    for (const token of tokens) {
      expect(await messages({ text: token })).toEqual([])
      expect(await messages({ text: token.slice(5) })).toEqual([])
      expect(await messages({ text: token.slice(6) })).toEqual([])
    }
    expect(await messages({ text: 'x=1' })).toHaveLength(1)
  })

  test('maintenance moves waiting words into the index', async () => {
    await accept(store, ...Array.from({ length: 200 }, () => records.accepted({ subject: 'needle' })))
    expect(await store.maintain('recent', () => true)).toBe(false)
    expect(postgres.psql(`select gin_clean_pending_list('messages_by_word')`, database)).toBe('0')
    expect(await messages({ text: 'needle' })).toHaveLength(200)
  })

  test('retention removes the ranges that it has emptied, and later messages are found', async () => {
    await write(START, 3, { status: 'delivered', deliveries: [{ status: 'delivered', nextAttemptAt: null }] })
    await skip(WEEK)
    const [kept] = await write(START + SECOND, 1, {})
    await skip(WEEK)
    const [later] = await write(START + 20 * DAY, 1, {})
    const remove = async (before: number) => {
      const request = { organizationId: ORGANIZATION, before, unsubscribableSince: 0, timeIsUp: () => false }
      while (await store.retention.remove(request));
    }
    const ranges = () => postgres.psql('select count(*) from search_ranges', database)
    expect(ranges()).toBe('3')
    await remove(START + DAY)
    expect(ranges()).toBe('2')
    expect(await messages({ text: 'hello' })).toEqual([later!, kept!])
    expect(await store.messages.cancel(kept!, START)).toBe('cancelled')
    expect(await store.messages.cancel(later!, START)).toBe('cancelled')
    await remove(START + 20 * DAY)
    expect(ranges()).toBe('1')
    expect(await messages({ text: 'hello' })).toEqual([later!])
    // Nodes may write into the last one.
    await remove(START + 60 * DAY)
    expect(ranges()).toBe('1')
    const [again] = await write(START + 60 * DAY, 1, {})
    expect(await messages({ text: 'hello' })).toEqual([again!])
  })

  test('a rare kind of event is found in list and stream, whatever lies between', async () => {
    const seldom = { type: 'message.complained', domainId: 'dom_x', mode: 'test' } as const
    const bulk = (count: number) =>
      store.events.append(Array.from({ length: count }, (_, at) => records.event({ domainId: `dom_${at % 40}` })))
    const [first, second, third] = [records.event(seldom), records.event(seldom), records.event(seldom)]
    await store.events.append([first, records.event({ ...seldom, organizationId: 'org_b' })])
    await bulk(1_500)
    await store.events.append([second])
    await bulk(300)
    await store.events.append([third])
    await bulk(300)
    const ids = [first, second, third].map(({ id }) => id)
    const { type, domainId, mode } = seldom
    for (const filter of [{ type }, { domainId }, { mode }, { reach: domainId }, seldom]) {
      expect([filter, await fed(filter)]).toEqual([filter, ids])
      expect([filter, await events(filter)]).toEqual([filter, ids.toReversed()])
    }
    expect(await events({ type, domainId: 'dom_none' })).toEqual([])
    expect(await events({ type: 'message.bounced' })).toEqual([])
    expect(await events({ type, createdBefore: START })).toEqual([])
    const delivered = await store.events.list(
      { ...ALL_EVENTS, type: 'message.delivered' },
      { limit: 5_000, after: null },
    )
    expect(delivered.records).toHaveLength(2_100)
  })

  test('a message and its event are found, although the change that wrote the first of their kind failed', async () => {
    const kind = { type: 'message.clicked', domainId: 'dom_new' } as const
    const failing = { ...records.accepted(), events: [records.event(kind)] }
    await expect(accept(store, failing, failing)).rejects.toThrow()
    expect(await messages({})).toEqual([])
    const event = records.event(kind)
    const { message } = await accept(store, { ...records.accepted(), events: [event] })
    expect(await messages({ text: 'hello' })).toEqual([message.id])
    expect(await events({ domainId: 'dom_new' })).toEqual([event.id])
  })

  test('deliveries of a webhook are found by their status and type, however many lie before them', async () => {
    const hook = records.webhook({ events: ['message.opened', 'message.complained'] })
    await store.webhooks.create(hook, 'whsec_1')
    const at = (minute: number) => START + minute * MINUTE
    const posts = Array.from({ length: 1_500 }, (_, minute) =>
      records.event({ type: minute % 700 === 3 ? 'message.complained' : 'message.opened', createdAt: at(minute) }),
    )
    await store.events.append(posts)
    while (await store.webhookDeliveries.fanOutSome());
    const minuteOf = new Map(posts.map(({ id }, minute) => [id, minute]))
    let looks = 0
    const pace = { ...BY_STATEMENT, nowMs: () => 150 * looks++ }
    const slow: Store['webhookDeliveries']['list'] = (filter, page) =>
      readWith(reads, listWebhookDeliveries(filter, page, pace))
    const listed = async (filter: Partial<WebhookDeliveryFilter>, list = store.webhookDeliveries.list) => {
      const all = { webhookId: hook.id, status: null, type: null, createdAfter: null, createdBefore: null }
      const minutes: number[] = []
      await idsByPage(async (page) => {
        const answer = await list({ ...all, ...filter }, page)
        minutes.push(...answer.records.map(({ eventId }) => minuteOf.get(eventId)!))
        return answer
      })
      return minutes
    }
    expect(await listed({ status: 'pending', createdBefore: at(2) })).toEqual([1, 0])
    postgres.psql(
      `update webhook_deliveries set next_attempt_at = null,
          status = case when created_at in (${at(100)}, ${at(1200)}) then 'failed' else 'delivered' end
        where created_at > ${at(2)}`,
      database,
    )
    for (const list of [store.webhookDeliveries.list, slow]) {
      expect(await listed({ status: 'pending' }, list)).toEqual([2, 1, 0])
      expect(await listed({ status: 'pending', type: 'message.complained' }, list)).toEqual([])
      expect(await listed({ status: 'failed' }, list)).toEqual([1200, 100])
      expect(await listed({ type: 'message.complained' }, list)).toEqual([1403, 703, 3])
      const between = { createdAfter: at(4), createdBefore: at(1403) }
      expect(await listed({ type: 'message.complained', ...between }, list)).toEqual([703])
      expect(await listed({ type: 'message.bounced' }, list)).toEqual([])
      expect(await listed({ createdAfter: at(700), createdBefore: at(703) }, list)).toEqual([702, 701, 700])
      expect(await listed({ createdBefore: at(0) }, list)).toEqual([])
      expect(await listed({ createdAfter: at(1500) }, list)).toEqual([])
      const delivered = { status: 'delivered', createdAfter: at(1198), createdBefore: at(1203) } as const
      expect(await listed(delivered, list)).toEqual([1202, 1201, 1199, 1198])
    }
    postgres.psql(
      `insert into held_webhook_deliveries select number, next_attempt_at from webhook_deliveries
          where next_attempt_at is not null;
        update webhook_deliveries set next_attempt_at = null`,
      database,
    )
    expect(await listed({ status: 'pending' })).toEqual([2, 1, 0])
  })
})
