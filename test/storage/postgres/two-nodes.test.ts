import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'bun:test'
import { copyFileSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createEventStream } from '../../../src/events/event-stream/event-stream.ts'
import type { ReportedSource } from '../../../src/mail/aggregate-report.ts'
import { MAX_INVITATIONS } from '../../../src/model/invitation.ts'
import { FIXED_LIMITS } from '../../../src/model/limits.ts'
import { type Plan, UNLIMITED_PLAN } from '../../../src/model/organization.ts'
import type { ReceivedReport } from '../../../src/model/policy-report.ts'
import { LARGE_REPORTERS } from '../../../src/model/reporter.ts'
import { FIRST_USER } from '../../../src/model/user.ts'
import { createNotifier } from '../../../src/os/notifier.ts'
import { parseDatabaseUrl } from '../../../src/storage/postgres/address.ts'
import { type Connection, connect } from '../../../src/storage/postgres/connection.ts'
import type { NodeOptions } from '../../../src/storage/postgres/node-options.ts'
import { openPostgresStore } from '../../../src/storage/postgres/open.ts'
import { AlreadyRemembered, type ClaimedDelivery, type Store, StoreUnavailable } from '../../../src/storage/store.ts'
import { claimDue } from '../../support/claim.ts'
import { createFakeClock } from '../../support/fake-clock.ts'
import { until } from '../../support/patience.ts'
import { describeWithPostgres, startPostgres, type TestPostgres } from '../../support/postgres.ts'
import { alertOf } from '../contract-alerts.ts'
import { entry } from '../contract-audit-log.ts'
import { template } from '../contract-limits.ts'
import { reportOf } from '../contract-policy-reports.ts'
import { user } from '../contract-users.ts'
import { createMigrated } from '../migrated.ts'
import {
  ALL_EVENTS,
  accept,
  claim,
  createRecords,
  found,
  ORGANIZATION,
  postAttempt,
  type Records,
  recordOf,
  START,
} from '../records.ts'

/** Of nodes that no test waits for: longer than any test. */
const NEVER_MS = 3_600_000
/** Of a node that ends another: long enough for a busy machine to send a beat, short enough to wait for. It is longer than
 *  the 2 s after which a node counts as interrupted, so a test process that stands still ends nothing. */
const TAKEOVER_MS = 4_000

describeWithPostgres('two nodes on one database', () => {
  let postgres: TestPostgres
  let createDatabase: () => Promise<string>
  let url: string
  let folders: string[]
  let stores: Store[]
  let children: Bun.Subprocess[]
  let records: Records
  beforeAll(async () => {
    postgres = await startPostgres()
    createDatabase = await createMigrated(postgres)
  })
  afterAll(() => postgres.stop())
  beforeEach(async () => {
    if (!postgres.isRunning()) await postgres.resume() // a failed test may have halted it
    url = await createDatabase()
    folders = []
    stores = []
    children = []
    records = createRecords()
  })
  afterEach(async () => {
    for (const child of children) child.kill('SIGKILL')
    for (const store of stores) await store.close()
    for (const folder of folders) rmSync(folder, { recursive: true })
  })

  const sql = (statement: string) => postgres.psql(statement, new URL(url).pathname.slice(1))
  /** A data directory; every node has the key of the first. */
  const folder = () => {
    const made = mkdtempSync(join(tmpdir(), 'postrider-node-'))
    if (folders[0] !== undefined) copyFileSync(join(folders[0], 'seal.key'), join(made, 'seal.key'))
    folders.push(made)
    return made
  }
  let tookOver = 0
  const observer = {
    wroteGroup: () => {},
    tookOver: (nodes: number) => {
      tookOver += nodes
    },
  }
  const open = async ({
    clock = () => START,
    plans = () => UNLIMITED_PLAN,
    ...change
  }: NodeOptions & { clock?: () => number; plans?: (name: string) => Plan } = {}): Promise<Store> => {
    const node = { name: `n${stores.length}`, takeoverMs: NEVER_MS, observer, ...change }
    const store = await openPostgresStore({ url, dataDir: folder(), now: START, clock, plans, node })
    stores.push(store)
    return store
  }
  /** It asks in one session, because each psql is a process. */
  const untilQuery = async (statement: string, result: string) => {
    const connection = await connect({ address: parseDatabaseUrl(url), name: 'questions' })
    const text = `select (${statement})::text as answer`
    const ask = async () => (await connection.query<{ answer: string }>(text))[0]?.answer
    await until(`${statement}: ${result}`, async () => (await ask()) === result).finally(() => connection.close())
  }
  /** Both nodes have seen each other. */
  const together = (...nodes: Store[]) =>
    until('the nodes to see each other', () => nodes.every((node) => node.nodes.share().nodes === 2))
  /** For a transaction of the other node, which stays open as long as the test takes. */
  const connectOther = () => {
    const settings = { idle_in_transaction_session_timeout: '0' }
    return connect({ address: parseDatabaseUrl(url), name: 'a group of the other node', settings })
  }
  const acceptTo = async (store: Store, destinations: number) => {
    const ids = []
    for (let n = 0; n < destinations; n++) {
      const { message } = await accept(store, records.accepted({ deliveries: [{ email: `a@d${n}.example` }] }))
      ids.push(message.id)
    }
    return ids.sort()
  }
  const claimAll = async (store: Store) => (await claim(store)).map(({ message }) => message.id)

  /** Claims until the node got these messages, each once. */
  const untilClaimed = async (store: Store, ids: readonly string[]) => {
    const claimed: string[] = []
    await until('the node to claim all', async () => claimed.push(...(await claimAll(store))) >= ids.length)
    expect(claimed.sort()).toEqual(ids.toSorted())
  }

  test('mail that the node which accepted it does not take is claimed by the other one, once', async () => {
    const one = await open()
    await found(one, records)
    const two = await open()
    await together(one, two)
    const ids = await acceptTo(one, 40)
    await untilClaimed(two, ids)
    expect([await claimAll(one), await claimAll(two)]).toEqual([[], []])
  })

  test('of two nodes that claim from the same queues at the same time, each gets other mail', async () => {
    const one = await open()
    await found(one, records)
    const two = await open()
    await together(one, two)
    const ids: string[] = []
    for (let n = 0; n < 300; n++) {
      const { message } = await accept(
        n % 2 ? one : two,
        records.accepted({ deliveries: [{ email: `a@d${n % 3}.example` }] }),
      )
      ids.push(message.id)
    }
    const claimed: [string[], string[]] = [[], []]
    await until('both nodes to claim all', async () => {
      const some = await Promise.all([one, two].map((store) => claim(store, { limit: 7 })))
      for (const [at, of] of some.entries()) claimed[at]!.push(...of.map(({ message }) => message.id))
      return claimed.flat().length >= ids.length
    })
    expect(claimed.flat().sort()).toEqual(ids.sort())
    for (const { length } of claimed) expect(length).toBeGreaterThan(50)
  })

  test('a key whose notification was lost is found by reading what is due', async () => {
    const one = await open()
    await found(one, records)
    const two = await open()
    await together(one, two)
    const [id] = await acceptTo(one, 1)
    expect(await claimAll(one)).toEqual([id!])
    // As if its node had stopped sending it without a word to anyone.
    sql(`update deliveries set worker = null, next_attempt_at = ${START - 5_000}`)
    sql(`select pg_notify('postrider', '*')`)
    await untilClaimed(two, [id!])
  })

  test('the nodes divide limits between those that run, and one that drains has its part until its last attempt ended', async () => {
    const one = await open()
    await found(one, records)
    expect(one.nodes.share()).toEqual({ nodes: 1, place: 0 })
    const two = await open()
    await together(one, two)
    expect([one.nodes.share().place, two.nodes.share().place]).toEqual([0, 1])
    const [id] = await acceptTo(one, 1)
    const [claimed] = await claim(one)
    expect(claimed!.message.id).toBe(id!)
    await one.nodes.leave()
    await until('the node to drain', async () => (await two.nodes.list())[0]?.state === 'draining')
    expect(two.nodes.share().nodes).toBe(2)
    await one.deliveries.record(recordOf(claimed!))
    await until('the other to have all', () => two.nodes.share().nodes === 1)
    expect(two.nodes.share()).toEqual({ nodes: 1, place: 0 })
    expect((await two.nodes.list())[0]).toMatchObject({ state: 'draining', isHandedOver: true, underWay: 0 })
  })

  test('mail that only another node has the addresses for waits there, and goes from any node when that one has ended', async () => {
    const names: string[][] = []
    const placement = {
      published: 'all to n1',
      read: () => ({ groups: [['n1']], groupOf: () => 0 }),
      onAbsent: (absent: readonly string[]) => names.push([...absent]),
    }
    const one = await open({ placement })
    const queue = 'dest.example aaaaaaaa'
    expect(one.nodes.elsewhere(queue)).toBeNull()
    const two = await open({ placement })
    await together(one, two)
    expect([one.nodes.elsewhere(queue), two.nodes.elsewhere(queue)]).toEqual(['addresses of n1', null])
    const before = one.nodes.share()
    one.nodes.placementChanged()
    expect(one.nodes.share()).not.toBe(before)
    await two.close()
    stores.pop()
    await until('the first node to send it', () => one.nodes.elsewhere(queue) === null)
    expect(names).toEqual([['n1'], [], ['n1']])
  })

  test('a revoked key is unknown to the other node when the answer comes', async () => {
    const one = await open()
    await found(one, records)
    const [key, hash] = [records.apiKey(), records.hash()]
    await one.apiKeys.create(key, hash)
    const two = await open()
    expect(two.snapshot.apiKeyBySecret(hash)?.id).toBe(key.id)
    const other = [records.apiKey(), records.hash()] as const
    await one.apiKeys.create(...other)
    expect(two.snapshot.apiKeyBySecret(other[1])?.id).toBe(other[0].id)
    await one.apiKeys.revoke(key.id, START)
    expect(two.snapshot.apiKeyBySecret(hash)?.revokedAt).toBe(START)
  })

  test('two requests for the last of the volume have one winner', async () => {
    const one = await open()
    await found(one, records)
    const two = await open()
    const volume = { organizationId: ORGANIZATION, month: '2026-11', count: 1, limit: 10 }
    const answers = await Promise.all(
      Array.from({ length: 30 }, (_, n) => (n % 2 === 0 ? one : two).messages.accept([records.accepted()], volume)),
    )
    expect(answers.filter(({ kind }) => kind === 'accepted')).toHaveLength(10)
    expect(await two.messages.volume(ORGANIZATION, '2026-11')).toBe(10)
  })

  test('of two who use an invitation at both nodes at once one joins', async () => {
    const [one, two] = [await open(), await open()]
    for (const number of [1, 2]) await one.users.create(user(number), null)
    const sent = { email: 'c@x.example', role: 'viewer', invitedBy: FIRST_USER, createdAt: START } as const
    for (let n = 0; n < 10; n++) {
      const invitation = { ...sent, id: `inv_${n}`, organizationId: `org_${n}`, expiresAt: START + 1 }
      const shown = records.hash()
      await one.invitations.create(invitation, { shown, mailed: records.hash() })
      const answers = [one.invitations.join(shown, 'usr_1', START), two.invitations.join(shown, 'usr_2', START)]
      expect((await Promise.all(answers)).toSorted()).toEqual(['accepted', 'unknown'])
    }
  })

  test('invitations at both nodes at once replace each other, and their limit holds over both', async () => {
    const nodes = [await open(), await open()]
    await found(nodes[0]!, records)
    const sent = { organizationId: ORGANIZATION, role: 'viewer', invitedBy: FIRST_USER, createdAt: START } as const
    const invite = (round: string, emailOf: (node: number) => string) =>
      Promise.all(
        nodes.map(({ invitations }, node) => {
          const invitation = { ...sent, id: `inv_${round}_${node}`, email: emailOf(node), expiresAt: START + 1 }
          return invitations.create(invitation, { shown: records.hash(), mailed: records.hash() })
        }),
      )
    for (let n = 1; n < MAX_INVITATIONS; n++) {
      expect(await invite(String(n), () => `${n}@x.example`)).toEqual(['created', 'created'])
    }
    expect(sql('select count(*) from invitations')).toBe(String(MAX_INVITATIONS - 1))
    expect((await invite('last', (node) => `node${node}@x.example`)).toSorted()).toEqual(['created', 'too_many'])
  })

  test('of the last two operators, whom both nodes dismiss at once, one stays', async () => {
    const [one, two] = [await open(), await open()]
    await one.users.create(user(1), null)
    for (let n = 0; n < 10; n++) {
      for (const id of ['usr_1', FIRST_USER]) await one.users.update(id, { isOperator: true })
      const answers = [
        one.users.update('usr_1', { isOperator: false }),
        two.users.update(FIRST_USER, { isOperator: false }),
      ]
      expect((await Promise.all(answers)).toSorted()).toEqual(['last_operator', 'updated'])
    }
  })

  test('of two who remove the same at both nodes, the one whose commit failed keeps no entry of it', async () => {
    const one = await open()
    await found(one, records)
    const suppression = records.suppression()
    await one.suppressions.add(suppression)
    sql(`create sequence commits; create function refuse() returns trigger language plpgsql as
        $$ begin if nextval('commits') = 1 then raise exception using errcode = '40001'; end if; return null; end $$;
      create constraint trigger refuses after insert on audit_log deferrable initially deferred
        for each row execute function refuse();
      create function wait() returns trigger language plpgsql as
        $$ begin if (select is_called from commits) then perform pg_advisory_xact_lock(77); end if; return null; end $$;
      create trigger waits before update on lanes for each statement execute function wait()`)
    const [holder, other] = [await connectOther(), await connectOther()]
    await holder.query('select pg_advisory_lock(77)')
    const note = { isKept: false, entry: () => entry(1) }
    const removed = one.auditLog.during(note, () => one.suppressions.remove([suppression.id], START))
    await untilQuery(`select count(*) from pg_locks where locktype = 'advisory' and objid = 77 and not granted`, '1')
    expect(await other.run('delete from suppressions where id = $1', [suppression.id])).toBe(1)
    await holder.query('select pg_advisory_unlock(77)')
    expect([await removed, note.isKept, sql('select count(*) from audit_log')]).toEqual([0, false, '0'])
    for (const connection of [holder, other]) connection.close()
  })

  /** Performs works at the same time: those that write to a table wait there for each other. */
  const atOnce = async <T>(table: string, works: readonly (() => Promise<T>)[]): Promise<T[]> => {
    sql(`create function meet() returns trigger language plpgsql as
        'begin perform pg_advisory_xact_lock_shared(77); return null; end';
      create trigger meet after insert on ${table} for each statement execute function meet()`)
    const holder = await connectOther()
    await holder.query('begin')
    await holder.query('select pg_advisory_xact_lock(77)')
    const performed = works.map((work) => work())
    await untilQuery(`select count(distinct pid) from pg_locks where not granted`, String(works.length))
    await holder.query('commit')
    holder.close()
    return Promise.all(performed)
  }

  test('of two replays at both nodes at once, one repeats an event', async () => {
    const one = await open()
    await found(one, records)
    const hook = records.webhook()
    await one.webhooks.create(hook, 'whsec_a')
    const two = await open()
    await together(one, two)
    await until('the other node to see the webhook', async () => (await two.webhooks.get(hook.id)) !== null)
    await one.events.append([records.event({ type: 'message.bounced' })])
    sql(`update webhook_deliveries set status = 'delivered', next_attempt_at = null`)
    const range = { from: START - 1, before: START + 1_000_000, type: null, afterEvent: null }
    const replays = [one, two].map(
      (store, late) => () => store.webhookDeliveries.replay(hook.id, range, 9, START + 100 + late),
    )
    const queued = (await atOnce('webhook_deliveries', replays)).map((replay) => replay.queued)
    expect(queued.sort()).toEqual([0, 1])
    expect(sql(`select count(*) from webhook_deliveries where status = 'pending'`)).toBe('1')
  })

  test('a webhook that posts of both nodes pause at once is reported once', async () => {
    const one = await open()
    await found(one, records)
    const gone = records.webhook({ events: ['message.delivered'] })
    for (const hook of [gone, records.webhook({ events: ['webhook.paused'] })])
      await one.webhooks.create(hook, 'whsec_a')
    const two = await open()
    await together(one, two)
    await one.events.append([records.event(), records.event()])
    const request = { now: START, limit: 9, worker: 'w', freeFor: () => 9 }
    const claims = await claimDue(one.webhookDeliveries, request)
    const recording = claims.map(({ id }, late) => {
      const result = { deliveryId: id, worker: 'w', status: 'failed' as const, nextAttemptAt: null, now: START + late }
      const store = [one, two][late]!
      return store.webhookDeliveries.record({ ...result, attempt: postAttempt(), pauseReason: `by node ${late}` })
    })
    expect(await Promise.all(recording)).toEqual(['recorded', 'recorded'])
    expect(sql(`select count(*) from events where type = 'webhook.paused'`)).toBe('1')
  })

  test('the limit of scheduled messages holds over both nodes, and what was cancelled makes room', async () => {
    const plans = () => ({ ...UNLIMITED_PLAN, scheduledMessages: 3 })
    const one = await open({ plans })
    await found(one, records)
    const two = await open({ plans })
    const schedule = async (store: Store) => {
      const accepted = records.accepted({ status: 'scheduled', scheduledAt: START + 60_000 })
      const volume = { organizationId: ORGANIZATION, month: '2026-11', count: 0, limit: -1 }
      return { id: accepted.message.id, ...(await store.messages.accept([accepted], volume)) }
    }
    const accepted = [await schedule(one), await schedule(two), await schedule(one)]
    expect(accepted.map(({ kind }) => kind)).toEqual(['accepted', 'accepted', 'accepted'])
    const refused = { kind: 'limit', name: 'scheduled_messages', limit: 3, used: 3 }
    expect(await schedule(two)).toMatchObject(refused)
    expect(await schedule(one)).toMatchObject(refused)
    expect(await one.messages.cancel(accepted[1]!.id, START)).toBe('cancelled')
    expect(await schedule(two)).toMatchObject({ kind: 'accepted' })
    expect(await schedule(one)).toMatchObject(refused)
    expect((await two.usage.of(ORGANIZATION, START)).scheduledMessages).toBe(3)
  })

  test('a report that both nodes receive counts once, and the limits of reports hold over both', async () => {
    const one = await open()
    const two = await open()
    const nodes = [one, two]
    const sources = (name: string, count: number): ReportedSource[] =>
      Array.from({ length: count }, (_, n) => ({
        ...{ sourceIp: `${name}.${String(n).padStart(4, '0')}`, messages: 1, spfAligned: 0, dkimAligned: 0 },
        ...{ passed: 1, quarantined: 0, rejected: 0 },
      }))
    const add = (report: ReceivedReport) => Promise.all(nodes.map((node) => node.policyReports.add(report)))
    const most = FIXED_LIMITS.reportsOfReporter
    const reports = Array.from({ length: most + 2 }, (_, n) => reportOf(String(n), sources('a', 1)))
    const results = (await Promise.all(reports.map(add))).flat()
    const counts = Map.groupBy(results, (result) => result)
    expect(counts.get('stored')).toHaveLength(most)
    expect(counts.get('repeated')!.length + counts.get('limit')!.length).toBe(most + 4)

    const many = FIXED_LIMITS.reportedSources - 400
    await Promise.all(
      nodes.map((node, n) =>
        node.policyReports.add(reportOf('many', sources(`b${n}`, many), { reporter: LARGE_REPORTERS[n]! })),
      ),
    )
    const all = { from: 0, to: START }
    for (const node of nodes) {
      const { totals } = await node.policyReports.dmarc('dom_1', all, 1)
      expect(totals).toMatchObject({ reports: most + 2, messages: most + 2 * many })
    }
    expect(sql(`select count(*) from dmarc_sources`)).toBe(String(FIXED_LIMITS.reportedSources))

    // Its results in the other order at the other node: neither waits for the other for good.
    const sessionsOf = Array.from({ length: 40 }, (_, n) => ({ policy: 'sts', result: `r${n}`, host: '', sessions: 1 }))
    const tls = (reportId: string, of: typeof sessionsOf) =>
      reportOf(reportId, [], { reporter: 'microsoft.com', content: { kind: 'tls', results: of } })
    await Promise.all([
      ...Array.from({ length: 5 }, (_, n) => one.policyReports.add(tls(`t${n}`, sessionsOf))),
      ...Array.from({ length: 5 }, (_, n) => two.policyReports.add(tls(`u${n}`, sessionsOf.toReversed()))),
    ])
    const kept = (await two.policyReports.tls('dom_1', all, 99)).results
    expect(kept.map(({ sessions }) => sessions)).toEqual(Array(40).fill(10))

    // The reporter sends again what the ended node had stored.
    await one.close()
    stores.splice(stores.indexOf(one), 1)
    expect(await two.policyReports.add(reports[0]!)).toBe(results[0] === 'limit' ? 'limit' : 'repeated')
  })

  test('both nodes perform the steps of an erasure, and each record is counted once', async () => {
    const one = await open()
    await found(one, records)
    const two = await open()
    const closed = { email: 'ann@dest.example', status: 'delivered' as const, nextAttemptAt: null }
    for (let n = 0; n < 25; n++) await accept(one, records.accepted({ status: 'delivered', deliveries: [closed] }))
    await accept(two, records.accepted({ deliveries: [{ email: closed.email }] }))
    const claimed: ClaimedDelivery[] = []
    await until('a claim of either node', async () => claimed.push(...(await claim(one)), ...(await claim(two))) > 0)
    const asked = { organizationId: ORGANIZATION, email: closed.email, now: START }
    const begun = await Promise.all(
      [one, two].map((node, n) => node.erasures.begin({ ...asked, id: `era_${n}`.padEnd(30, '0') })),
    )
    expect(begun[0]!.id).toBe(begun[1]!.id)
    const run = async (now: number) => {
      const step = (node: Store) => node.erasures.step(now, () => false)
      while ((await Promise.all([one, two, one].map(step))).includes(true));
    }
    await run(START)
    const waiting = await two.erasures.get(begun[0]!.id)
    expect(waiting).toMatchObject({ finishedAt: null, removed: { messages: 25 } })
    const [delivery] = claimed
    const holder = sql(`select count(*) from deliveries where next_attempt_at is not null`)
    expect([claimed.length, holder]).toEqual([1, '1'])
    const results = await Promise.all([one, two].map((node) => node.deliveries.record(recordOf(delivery!))))
    expect(results).toContain('recorded')
    await run(START + 30_000)
    expect(await one.erasures.get(begun[0]!.id)).toMatchObject({
      finishedAt: START + 30_000,
      removed: { messages: 26 },
    })
    expect(sql('select count(*) from messages')).toBe('0')
  })

  test('a stored response that goes while an erasure removes it gives back its bytes once', async () => {
    const one = await open()
    await found(one, records)
    const [keyHash, body] = [Buffer.alloc(32, 1), Buffer.from('{"to":"ann@dest.example"}')]
    const record = { organizationId: ORGANIZATION, keyHash, requestHash: keyHash, status: 202, body, createdAt: START }
    const volume = { organizationId: ORGANIZATION, month: '2026-11', count: 1, limit: -1 }
    await one.messages.accept([records.accepted()], volume, record)
    const asked = { id: 'era_'.padEnd(30, '0'), organizationId: ORGANIZATION, email: 'ann@dest.example', now: START }
    await one.erasures.begin(asked)
    const { storedBytes } = await one.usage.of(ORGANIZATION, START)
    const other = await connectOther()
    await other.query('begin')
    await other.run('delete from idempotency')
    const erase = async () => {
      while (await one.erasures.step(START, () => false));
    }
    const erased = erase()
    await untilQuery(`select count(*) from pg_stat_activity where wait_event_type = 'Lock' and query ~ '^delete'`, '1')
    await other.query('commit') // which gave back the bytes, if it were a node
    other.close()
    await erased
    expect(await one.erasures.get(asked.id)).toMatchObject({ finishedAt: START, removed: { responses: 0 } })
    expect((await one.usage.of(ORGANIZATION, START)).storedBytes).toBe(storedBytes)
  })

  test('of requests with one idempotency key at both nodes one is accepted', async () => {
    const one = await open()
    await found(one, records)
    const two = await open()
    const answers = Array.from({ length: 300 }, () => records.remember())
    const volume = { organizationId: ORGANIZATION, month: '2026-11', count: 1, limit: 1_000 }
    const race = async (answer: (typeof answers)[number], n: number) => {
      const results = await Promise.allSettled([
        one.messages.accept([records.accepted()], volume, answer),
        n % 3 === 0 ? two.templates.create(template(n), answer) : null,
        two.messages.accept([records.accepted()], { ...volume, limit: n % 2 === 0 ? -1 : 1_000 }, answer),
      ])
      for (const result of results) {
        if (result.status === 'rejected') expect(result.reason).toBeInstanceOf(AlreadyRemembered)
      }
      return results.filter((result) => result.status === 'fulfilled' && result.value !== null).length
    }
    const won: number[] = []
    // Not all at once: a change waits for 5 s.
    for (let from = 0; from < answers.length; from += 50) {
      won.push(...(await Promise.all(answers.slice(from, from + 50).map((answer, at) => race(answer, from + at)))))
    }
    expect(won).toEqual(answers.map(() => 1))
    const templates = Number(sql('select count(*) from templates'))
    expect(sql('select count(*) from messages')).toBe(String(answers.length - templates))
    expect(await two.messages.volume(ORGANIZATION, '2026-11')).toBe(answers.length - templates)
    expect(sql('select count(*) from idempotency')).toBe(String(answers.length))
    const counted = (await one.usage.of(ORGANIZATION, START)).storedBytes
    await one.usage.beginCount()
    while (await one.usage.countSome());
    expect((await one.usage.of(ORGANIZATION, START)).storedBytes).toBe(counted)
  })

  describe('a leader', () => {
    const lease = (what: string) => sql(`select ${what} from leases where name = 'leader'`)
    /** Until the node that has the lease extends it, which it does every two seconds; others try twice a second. */
    const extended = async () => {
      const before = lease('until')
      await until('the lease to be extended', () => lease('until') !== before)
    }
    const leader = async () => {
      const child = startChild('leads')
      await until('the child to lead', () => child.lines.includes('leads true'))
      const other = await open()
      await extended()
      expect(other.leases.leads()).toBe(false)
      expect(await other.leases.take('leader', 1_000)).toBe(false)
      return { child, other }
    }

    test('that is killed is followed by another node when its lease ends', async () => {
      const { child, other } = await leader()
      child.kill('SIGKILL')
      await child.exited
      expect(lease(`until < clock_timestamp() + interval '10 s'`)).toBe('t')
      // Instead of waiting for the rest of it.
      sql(
        `update leases set until = clock_timestamp() + interval '1 s' where until > clock_timestamp() + interval '1 s'`,
      )
      const endsAt = lease('until')
      await until('the other node to lead', () => other.leases.leads())
      expect(lease(`until - interval '10 s' >= '${endsAt}'`)).toBe('t')
      // It did not follow because the killed node was ended.
      expect(sql('select count(*) from nodes where ended_at is null')).toBe('2')
    })

    test('that stood still knows at once that it leads no more', async () => {
      const { child, other } = await leader()
      child.kill('SIGSTOP')
      await until('the other node to lead', () => other.leases.leads())
      const seen = child.lines.length
      child.kill('SIGCONT')
      await until('the child to print', () => child.lines.length > seen)
      await extended()
      expect(child.lines.slice(seen - 1)).toEqual(['leads true', 'leads false'])
      expect(other.leases.leads()).toBe(true)
    })

    test('that is ended or closed is followed at once', async () => {
      const one = await open()
      await until('the first node to lead', () => one.leases.leads())
      const two = await open()
      sql(`update nodes set ended_at = now() where id = 1`)
      await until('the second node to lead', () => two.leases.leads())
      expect(await one.leases.take('anything', 1_000)).toBe(false)
      const three = await open()
      await two.close()
      stores.splice(1, 1)
      await until('the third node to lead', () => three.leases.leads())
    })
  })

  test('a lease belongs to one node until it releases it or its time is over', async () => {
    const one = await open()
    const two = await open()
    const both = () => Promise.all([one, two].map(({ leases }) => leases.take('a report', 600_000)))
    expect((await both()).sort()).toEqual([false, true])
    const first = (await both())[0]
    expect(await both()).toEqual([first, !first] as boolean[])
    await (first ? two : one).leases.release('a report')
    expect(await both()).toEqual([first, !first] as boolean[])
    await (first ? one : two).leases.release('a report')
    expect(await (first ? two : one).leases.take('a report', 1)).toBe(true)
    await Bun.sleep(5)
    expect(await (first ? one : two).leases.take('a report', 600_000)).toBe(true)
  })

  test('rates of the nodes are exchanged, and taken together', async () => {
    const [one, two] = [(await open()).rates!, (await open()).rates!]
    const window = (id: string, used: number, endsAt = START) => ({ id, used, endsAt })
    expect(await one.exchange([window('key_a', 3), window('key_b', 1)])).toEqual([])
    expect(await two.exchange([window('key_a', 5, START + 1)])).toEqual([window('key_a', 3)])
    await one.exchange([window('key_a', 4)])
    expect(await two.exchange([window('key_b', 0), window('key_a', 5)])).toEqual(
      expect.arrayContaining([window('key_b', 1), window('key_a', 4)]),
    )
    const rules = [
      { name: 'few', everyMs: 1_000, burst: 2 },
      { name: 'many', everyMs: 10, burst: 50 },
    ]
    const waits = [await one.take(rules, START), await two.take(rules, START), await one.take(rules, START)]
    expect(waits).toEqual([0, 0, 1_000])
    expect(await two.take(rules, START + 400)).toBe(600)
    expect(await two.take(rules, START + 1_000)).toBe(0)
    expect(await one.take([rules[1]!], START + 1_000)).toBe(0)
    const all = await Promise.all(
      Array.from({ length: 40 }, (_, n) =>
        (n % 2 ? one : two).take([{ name: 'few', everyMs: 1_000, burst: 10 }], START),
      ),
    )
    // 'few' was due at START + 3,000 already.
    expect(all.filter((wait) => wait === 0)).toHaveLength(7)
  })

  test('who follows events sees those of both nodes in one order, also while others keep coming', async () => {
    const one = await open()
    await found(one, records)
    const notifier = createNotifier(async () => {})
    const onEvents = (id: string) => notifier.notify(`events of ${id}`)
    const two = await open({ onEvents })
    // Its clock stands still, so that only notifications wake it.
    const clock = createFakeClock(START)
    const stream = createEventStream({ events: two.events, clock, lookMs: 1_000, on: notifier.on })
    const all = { organizationId: ORGANIZATION, types: null, messageId: null, domainId: null, mode: null }
    const follower = stream.follow(all, { id: null, place: '' })
    const seen = new Set<string>()
    const following = (async () => {
      for (let events = await follower.next(); events.length > 0; events = await follower.next()) {
        for (const { id } of events) {
          expect(seen).not.toContain(id)
          seen.add(id)
        }
      }
    })()
    const written: string[] = []
    await until('events to arrive while others keep coming', async () => {
      const event = records.event()
      await (written.length % 4 === 0 ? two : one).events.append([event])
      written.push(event.id)
      await Bun.sleep(written.length % 7)
      const first = written.slice(0, 80)
      return first.length === 80 && first.every((id) => seen.has(id))
    })
    await until('every written event to arrive', () => written.every((id) => seen.has(id)))
    follower.end()
    await following
    expect([...seen]).toEqual(sql('select id from events order by position, number').split('\n'))
  })

  test('a clock that was set back moves the waits once, whichever node notices it', async () => {
    const one = await open()
    await found(one, records)
    const two = await open()
    await together(one, two)
    for (let n = 0; n < 30; n++) {
      const queued = { email: `a@d${n}.example`, destination: `d${n}.example`, nextAttemptAt: START + 3_600_000 }
      await accept(one, records.accepted({ createdAt: START + 3_000_000, deliveries: [queued] }))
    }
    const due = () => Number(sql(`select count(*) from deliveries where next_attempt_at = ${START}`))
    const walk = async (store: Store) => {
      while (await store.deliveries.endFutureWaits(START));
    }
    await walk(two)
    expect(due()).toBe(30)
    await walk(one)
    expect(due()).toBe(30)
    expect(await claimAll(two)).toHaveLength(30)
  })

  test('mail that was found to wait by a clock ahead, and is delivered before its wait ends, does not wait again', async () => {
    const one = await open()
    await found(one, records)
    const two = await open()
    await together(one, two)
    const waiting = { email: 'a@dest.example', nextAttemptAt: START + 5 }
    await accept(one, records.accepted({ createdAt: START + 5, deliveries: [waiting] }))
    const other = await connectOther()
    await other.query('begin')
    await other.run(
      `update deliveries set status = 'delivered', attempts = 1, last_attempt_at = $1::bigint,
      next_attempt_at = null`,
      [START + 5],
    )
    const ended = two.deliveries.endFutureWaits(START)
    await untilQuery(
      `select count(*) from pg_stat_activity where wait_event_type = 'Lock' and query ~ 'update deliv'`,
      '1',
    )
    await other.query('commit')
    other.close()
    await ended
    expect(sql('select status, next_attempt_at from deliveries')).toBe('delivered|')
  })

  describe('what a node has read, and another one changes before it writes,', () => {
    /** Another transaction makes `changes`, which are committed once `work` waits for them in a statement like `waiting`. */
    const behind = async <T>(changes: readonly string[], waiting: string, work: () => Promise<T>): Promise<T> => {
      const other = await connectOther()
      await other.query('begin')
      for (const change of changes) await other.run(change)
      const result = work()
      await untilQuery(
        `select count(*) from pg_stat_activity where wait_event_type = 'Lock' and query ~ '${waiting}'`,
        '1',
      )
      await other.query('commit')
      other.close()
      return result
    }
    const erase = async (store: Store, email: string) => {
      await store.erasures.begin({ id: 'era_'.padEnd(30, '0'), organizationId: ORGANIZATION, email, now: START })
      return async () => {
        while (await store.erasures.step(START, () => false));
      }
    }

    test('stays delivered if it is an inbound delivery of a route that is removed', async () => {
      const one = await open()
      await found(one, records)
      const route = records.inboundRoute()
      await one.inboundRoutes.create(route, 'secret')
      await one.inbound.accept(records.acceptedInbound([route]))
      const delivered = [
        `update inbound_deliveries set status = 'delivered', attempts = 1, next_attempt_at = null`,
        `update inbound_messages set delivery_status = 'delivered'`,
      ]
      await behind(delivered, '^update inbound_deliveries', () => one.inboundRoutes.remove(route.id))
      expect(sql('select status from inbound_deliveries')).toBe('delivered')
      expect(sql('select delivery_status from inbound_messages')).toBe('delivered')
    })

    test('stays erased in the texts of a message', async () => {
      const one = await open()
      await found(one, records)
      const deliveries = ['ann', 'bob'].map((name) => ({
        email: `${name}@dest.example`,
        status: 'delivered' as const,
        nextAttemptAt: null,
      }))
      await accept(
        one,
        records.accepted({ status: 'delivered', subject: 'to ann@dest.example, bob@dest.example', deliveries }),
      )
      const erased = [`update messages set subject = 'to ann@dest.example, nobody'`]
      await behind(erased, '^update messages set stored_bytes', await erase(one, 'ann@dest.example'))
      expect(sql('select subject from messages')).toBe('to erased@erased.invalid, nobody')
    })

    test('stays erased among the targets that a mail was not forwarded to', async () => {
      const one = await open()
      await found(one, records)
      await one.inbound.accept(records.acceptedInbound([records.inboundRoute()]))
      sql(`update inbound_messages set not_forwarded = '["ann@dest.example","bob@dest.example"]'`)
      const erased = [`update inbound_messages set not_forwarded = '["ann@dest.example","nobody"]'`]
      await behind(erased, 'not_forwarded', await erase(one, 'ann@dest.example'))
      expect(sql('select not_forwarded from inbound_messages')).toBe('["erased@erased.invalid","nobody"]')
    })

    test('gets no notice of its beginning if it is an alert that ends', async () => {
      const one = await open()
      await one.alerts.save(alertOf(), null)
      await one.alerts.save(alertOf({ state: 'firing', raisedAt: START }), 'pending')
      const notice = { alertId: alertOf().id, channel: 'ops', event: 'firing', round: 0 } as const
      const ended = [`update alerts set state = 'resolved', resolved_at = ${START}`]
      await behind(ended, '^insert into alert_notices', () => one.alerts.addNotices([notice], START))
      expect(sql('select count(*) from alert_notices')).toBe('0')
    })

    test('is not retried beyond the limit of attempts if it is a post', async () => {
      const one = await open()
      await found(one, records)
      await one.webhooks.create(records.webhook(), 'whsec_a')
      await one.events.append([records.event()])
      const { webhookAttempts } = FIXED_LIMITS
      const last = [
        `update webhook_deliveries set status = 'failed', attempts = ${webhookAttempts}, next_attempt_at = null`,
      ]
      const id = sql('select id from webhook_deliveries')
      expect(await behind(last, 'for update', () => one.webhookDeliveries.retry(id, START))).toBe('limit')
    })

    test('is not asked again if it is a forward target whose owner stops the mail', async () => {
      const one = await open()
      await found(one, records)
      const ask = () => one.forwardTargets.ask(ORGANIZATION, 'ann@dest.example', START)
      expect(await ask()).toBe('asked')
      const stopped = [`update forward_targets set status = 'stopped'`]
      expect(await behind(stopped, '^insert into forward_targets', ask)).toBe('stopped')
      expect(sql('select status, asked_count from forward_targets')).toBe('stopped|1')
    })
  })

  test.each([
    ['was committed, repeats it', 'commit', 'rejected'],
    ['was not, makes its change', 'rollback', 'fulfilled'],
  ] as const)('a request whose key another node is just writing waits, and if that %s', async (_, end, status) => {
    const one = await open()
    await found(one, records)
    const answer = records.remember()
    const other = await connectOther()
    await other.query('begin')
    await other.run(`insert into idempotency values ($1, $2, $3, 202, '', $4)`, [
      ORGANIZATION,
      answer.keyHash,
      answer.requestHash,
      START,
    ])
    const volume = { organizationId: ORGANIZATION, month: '2026-11', count: 1, limit: -1 }
    const accepted = Promise.allSettled([one.messages.accept([records.accepted()], volume, answer)])
    await untilQuery(
      `select count(*) from pg_stat_activity where wait_event_type = 'Lock' and query ~ 'into idempotency'`,
      '1',
    )
    await other.query(end)
    other.close()
    expect((await accepted)[0]).toMatchObject({ status })
    expect(sql('select count(*) from messages')).toBe(status === 'fulfilled' ? '1' : '0')
    expect(sql('select count(*) from idempotency')).toBe('1')
  })

  test('a message that is cancelled while the other node records an attempt of it leaves the scheduled ones once', async () => {
    const one = await open()
    await found(one, records)
    const scheduled = () => records.accepted({ status: 'scheduled', scheduledAt: START + 60_000 })
    const { message } = await accept(one, scheduled())
    await accept(one, scheduled())
    const other = await connectOther()
    await other.query('begin')
    const of = 'where number = (select min(number) from'
    await other.run(`update deliveries set status = 'deferred' ${of} deliveries)`)
    await other.run(`update messages set status = 'deferred' ${of} messages)`)
    await other.run(`update usage set used = used - 1 where name = 'scheduled_messages'`)
    const cancelled = one.messages.cancel(message.id, START)
    await untilQuery(
      `select count(*) from pg_stat_activity where wait_event_type = 'Lock' and query ~ '^select d.number'`,
      '1',
    )
    await other.query('commit')
    other.close()
    expect(await cancelled).toBe('cancelled')
    expect((await one.usage.of(ORGANIZATION, START)).scheduledMessages).toBe(1)
    expect((await one.messages.get(message.id))?.status).toBe('cancelled')
  })

  test('who follows from the newest event on gets one that a slower node was writing before it', async () => {
    const one = await open()
    await found(one, records)
    const [first, slow, fast] = [records.event(), records.event(), records.event()]
    await one.events.append([first])
    const other = await connectOther()
    await other.query('begin')
    await other.run(
      `insert into events (number, id, organization_id, kind, type, mode, created_at, body)
        values (1000000, $1, $2, 1, 'message.delivered', 'live', $3, '{}')`,
      [slow.id, ORGANIZATION, START],
    )
    await one.events.append([fast])
    const newest = await one.events.newest(ORGANIZATION)
    expect(newest?.id).toBe(first.id)
    await other.query('commit')
    other.close()
    const { events } = await one.events.follow(ALL_EVENTS, newest!.place, 10)
    expect(events.map(({ id }) => id)).toEqual([slow.id, fast.id])
    expect((await one.events.newest(ORGANIZATION))?.id).toBe(fast.id)
  })

  test('a node that closes leaves its work to the other at once', async () => {
    const one = await open()
    await found(one, records)
    const two = await open()
    await together(one, two)
    await one.close()
    stores.shift()
    const ids = await acceptTo(two, 20)
    const claimed: string[] = []
    await until('the second node to claim all', async () => claimed.push(...(await claimAll(two))) >= ids.length)
    expect(claimed.sort()).toEqual(ids)
    expect(sql('select count(*) from lanes where ended_at is null and node_id = 1')).toBe('0')
  })

  test('what a killed node had claimed is claimed again after the takeover time', async () => {
    const one = await open({ takeoverMs: TAKEOVER_MS })
    await found(one, records)
    const child = startChild()
    await until('the child to be ready', () => child.lines.length > 0 && one.nodes.share().nodes === 2)
    const ids = await acceptTo(one, 40)
    await until('the child to claim all', () => child.lines.length === ids.length + 1)
    const theirs = child.lines.slice(1)
    tookOver = 0
    child.kill('SIGKILL')
    const again: string[] = []
    await until('the claims of the child', async () => again.push(...(await claimAll(one))) >= theirs.length)
    expect(again.sort()).toEqual(theirs.sort())
    expect(tookOver).toBe(1)
    const silentMs = sql(`select extract(epoch from ended_at - seen_at) * 1000 from nodes where name = 'child'`)
    expect(Number(silentMs)).toBeGreaterThanOrEqual(TAKEOVER_MS)
  })

  test('a node that starts again records what it had sent before the other one may claim it', async () => {
    const one = await open()
    await found(one, records)
    const two = await open({ name: 'restarted' })
    await together(one, two)
    const ids = await acceptTo(two, 4)
    const claims = await claim(two, { worker: 'before' })
    expect(claims.map(({ message }) => message.id).sort()).toEqual(ids)
    const [lost] = await acceptTo(one, 1)
    expect(await claimAll(one)).toEqual([lost!])
    // Only who reads what is due finds this.
    sql(`update deliveries set worker = null, next_attempt_at = ${START - 5_000}
      where message_number = (select number from messages where id = '${lost}')`)
    // As a process that was killed: it closes nothing.
    const node = { name: 'restarted', takeoverMs: NEVER_MS, observer }
    const again = await openPostgresStore({ url, dataDir: folders[1]!, now: START, node })
    stores.push(again)
    await untilClaimed(one, [lost!])
    expect(await claimAll(one)).toEqual([])
    for (const sent of claims.slice(1)) expect(await again.deliveries.record(recordOf(sent))).toBe('recorded')
    expect(await again.workers.ended('after')).toEqual(['before'])
    await again.deliveries.endLeases('before', new Set(), START)
    await untilClaimed(again, [claims[0]!.message.id])
  })

  test('a node that stood still is ended, writes nothing when it continues, and stops', async () => {
    const one = await open({ takeoverMs: TAKEOVER_MS })
    await found(one, records)
    const child = startChild('claims', TAKEOVER_MS)
    await until('the child to be ready', () => child.lines.length > 0 && one.nodes.share().nodes === 2)
    child.kill('SIGSTOP')
    await untilQuery('select count(*) from nodes where ended_at is null', '1')
    const ids = await acceptTo(one, 20)
    const claimed: string[] = []
    await until('the first node to claim all', async () => claimed.push(...(await claimAll(one))) >= ids.length)
    child.kill('SIGCONT')
    expect(await child.exited).toBe(4)
    expect(claimed.sort()).toEqual(ids)
    expect(child.lines).toEqual(['ready'])
  })

  describe('what the other node was about to write', () => {
    /** Runs `insert` in a group of the other node, which is committed once `remove` waits for it. */
    const duringGroup = async (insert: (group: Connection) => Promise<unknown>, remove: () => Promise<unknown>) => {
      await open()
      const group = await connectOther()
      await group.query('begin')
      await group.run('update lanes set group_no = group_no where id = (select max(id) from lanes)')
      await insert(group)
      const removed = remove()
      await untilQuery(
        `select count(*) from pg_stat_activity where wait_event_type = 'Lock' and query ~ 'for share'`,
        '1',
      )
      await group.query('commit')
      group.close()
      await removed
    }
    test('to a removed route is failed', async () => {
      const one = await open()
      await found(one, records)
      const route = records.inboundRoute()
      await one.inboundRoutes.create(route, 'secret')
      const delivery = `(number, id, message_number, route_id, status, attempts, next_attempt_at, created_at)
        values (1, 'whd_late', 1, $1, 'pending', 0, 0, 0)`
      await duringGroup(
        (group) => group.run(`insert into inbound_deliveries ${delivery}`, [route.id]),
        () => one.inboundRoutes.remove(route.id),
      )
      expect(sql('select status, next_attempt_at is null from inbound_deliveries')).toBe('failed|t')
    })

    test('to a removed webhook is removed', async () => {
      const one = await open()
      await found(one, records)
      const hook = records.webhook()
      await one.webhooks.create(hook, 'whsec_a')
      const delivery = `(number, id, webhook_id, event_number, type, status, attempts, next_attempt_at, created_at)
        values (1, 'whd_late', $1, 1, 'message.delivered', 'pending', 0, 0, 0)`
      await duringGroup(
        (group) => group.run(`insert into webhook_deliveries ${delivery}`, [hook.id]),
        () => one.webhooks.remove(hook.id),
      )
      expect(sql('select count(*) from webhook_deliveries')).toBe('0')
    })
  })

  test('a command waits for the database for longer than a node, whose callers ask again', async () => {
    const server = await open()
    const command = await open({ isCommand: true })
    await postgres.halt('fast')
    const written = command.organizations.create(records.organization({ id: ORGANIZATION }))
    const read = command.invitations.find(records.hash(), START)
    await expect(accept(server, records.accepted())).rejects.toBeInstanceOf(StoreUnavailable)
    await postgres.resume()
    await written
    expect(await read).toBeNull()
    expect(sql('select id from organizations')).toBe(ORGANIZATION)
  })

  test('both nodes continue after the database was away for longer than the takeover time', async () => {
    const one = await open({ takeoverMs: TAKEOVER_MS })
    await found(one, records)
    const two = await open({ takeoverMs: TAKEOVER_MS })
    await together(one, two)
    const [key, hash] = [records.apiKey(), records.hash()]
    await one.apiKeys.create(key, hash)
    expect(two.snapshot.apiKeyBySecret(hash)?.id).toBe(key.id)
    await postgres.halt('fast')
    await Bun.sleep(1.2 * TAKEOVER_MS)
    // Another node could have revoked it.
    for (const { snapshot } of [one, two]) expect(() => snapshot.apiKeyBySecret(hash)).toThrow(StoreUnavailable)
    await postgres.resume()
    await until(
      'the first node to accept',
      async () => (await accept(one, records.accepted()).catch(() => null)) !== null,
    )
    await until(
      'the second node to accept',
      async () => (await accept(two, records.accepted()).catch(() => null)) !== null,
    )
    // A node that was ended has no beats. Once both have had one, neither seems to have been silent.
    await untilQuery('select count(*) from nodes where seen_at > pg_postmaster_start_time()', '2')
    expect(sql('select count(*) from nodes where ended_at is null')).toBe('2')
    // Once it has the answer to its beat.
    await until('the second node to be current', () => {
      try {
        return two.snapshot.apiKeyBySecret(hash)?.id === key.id
      } catch (error) {
        expect(error).toBeInstanceOf(StoreUnavailable)
        return false
      }
    })
  })

  test('a record of a node that was ended is not written', async () => {
    const one = await open()
    await found(one, records)
    await acceptTo(one, 1)
    const [claimed] = await claim(one)
    sql('update nodes set ended_at = now(); update lanes set ended_at = now()')
    await expect(one.deliveries.record(recordOf(claimed!))).rejects.toThrow('another node ended this one')
    expect(sql('select count(*) from attempts')).toBe('0')
  })

  /** Starts a node as a process of its own. */
  function startChild(what: 'claims' | 'leads' = 'claims', takeoverMs = NEVER_MS) {
    const script = join(import.meta.dir, 'node-process.ts')
    const child = Bun.spawn([process.execPath, script, url, folder(), String(START), String(takeoverMs), what], {
      stdout: 'pipe',
    })
    children.push(child)
    const lines: string[] = []
    void (async () => {
      let rest = ''
      for await (const chunk of child.stdout.pipeThrough(new TextDecoderStream())) {
        const parts = `${rest}${chunk}`.split('\n')
        rest = parts.pop() ?? ''
        lines.push(...parts)
      }
    })()
    return { lines, kill: (signal: NodeJS.Signals) => child.kill(signal), exited: child.exited }
  }
})
