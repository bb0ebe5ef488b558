import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'bun:test'
import { copyFileSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createEventStream } from '../../../src/events/event-stream/event-stream.ts'
import type { ReportedSource } from '../../../src/mail/aggregate-report.ts'
import { destinationOf } from '../../../src/model/delivery.ts'
import { MAX_INVITATIONS } from '../../../src/model/invitation.ts'
import { FIXED_LIMITS } from '../../../src/model/limits.ts'
import { type Plan, UNLIMITED_PLAN } from '../../../src/model/organization.ts'
import type { ReceivedReport } from '../../../src/model/policy-report.ts'
import { LARGE_REPORTERS } from '../../../src/model/reporter.ts'
import { FIRST_USER } from '../../../src/model/user.ts'
import { createNotifier } from '../../../src/os/notifier.ts'
import { parseDatabaseUrl } from '../../../src/storage/postgres/address.ts'
import { type Connection, connect } from '../../../src/storage/postgres/connection.ts'
import type { NodeOptions } from '../../../src/storage/postgres/distribution.ts'
import { openPostgresStore } from '../../../src/storage/postgres/open.ts'
import { slotOf } from '../../../src/storage/slots.ts'
import { AlreadyRemembered, type ClaimedDelivery, type Store, StoreUnavailable } from '../../../src/storage/store.ts'
import { ANY } from '../../support/claim.ts'
import { createFakeClock } from '../../support/fake-clock.ts'
import { until } from '../../support/patience.ts'
import { describeWithPostgres, startPostgres, type TestPostgres } from '../../support/postgres.ts'
import { entry } from '../contract-audit-log.ts'
import { template } from '../contract-limits.ts'
import { reportOf } from '../contract-policy-reports.ts'
import { user } from '../contract-users.ts'
import { createMigrated } from '../migrated.ts'
import { accept, claim, createRecords, found, ORGANIZATION, type Records, recordOf, START } from '../records.ts'

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
  /** Both nodes own slots, and every slot has an owner. */
  const shared = () => untilQuery('select count(node_id) = 256 and count(distinct node_id) = 2 from slots', 'true')
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
  /** Domains that a store would claim now, which are put back. */
  const planned = async (store: Store) => {
    const plan = await store.deliveries.planClaims({ now: START, limit: 100, look: ANY })
    await store.deliveries.putBack(plan)
    return plan.map(({ key }) => destinationOf(key))
  }
  const claimAll = async (store: Store) => (await claim(store)).map(({ message }) => message.id)

  /** Claims these messages at two nodes → what each got. Each message is claimed once. */
  const claimedBy = async (one: Store, two: Store, ids: readonly string[]) => {
    const claimed: [string[], string[]] = [[], []]
    await until('each node to plan its own', async () => {
      claimed[0].push(...(await claimAll(one)))
      claimed[1].push(...(await claimAll(two)))
      return claimed.flat().length >= ids.length
    })
    expect(claimed.flat().sort()).toEqual(ids.toSorted())
    return claimed
  }

  test('mail accepted by one node is claimed by the node that handles its destination, once', async () => {
    const one = await open()
    await found(one, records)
    const two = await open()
    await shared()
    const ids = await acceptTo(one, 40)
    const claimed = await claimedBy(one, two, ids)
    expect(claimed[0].length).toBeGreaterThan(5)
    expect(claimed[1].length).toBeGreaterThan(5)
    expect([await claimAll(one), await claimAll(two)]).toEqual([[], []])
  })

  test('all queues of a destination are at one node, whichever node learned of it', async () => {
    const one = await open()
    await found(one, records)
    const two = await open()
    await shared()
    const ids = await acceptTo(one, 40)
    // Each node notes what it looks up before it claims.
    const note = async (store: Store) => {
      const domains = await planned(store)
      await Promise.all(domains.map((domain) => store.deliveries.shareLimits(domain, 'provider.example')))
    }
    await until('each node to plan its own', async () => {
      await Promise.all([note(one), note(two)])
      return sql(`select count(*) from destinations where destination = 'provider.example'`) === '40'
    })
    const claimed = await claimedBy(one, two, ids)
    expect(claimed.map(({ length }) => length).sort()).toEqual([0, 40])
    const [owner, other] = claimed[0].length > 0 ? [one, two] : [two, one]
    // Also new mail, through the node that does not handle it.
    const more = await acceptTo(other, 3)
    await until('three plans of the owner', async () => (await planned(owner)).length === 3)
    expect(await planned(other)).toEqual([])
    await owner.close()
    stores = stores.filter((store) => store !== owner)
    await untilQuery('select count(distinct node_id) from slots', '1')
    // With the claims of the node that ended.
    await until('all plans of the other node', async () => (await planned(other)).length === 40)
    expect((await claimAll(other)).sort()).toEqual([...ids, ...more].sort())
    expect(await other.deliveries.shareLimits('d0.example', 'd0.example')).toBeUndefined()
    expect(sql(`select destination from destinations where domain = 'd0.example'`)).toBe('d0.example')
  })

  test('where limits hold for each node, the mail of one domain is at both', async () => {
    const limits = { ofAll: null, areOfNode: true }
    const one = await open({ limits })
    await found(one, records)
    const two = await open({ limits })
    await shared()
    const ids: string[] = []
    for (let n = 0; n < 60; n++) {
      const { message } = await accept(one, records.accepted({ deliveries: [{ email: 'ann@large.example' }] }))
      ids.push(message.id)
    }
    const claimed = await claimedBy(one, two, ids)
    for (const { length } of claimed) expect(length).toBeGreaterThan(5)
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
    sql(`create function wait() returns trigger language plpgsql as 'begin perform pg_advisory_xact_lock(77); return null; end';
      create constraint trigger waits after insert on audit_log deferrable initially deferred
        for each row execute function wait()`)
    const [holder, other] = [await connectOther(), await connectOther()]
    await holder.query('select pg_advisory_lock(77)')
    const note = { isKept: false, entry: () => entry(1) }
    const removed = one.auditLog.during(note, () => one.suppressions.remove([suppression.id], START))
    const waiting = `from pg_locks where locktype = 'advisory' and objid = 77 and not granted`
    await untilQuery(`select count(*) ${waiting}`, '1')
    await other.query('begin')
    const theirs = other.run('delete from suppressions where id = $1', [suppression.id])
    await untilQuery(`select count(*) from pg_stat_activity where wait_event_type = 'Lock' and query ~ '^delete'`, '1')
    sql(`select pg_cancel_backend(pid) ${waiting}`)
    expect(await theirs).toBe(1)
    await other.query('commit')
    expect([await removed, note.isKept, sql('select count(*) from audit_log')]).toEqual([0, false, '0'])
    for (const connection of [holder, other]) connection.close()
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
    const { message } = await accept(two, records.accepted({ deliveries: [{ email: closed.email }] }))
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
    const holder = sql(`select count(*) from delivery_queue where message_id = '${message.id}'`)
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
    // Places follow the clock.
    const moving = { clock: () => START + performance.now() }
    /** Of each node: when it had beats. */
    const beats: [number[], number[]] = [[], []]
    const one = await open({ ...moving, onTime: () => beats[0].push(performance.now()) })
    await found(one, records)
    const notifier = createNotifier(async () => {})
    const onEvents = (id: string) => notifier.notify(`events of ${id}`)
    const two = await open({ ...moving, onEvents, onTime: () => beats[1].push(performance.now()) })
    // Its clock stands still, so that only notifications wake it.
    const clock = createFakeClock(START)
    const stream = createEventStream({ events: two.events, clock, lookMs: 1_000, on: notifier.on })
    const all = { organizationId: ORGANIZATION, types: null, messageId: null, domainId: null, mode: null }
    const follower = stream.follow(all, { id: null, place: 0 })
    const seen = new Set<string>()
    const following = (async () => {
      for (let events = await follower.next(); events.length > 0; events = await follower.next()) {
        for (const { id } of events) {
          expect(seen).not.toContain(id)
          seen.add(id)
        }
      }
    })()
    /** How many beats came soon after the one before: at least 250 ms lie between two, and 50 ms while someone follows. */
    const quick = (at: readonly number[]) => at.filter((time, n) => n > 0 && time - at[n - 1]! < 200).length
    const written: string[] = []
    await until('events to arrive while others keep coming, with more beats of both nodes', async () => {
      const event = records.event()
      await (written.length % 4 === 0 ? two : one).events.append([event])
      written.push(event.id)
      await Bun.sleep(written.length % 7)
      const first = written.slice(0, 80)
      return first.length === 80 && first.every((id) => seen.has(id)) && beats.every((at) => quick(at) >= 10)
    })
    await until('every written event to arrive', () => written.every((id) => seen.has(id)))
    follower.end()
    await following
    expect([...seen]).toEqual(sql('select id from events order by place').split('\n'))
    await until('the usual beats', () => beats.every((at) => at.length > 5 && quick(at.slice(-5)) === 0))
  })

  test('a clock that was set back moves the waits of its own node only', async () => {
    const one = await open()
    await found(one, records)
    const two = await open()
    await shared()
    for (let n = 0; n < 30; n++) {
      const queued = { email: `a@d${n}.example`, destination: `d${n}.example`, nextAttemptAt: START + 3_600_000 }
      await accept(one, records.accepted({ createdAt: START + 3_000_000, deliveries: [queued] }))
    }
    const due = () => Number(sql(`select count(*) from delivery_queue where due_at = ${START}`))
    const walk = async (store: Store) => {
      while (await store.deliveries.endFutureWaits(START));
    }
    await walk(one)
    const ofOne = due()
    expect(ofOne).toBeGreaterThan(3)
    expect(ofOne).toBeLessThan(27)
    await walk(one)
    expect(due()).toBe(ofOne)
    await walk(two)
    expect(due()).toBe(30)
    const [first, second] = [await claimAll(one), await claimAll(two)]
    expect([first.length, second.length]).toEqual([ofOne, 30 - ofOne])
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

  test('a node that closes leaves its work to the other at once', async () => {
    const one = await open()
    await found(one, records)
    const two = await open()
    await shared()
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
    await shared()
    const ids = await acceptTo(one, 40)
    const mine: string[] = []
    await until(
      'both nodes to claim all',
      async () => mine.push(...(await claimAll(one))) + child.lines.length >= ids.length + 1,
    )
    const theirs = child.lines.slice(1)
    expect(theirs.length).toBeGreaterThan(5)
    tookOver = 0
    child.kill('SIGKILL')
    const again: string[] = []
    await until('the claims of the child', async () => again.push(...(await claimAll(one))) >= theirs.length)
    expect(again.sort()).toEqual(theirs.sort())
    expect(tookOver).toBe(1)
    const silentMs = sql(`select extract(epoch from ended_at - seen_at) * 1000 from nodes where name = 'child'`)
    expect(Number(silentMs)).toBeGreaterThanOrEqual(TAKEOVER_MS)
    expect(sql('select count(distinct node_id) from slots')).toBe('1')
  })

  test('a node that stood still is ended, writes nothing when it continues, and stops', async () => {
    const one = await open({ takeoverMs: TAKEOVER_MS })
    await found(one, records)
    const child = startChild('claims', TAKEOVER_MS)
    await shared()
    child.kill('SIGSTOP')
    await untilQuery('select count(*) from nodes where ended_at is null', '1')
    await untilQuery('select count(distinct node_id) from slots where node_id is not null', '1')
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
      await group.run('update lanes set group_no = group_no where seat = (select max(seat) from lanes)')
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
    const queue = '(id, organization_id, slot, key, due_at, accepted_at) values ($1, $2, $3, $4, $5, $5)'
    const row = (key: string) => ['whd_late', ORGANIZATION, slotOf(key), key, START]

    test('to a removed route is failed', async () => {
      const one = await open()
      await found(one, records)
      const route = records.inboundRoute()
      await one.inboundRoutes.create(route, 'secret')
      const delivery = `(id, message_id, route_id, status, created_at) values ('whd_late', 'inb_late', $1, 'pending', 0)`
      await duringGroup(
        async (group) => {
          await group.run(`insert into inbound_queue ${queue}`, row(route.id))
          await group.run(`insert into inbound_deliveries ${delivery}`, [route.id])
        },
        () => one.inboundRoutes.remove(route.id),
      )
      expect(sql('select status from inbound_deliveries')).toBe('failed')
      expect(sql('select count(*) from inbound_queue')).toBe('0')
    })

    test('to a removed webhook is removed', async () => {
      const one = await open()
      await found(one, records)
      const hook = records.webhook()
      await one.webhooks.create(hook, 'whsec_a')
      const delivery = `(id, organization_id, webhook_id, event_id, type, created_at)
        values ('whd_late', $1, $2, 'evt_late', 'message.delivered', 0)`
      await duringGroup(
        async (group) => {
          await group.run(`insert into webhook_queue ${queue}`, row(hook.id))
          await group.run(`insert into webhook_deliveries ${delivery}`, [ORGANIZATION, hook.id])
        },
        () => one.webhooks.remove(hook.id),
      )
      expect(sql('select (select count(*) from webhook_deliveries) + (select count(*) from webhook_queue)')).toBe('0')
    })
  })

  test('both nodes continue after the database was away for longer than the takeover time', async () => {
    const one = await open({ takeoverMs: TAKEOVER_MS })
    await found(one, records)
    const two = await open({ takeoverMs: TAKEOVER_MS })
    await shared()
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
    expect(sql('select count(*) from delivery_outcomes')).toBe('0')
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
