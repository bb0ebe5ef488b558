import { afterAll, afterEach, beforeAll, expect, test } from 'bun:test'
import { copyFileSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { FIRST_USER } from '../../../src/model/user.ts'
import { StoreMoved } from '../../../src/storage/errors.ts'
import { parseDatabaseUrl } from '../../../src/storage/postgres/address.ts'
import { adoptDatabase } from '../../../src/storage/postgres/adopt.ts'
import { openPostgresStore } from '../../../src/storage/postgres/open.ts'
import type { Store } from '../../../src/storage/store.ts'
import { ANY } from '../../support/claim.ts'
import { until } from '../../support/patience.ts'
import { describeWithPostgres, startPostgres, type TestPostgres } from '../../support/postgres.ts'
import { accept, claim, createRecords, found, ORGANIZATION, START } from '../records.ts'

const ALL = { type: null, messageId: null, domainId: null, mode: null, createdAfter: null, createdBefore: null }
/** Longer than any test: no node ends another. */
const TAKEOVER_MS = 3_600_000

describeWithPostgres('a database that is a copy, or went back', () => {
  let postgres: TestPostgres
  const folders: string[] = []
  const stores = new Set<Store>()
  let reasons: string[] = []
  beforeAll(async () => {
    postgres = await startPostgres()
  })
  afterAll(() => postgres.stop())
  afterEach(async () => {
    for (const store of stores) await store.close()
    stores.clear()
    for (const folder of folders.splice(0)) rmSync(folder, { recursive: true })
    reasons = []
  })

  const folder = () => {
    const made = mkdtempSync(join(tmpdir(), 'postrider-history-'))
    if (folders[0] !== undefined) copyFileSync(join(folders[0], 'seal.key'), join(made, 'seal.key'))
    folders.push(made)
    return made
  }
  const open = async (url: string, dataDir: string): Promise<Store> => {
    const node = { name: dataDir, takeoverMs: TAKEOVER_MS, onEnded: (reason: string) => reasons.push(reason) }
    const store = await openPostgresStore({ url, dataDir, now: START, clock: () => START, node })
    stores.add(store)
    return store
  }
  const close = async (store: Store) => {
    stores.delete(store)
    await store.close()
  }
  /** Until the data directory has every commit of the database. */
  const noted = (dataDir: string, database: string) =>
    until('the node to note the last commit', () => {
      const groups = postgres.psql(
        `select string_agg(id || ':' || group_no, ' ') from lanes where ended_at is null`,
        database,
      )
      try {
        return JSON.parse(readFileSync(join(dataDir, 'history.json'), 'utf8')).groups === groups
      } catch {
        return false
      }
    })
  const silent = (database: string) => postgres.psql(`update nodes set seen_at = now() - interval '1 hour'`, database)

  test('a copy of the whole cluster that lacks commits is served by no node, and held once it is adopted', async () => {
    const records = createRecords()
    const url = await postgres.createDatabase('cluster')
    const dataDir = folder()
    const store = await open(url, dataDir)
    await found(store, records)
    const sent = await accept(store, records.accepted())
    await close(store)
    await postgres.halt('fast')
    postgres.keepCopy()
    await postgres.resume()
    const later = await open(url, dataDir)
    await accept(later, records.accepted())
    expect(await claim(later)).toHaveLength(2)
    await noted(dataDir, 'cluster')
    await close(later)
    await postgres.halt('fast')
    postgres.putBackCopy()
    await postgres.resume()

    const refused = open(url, dataDir)
    await expect(refused).rejects.toBeInstanceOf(StoreMoved)
    await expect(refused).rejects.toThrow('went back to an earlier state')
    // A node that knows nothing of it does not serve either.
    await expect(open(url, folder())).rejects.toThrow('went back to an earlier state')

    await adoptDatabase(parseDatabaseUrl(url), START)
    const adopted = await open(url, dataDir)
    expect(await adopted.held.count()).toMatchObject({ deliveries: 1 })
    expect(await adopted.held.isHeld(sent.message.id)).toBe(true)
    expect(await claim(adopted)).toEqual([])
    await adopted.held.release('deliveries', { dueAfter: null, now: START })
    expect(await claim(adopted)).toHaveLength(1)
    // What the node knew before does not count any more.
    await noted(dataDir, 'cluster')
    await close(adopted)
    await close(await open(url, dataDir))
  })

  test('a database restored to an earlier state while nodes run ends all of them, also those that wrote nothing', async () => {
    const records = createRecords()
    const url = await postgres.createDatabase('earlier')
    const first = folder()
    const one = await open(url, first)
    const second = folder()
    await open(url, second)
    await found(one, records)
    await noted(second, 'earlier')
    await accept(one, records.accepted())
    await noted(first, 'earlier')
    await noted(second, 'earlier')
    postgres.psql(
      'update lanes set group_no = group_no - 1 where group_no = (select max(group_no) from lanes)',
      'earlier',
    )
    await until('both nodes to end', () => reasons.length === 2)
    expect(reasons[0]).toContain('went back to an earlier state')
    expect(reasons[1]).toContain('went back to an earlier state')
    await expect(adoptDatabase(parseDatabaseUrl(url), START)).rejects.toThrow('End all nodes first')
    for (const store of [...stores]) await close(store)
    await adoptDatabase(parseDatabaseUrl(url), START)
    await close(await open(url, first))
    await close(await open(url, second))
  })

  test('events follow those from before an adoption, although transactions of the other server begin lower', async () => {
    const records = createRecords()
    const url = await postgres.createDatabase('ahead')
    const dataDir = folder()
    const store = await open(url, dataDir)
    await found(store, records)
    const events = Array.from({ length: 4 }, () => records.event())
    await store.events.append(events.slice(0, 1))
    await store.events.append(events.slice(1, 2))
    await close(store)
    // As if a server with a billion transactions more had written them.
    postgres.psql('update events set position = position + 1000000000', 'ahead')
    postgres.psql('create database behind template ahead')
    silent('behind')
    await adoptDatabase(parseDatabaseUrl(postgres.url('behind')), START)
    const adopted = await open(postgres.url('behind'), dataDir)
    await adopted.events.append(events.slice(2, 3))
    await adopted.events.append(events.slice(3, 4))
    const filter = { organizationId: ORGANIZATION, ...ALL }
    const read = async (after: string | null) =>
      (await adopted.events.feed(filter, after, 10))?.records.map(({ id }) => id)
    const ids = events.map(({ id }) => id)
    await until('the last event to be visible', async () => (await read(null))?.length === 4)
    expect(await read(null)).toEqual(ids)
    expect(await read(ids[1]!)).toEqual(ids.slice(2))
    // Again, where nothing is behind: the offset stays.
    const offset = () => postgres.psql('select position_offset from instance', 'behind')
    const before = offset()
    await close(adopted)
    silent('behind')
    await adoptDatabase(parseDatabaseUrl(postgres.url('behind')), START)
    expect(offset()).toBe(before)
    expect(Number(before)).toBeGreaterThan(900_000_000)
  })

  test('mail that was moved after an adoption is held by the next one until its new time', async () => {
    const records = createRecords()
    const url = await postgres.createDatabase('twice')
    const dataDir = folder()
    const at = START + 3_600_000
    const store = await open(url, dataDir)
    await found(store, records)
    const deliveries = [{ status: 'scheduled' as const, nextAttemptAt: at }]
    const { message } = await accept(store, records.accepted({ status: 'scheduled', scheduledAt: at, deliveries }))
    await close(store)
    silent('twice')
    await adoptDatabase(parseDatabaseUrl(url), START)
    const once = await open(url, dataDir)
    expect(await once.messages.reschedule(message.id, at + 1, START)).toBe('rescheduled')
    await close(once)
    silent('twice')
    await adoptDatabase(parseDatabaseUrl(url), START)
    const twice = await open(url, dataDir)
    expect(await twice.held.count()).toMatchObject({ deliveries: 1 })
    await twice.held.release('deliveries', { dueAfter: null, now: START })
    expect(await twice.deliveries.nextDueAt(ANY)).toBe(at + 1)
  })

  test('a copy in another database does not serve, and lanes that were removed by age do not count', async () => {
    const records = createRecords()
    const url = await postgres.createDatabase('original')
    const dataDir = folder()
    const store = await open(url, dataDir)
    await found(store, records)
    await store.sessions.addLink({
      tokenHash: records.hash(),
      userId: FIRST_USER,
      createdAt: START,
      expiresAt: START + 1,
    })
    await noted(dataDir, 'original')
    await close(store)
    postgres.psql('create database copied template original')
    const copy = postgres.url('copied')
    await expect(open(copy, dataDir)).rejects.toThrow('a copy of one in another server or database')
    postgres.psql('delete from lanes', 'original')
    await close(await open(url, dataDir))
    silent('copied')
    const { lastSeenAt } = await adoptDatabase(parseDatabaseUrl(copy), START)
    expect(Date.now() - lastSeenAt).toBeGreaterThan(3_000_000)
    expect(postgres.psql('select count(*) from login_links', 'copied')).toBe('0')
    await close(await open(copy, dataDir))
    // Its adoption is unknown to the database that it was copied from.
    await expect(open(url, dataDir)).rejects.toThrow('went back to an earlier state')
  })
})
