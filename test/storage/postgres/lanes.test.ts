import { afterAll, beforeAll, expect, test } from 'bun:test'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openPostgresStore } from '../../../src/storage/postgres/open.ts'
import { type ClaimedDelivery, type Store, StoreUnavailable } from '../../../src/storage/store.ts'
import { describeWithPostgres, startPostgres, type TestPostgres } from '../../support/postgres.ts'
import { createMigrated } from '../migrated.ts'
import { claim, createRecords, found, ORGANIZATION, recordOf, START } from '../records.ts'

const MONTH = '2026-11'
const BURSTS = 12
const OF_BURST = 6

describeWithPostgres('the connections that write', () => {
  let postgres: TestPostgres
  let url: string
  let dataDir: string
  let store: Store
  let ended = 0
  beforeAll(async () => {
    postgres = await startPostgres()
    url = await (await createMigrated(postgres))()
    dataDir = mkdtempSync(join(tmpdir(), 'postrider-lanes-'))
    store = await openPostgresStore({ url, dataDir, now: START, clock: () => START })
  })
  afterAll(async () => {
    await store.close()
    await postgres.stop()
    rmSync(dataDir, { recursive: true })
  })

  const sql = (statement: string) => postgres.psql(statement, new URL(url).pathname.slice(1))
  const idsIn = (statement: string) => sql(statement).split('\n').filter(Boolean)
  const sum = (statement: string) => Number(sql(`select coalesce(sum(${statement}`))
  /** Ends the sessions of mail while the changes are under way. */
  const interrupted = async <T>(changes: readonly Promise<T>[]) => {
    await Bun.sleep(Math.random() * 4)
    for (const pid of postgres.backendsOf('postrider mail')) {
      process.kill(pid)
      ended++
    }
    return Promise.allSettled(changes)
  }

  test('mail that is acknowledged while sessions end is there once, and so are its results and counts', async () => {
    const records = createRecords()
    await found(store, records)
    const volume = { organizationId: ORGANIZATION, month: MONTH, count: 1, limit: -1 }
    const acknowledged: string[] = []
    const refused: string[] = []
    for (let burst = 0; burst < BURSTS; burst++) {
      const mails = Array.from({ length: OF_BURST }, () => records.accepted())
      const answers = await interrupted(mails.map((mail) => store.messages.accept([mail], volume)))
      for (const [at, answer] of answers.entries()) {
        const { id } = mails[at]!.message
        if (answer.status === 'fulfilled') acknowledged.push(id)
        else if (!(answer.reason instanceof StoreUnavailable)) throw answer.reason
        else if (!answer.reason.isUncertain) refused.push(id)
      }
    }
    expect(ended).toBeGreaterThan(BURSTS / 2)
    const stored = new Set(idsIn('select id from messages'))
    expect(acknowledged.filter((id) => !stored.has(id))).toEqual([])
    expect(refused.filter((id) => stored.has(id))).toEqual([])
    expect(await store.messages.volume(ORGANIZATION, MONTH)).toBe(stored.size)
    expect(sum(`accepted), 0) from stats where tag = '' and hour = 24`)).toBe(stored.size)
    expect(Number(sql('select count(*) from deliveries'))).toBe(stored.size)

    const claims = new Map<string, ClaimedDelivery>()
    while (claims.size < stored.size) {
      const [answer] = await interrupted([claim(store, { limit: 20 })])
      for (const each of answer?.status === 'fulfilled' ? answer.value : []) {
        expect(claims.has(each.delivery.id)).toBe(false)
        claims.set(each.delivery.id, each)
      }
    }
    const results = [...claims.values()].map((each) => {
      const { id: messageId, organizationId, domainId } = each.message
      const event = records.event({ type: 'message.delivered', messageId, organizationId, domainId })
      return recordOf(each, undefined, { events: [event] })
    })
    for (let at = 0; at < results.length; at += OF_BURST) {
      const some = results.slice(at, at + OF_BURST)
      const answers = await interrupted(some.map((result) => store.deliveries.record(result)))
      // Again, as the server does when it does not know: recorded already, or now.
      for (const [n, answer] of answers.entries())
        if (answer.status === 'rejected') await store.deliveries.record(some[n]!)
    }
    expect(idsIn(`select distinct status from deliveries`)).toEqual(['delivered'])
    expect(Number(sql('select count(*) from attempts'))).toBe(stored.size)
    expect(Number(sql('select count(*) from events'))).toBe(stored.size)
    expect(sum(`delivered), 0) from stats where tag = '' and hour = 24`)).toBe(stored.size)
  })
})
