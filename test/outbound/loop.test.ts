import { afterEach, describe, expect, test } from 'bun:test'
import { mkdirSync, mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { packContent } from '../../src/mail/content.ts'
import { NO_RECIPIENT_PARTS } from '../../src/mail/recipient-parts.ts'
import { createVerp } from '../../src/mail/verp.ts'
import { type Outcome, SANDBOX, UNTRIED } from '../../src/model/delivery.ts'
import { USUAL_HARD } from '../../src/model/hard-bounces.ts'
import { type Message, NO_SENDER_FIELDS } from '../../src/model/message.ts'
import { suppressionOf } from '../../src/model/suppression.ts'
import type { Lookup, MxRecord } from '../../src/net/dns/resolver.ts'
import { createMintId } from '../../src/os/ids.ts'
import { silentLog } from '../../src/os/log.ts'
import { createMailLog } from '../../src/os/mail-log.ts'
import { systemRandom } from '../../src/os/random.ts'
import type { AttemptJob, AttemptResult } from '../../src/sending/outbound/job.ts'
import { createDeliveredJournal, journalPath, type Note } from '../../src/sending/outbound/journal/delivered-journal.ts'
import { recordDelivered } from '../../src/sending/outbound/journal/record-delivered.ts'
import { poisoned } from '../../src/sending/outbound/outcome.ts'
import { DeliveryQueue } from '../../src/sending/outbound/queue.ts'
import type { ConfiguredTerms } from '../../src/sending/outbound/schedule/destination-limits.ts'
import { createParsing } from '../../src/server/parsing/parsing.ts'
import { createPerform } from '../../src/server/parsing/perform.ts'
import { type Store, StoreUnavailable } from '../../src/storage/store.ts'
import { claimDue } from '../support/claim.ts'
import { createFakeClock, type FakeClock } from '../support/fake-clock.ts'
import { openMemoryStore } from '../support/migrated-store.ts'
import { until } from '../support/patience.ts'

const START = Date.UTC(2026, 10, 21, 9)
const CAUSE = { class: 'test', rule: 'scripted' }
const OK: Note['outcome'] = { kind: 'delivered', reply: { code: 250, enhanced: '2.0.0', text: 'OK' } }
const BUSY: Outcome = {
  kind: 'deferred',
  code: '4.3.0',
  message: '451 4.3.0 busy',
  aboutRecipient: false,
  cause: CAUSE,
}
const SLOWER: Outcome = {
  kind: 'deferred',
  code: '4.7.28',
  message: '421 4.7.28 unusual rate',
  aboutRecipient: false,
  cause: CAUSE,
}
const FULL: Outcome = { kind: 'deferred', code: '4.2.2', message: '452 4.2.2 full', aboutRecipient: true, cause: CAUSE }
const GONE: Outcome = { kind: 'bounced', bounceType: 'hard', code: '5.1.1', message: '550 5.1.1 no', cause: CAUSE }

const CONTENT = packContent({
  from: { name: null, local: 'us', domain: 'acme.example', address: 'us@acme.example' },
  to: [],
  cc: [],
  replyTo: [],
  subject: 'Hello',
  dateAt: START,
  messageId: '<1@acme.example>',
  html: '<a href="https://acme.example/go">go</a>',
  text: null,
  headers: [],
  attachments: [],
  boundarySeed: 'seed',
})

interface OpenedLoop {
  store: Store
  clock: FakeClock
  loop: DeliveryQueue
  /** Every attempt, as `seconds since the start recipient`. */
  tried: string[]
  jobs: AttemptJob[]
  queue(to: string[], change?: Partial<Message>): Promise<Message>
  published(message: Message): Promise<string[]>
}

const opened: OpenedLoop[] = []
afterEach(async () => {
  for (const open of opened.splice(0)) {
    const stopped = open.loop.stop(0)
    await open.clock.advance(0)
    await stopped
    await open.store.close()
  }
})

/** At once: the clock is stopped meanwhile. */
const perform = createPerform()

/** The loop over a real store; `answer` replaces the delivery threads. */
async function open(
  answer: (job: AttemptJob) => Outcome | Promise<Outcome>,
  settings: {
    maxInFlight?: number
    maxPerDestination?: number
    destinations?: Record<string, ConfiguredTerms>
    mx?: (domain: string) => Lookup<MxRecord>
  } = {},
): Promise<OpenedLoop> {
  const clock = createFakeClock(START)
  const store = await openMemoryStore()
  const mintId = createMintId(clock, systemRandom)
  const tried: string[] = []
  const jobs: AttemptJob[] = []
  await store.organizations.create({ id: 'org_1', name: 'Acme', plan: 'enterprise', createdAt: START })
  const attempt = async (job: AttemptJob): Promise<AttemptResult> => {
    const startedAt = clock.now()
    tried.push(`${(startedAt - START) / 1000} ${job.recipient}`)
    jobs.push(job)
    const outcome = await answer(job)
    return { deliveryId: job.deliveryId, outcome, attempt: attemptOf(job, outcome, startedAt), tlsSessions: [] }
  }
  const loop = new DeliveryQueue(
    {
      store,
      ...createParsing(async (job) => perform(job)),
      clock,
      random: { bytes: systemRandom.bytes, fraction: () => 0.5 },
      mintId,
      verp: createVerp(new Uint8Array(32)),
      recipientParts: () => NO_RECIPIENT_PARTS,
      workerId: 'w1',
      settings: {
        retryScheduleSeconds: [60, 300, 900],
        maxAgeSeconds: 3_600,
        requireVerified: false,
        hardBounces: USUAL_HARD,
        maxInFlight: settings.maxInFlight ?? 100,
        maxPerDestination: settings.maxPerDestination ?? 5,
        destinations: settings.destinations ?? {},
        share: 'cluster',
      },
      notify: () => {},
      log: silentLog,
      mailLog: createMailLog(silentLog),
    },
    { resolver: { mx: async (domain) => settings.mx?.(domain) ?? { kind: 'no_data' } } },
    { attempts: { attempt, written: () => {}, closeIdle: () => {} } },
  )
  const made: OpenedLoop = {
    store,
    clock,
    loop,
    tried,
    jobs,
    queue: async (to, change = {}) => {
      const message = messageOf(mintId('msg'), to, clock.now(), change)
      await store.messages.accept(
        [
          {
            message,
            content: CONTENT,
            deliveries: to.map((email, position) => ({
              id: mintId('dlv'),
              position,
              email,
              type: 'to' as const,
              destination: change.mode === 'test' ? SANDBOX : email.split('@')[1]!,
              status: 'queued' as const,
              nextAttemptAt: clock.now(),
              ...UNTRIED,
            })),
            attempts: [],
            events: [],
            suppressions: [],
          },
        ],
        { organizationId: 'org_1', month: '2026-11', count: to.length, limit: -1 },
      )
      loop.wake()
      return message
    },
    published: async (message) => {
      const filter = { organizationId: 'org_1', type: null, messageId: message.id, domainId: null, mode: null }
      const feed = await store.events.feed({ ...filter, createdAfter: null, createdBefore: null }, null, 100)
      return feed!.records.map(({ type, createdAt, body }) => {
        const { bounce_type, will_retry } = JSON.parse(body).data
        const bounce = bounce_type === undefined ? '' : ` ${bounce_type}${will_retry ? ' will retry' : ''}`
        return `${(createdAt - START) / 1000} ${type}${bounce}`
      })
    },
  }
  opened.push(made)
  loop.start()
  return made
}

describe('large mail', () => {
  const MB = 2 ** 20
  const large = { sizeBytes: 20 * MB }
  const pending = () => {
    const { promise, resolve } = Promise.withResolvers<Outcome>()
    return { promise, end: () => resolve(OK) }
  }

  test('waits for memory, of which one destination uses at most half; small mail does not wait', async () => {
    const held = new Map<string, ReturnType<typeof pending>>()
    const { clock, queue, tried } = await open((job) => {
      if (!job.recipient.startsWith('large')) return OK
      const one = pending()
      held.set(job.recipient, one)
      return one.promise
    })
    await queue(['large1@slow.example', 'large2@slow.example', 'large3@slow.example'], large)
    await clock.advance(1_000)
    expect(tried).toEqual(['0 large1@slow.example'])
    await queue(['large4@other.example', 'large5@third.example', 'large6@fourth.example'], large)
    await queue(['small@slow.example', 'small@other.example'])
    await clock.advance(1_000)
    expect(tried.slice(1).sort()).toEqual([
      '1 large4@other.example',
      '1 large5@third.example',
      '1 small@other.example',
      '1 small@slow.example',
    ])
    held.get('large4@other.example')!.end()
    await clock.advance(1_000)
    expect(tried.slice(5)).toEqual(['2 large6@fourth.example'])
    held.get('large1@slow.example')!.end()
    await clock.advance(1_000)
    expect(tried.slice(6)).toEqual(['3 large2@slow.example'])
    for (const one of held.values()) one.end()
    await clock.advance(1_000)
    held.get('large3@slow.example')!.end()
  })

  test('that gets no memory for twenty minutes returns to the queue without an attempt', async () => {
    const one = pending()
    const { clock, queue, store, jobs } = await open((job) =>
      job.attempt === 1 && jobs.length === 1 ? one.promise : OK,
    )
    await queue(['first@slow.example'], large)
    await clock.advance(0)
    const message = await queue(['second@slow.example'], large)
    await clock.advance(20 * 60_000 - 1)
    expect((await store.messages.deliveries(message.id))[0]).toMatchObject({ attempts: 1, nextAttemptAt: null })
    await clock.advance(30 * 60_000)
    one.end()
    await clock.advance(0)
    expect(jobs.map(({ recipient, attempt }) => `${recipient} ${attempt}`)).toEqual([
      'first@slow.example 1',
      'second@slow.example 1',
    ])
  })

  test('has its content, also when many ask for it at once', async () => {
    const { clock, queue, jobs } = await open(() => OK)
    await queue(['a@one.example', 'b@two.example', 'c@three.example', 'd@four.example', 'e@five.example'], large)
    await clock.advance(0)
    expect(jobs.map(({ content }) => Buffer.compare(content, CONTENT))).toEqual([0, 0, 0, 0, 0])
  })

  test('that cannot be read is deferred, and no thread gets it', async () => {
    const { clock, queue, store, published, jobs } = await open(() => OK)
    const { content } = store.deliveries
    store.deliveries.content = () => Promise.reject(new Error('the disk cannot be read'))
    const message = await queue(['ann@one.example'], large)
    await clock.advance(0)
    expect(jobs).toEqual([])
    expect(await published(message)).toEqual(['0 message.deferred'])
    store.deliveries.content = content
    await clock.advance(60_000)
    expect(await published(message)).toEqual(['0 message.deferred', '60 message.delivered'])
  })

  test('that waits when the server stops is due again at once', async () => {
    const { clock, queue, store, loop } = await open(() => new Promise(() => {}))
    await queue(['first@slow.example'], large)
    await clock.advance(0)
    const message = await queue(['second@slow.example'], large)
    await clock.advance(0)
    const stopped = loop.stop(1_000)
    await clock.advance(1_000)
    await stopped
    expect((await store.messages.deliveries(message.id))[0]).toMatchObject({ attempts: 0, nextAttemptAt: START })
  })
})

describe('a delivery', () => {
  test('that is accepted is reported as delivered, once', async () => {
    const { clock, queue, published, store, jobs } = await open(() => OK)
    const message = await queue(['ann@example.com'])
    await clock.advance(0)
    expect(await published(message)).toEqual(['0 message.delivered'])
    expect((await store.messages.get(message.id))!.status).toBe('delivered')
    expect(jobs[0]!.returnPath).toMatch(/^b-[0-9a-z]{26}-[0-9a-z]{12}@$/)
    const [delivery] = await store.messages.deliveries(message.id)
    expect(delivery).toMatchObject({
      status: 'delivered',
      attempts: 1,
      nextAttemptAt: null,
      smtpResponse: '250 2.0.0 OK',
    })
  })

  test('deferred three times follows the retry schedule and reports each deferral, then the delivery', async () => {
    const outcomes = [BUSY, BUSY, BUSY, OK]
    const { clock, queue, published, tried } = await open(() => outcomes.shift()!)
    const message = await queue(['ann@example.com'])
    await clock.advance(3_600_000)
    expect(tried).toEqual(['0 ann@example.com', '60 ann@example.com', '360 ann@example.com', '1260 ann@example.com'])
    expect(await published(message)).toEqual([
      '0 message.deferred',
      '60 message.deferred',
      '360 message.deferred',
      '1260 message.delivered',
    ])
  })

  test('that exceeds its maximum age is a soft bounce and suppresses no address', async () => {
    const { clock, queue, published, store } = await open(() => BUSY)
    const message = await queue(['ann@example.com'])
    await clock.advance(7_200_000)
    const events = await published(message)
    expect(events.at(-1)).toBe('3060 message.bounced soft')
    expect(events.filter((event) => event.includes('bounced'))).toHaveLength(1)
    expect(await store.suppressions.find('org_1', 'ann@example.com')).toEqual([])
  })

  test('with a full mailbox reports the soft bounce once and continues', async () => {
    const outcomes = [FULL, FULL, OK]
    const { clock, queue, published } = await open(() => outcomes.shift()!)
    const message = await queue(['ann@example.com'])
    await clock.advance(3_600_000)
    expect(await published(message)).toEqual([
      '0 message.deferred',
      '0 message.bounced soft will retry',
      '60 message.deferred',
      '360 message.delivered',
    ])
  })

  test('to an address that does not exist bounces hard and is suppressed', async () => {
    const { clock, queue, published, store } = await open(() => GONE)
    const message = await queue(['Ann@Example.com'])
    await clock.advance(0)
    expect(await published(message)).toEqual(['0 message.bounced hard'])
    const [suppression] = await store.suppressions.find('org_1', 'ann@example.com')
    expect(suppression).toMatchObject({ reason: 'hard_bounce', domainId: null, messageId: message.id })
  })

  test('that expires while it waits is not tried again', async () => {
    const { clock, queue, published, tried } = await open(() => BUSY)
    const message = await queue(['ann@example.com'], { expiresAt: START + 30_000 })
    await clock.advance(3_600_000)
    expect(tried).toEqual(['0 ann@example.com'])
    expect(await published(message)).toEqual(['0 message.bounced soft'])
  })

  test('that had expired before its turn came is not tried at all', async () => {
    const { clock, queue, published, tried } = await open(() => OK)
    const message = await queue(['ann@example.com'], { expiresAt: START })
    await clock.advance(0)
    expect(tried).toEqual([])
    expect(await published(message)).toEqual(['0 message.bounced soft'])
  })

  test('is not tried again after its recipient left the stream; mail of another stream is', async () => {
    const { clock, queue, published, tried, store } = await open(() => BUSY)
    const bulk = await queue(['ann@example.com', 'bob@example.com'], { stream: 'bulk' })
    const other = await queue(['Ann@example.com'])
    await clock.advance(1_000)
    await store.suppressions.add(suppressionOf('sup_1', 'unsubscribe', bulk, 'ann@example.com', clock.now()))
    await clock.advance(61_000)
    await until('both others to be tried again', async () => {
      await clock.advance(1_000)
      return tried.length >= 5
    })
    const triesOf = (email: string) => tried.filter((each) => each.endsWith(` ${email}`)).length
    expect(['ann@example.com', 'bob@example.com', 'Ann@example.com'].map(triesOf)).toEqual([1, 2, 2])
    const [ann, bob] = await store.messages.deliveries(bulk.id)
    expect([ann, bob]).toMatchObject([
      { status: 'suppressed', attempts: 1, lastAttemptAt: START, nextAttemptAt: null },
      { status: 'deferred', attempts: 2 },
    ])
    expect((await published(bulk)).filter((event) => !event.includes('deferred'))).toEqual(['60 message.suppressed'])
    expect(await published(other)).not.toContain('60 message.suppressed')
  })

  test.each([
    ['bulk', 'complaint', true],
    ['bulk', 'hard_bounce', true],
    ['transactional', 'hard_bounce', true],
    ['transactional', 'complaint', false],
    ['transactional', 'unsubscribe', false],
  ] as const)('of the stream %s heeds a %s that came since from bulk mail: %p', async (stream, reason, isHeeded) => {
    const { clock, queue, tried, store } = await open(() => OK)
    const cause = { ...messageOf('msg_other', [], START, {}), stream: 'bulk' }
    await store.suppressions.add(suppressionOf('sup_1', reason, cause, 'ann@example.com', START))
    const message = await queue(['ann@example.com'], { stream })
    await clock.advance(0)
    expect(tried).toEqual(isHeeded ? [] : ['0 ann@example.com'])
    const [delivery] = await store.messages.deliveries(message.id)
    expect(delivery).toMatchObject(isHeeded ? { status: 'suppressed', attempts: 0 } : { status: 'delivered' })
  })

  test('waits while the store cannot say whether its recipient is suppressed', async () => {
    const { clock, queue, tried, store } = await open(() => OK)
    const { among } = store.suppressions
    store.suppressions.among = () => Promise.reject(new Error('disk I/O error'))
    const message = await queue(['ann@example.com'])
    await clock.advance(1_000)
    expect(tried).toEqual([])
    store.suppressions.among = among
    await clock.advance(30_000)
    expect(tried).toEqual(['30 ann@example.com'])
    expect(await store.messages.deliveries(message.id)).toMatchObject([{ status: 'delivered', attempts: 1 }])
  })

  test('of several recipients has its own result, and the message is partial', async () => {
    const { clock, queue, published, store } = await open((job) => (job.recipient.startsWith('ann') ? OK : GONE))
    const message = await queue(['ann@example.com', 'bob@example.com'])
    await clock.advance(0)
    expect((await published(message)).sort()).toEqual(['0 message.bounced hard', '0 message.delivered'])
    expect((await store.messages.get(message.id))!.status).toBe('partial')
  })
})

describe('scheduled test mail', () => {
  test('heeds the suppressions of test keys, which live mail does not', async () => {
    const { clock, queue, tried, store } = await open(() => OK)
    const cause = messageOf('msg_other', [], START, {})
    const suppression = suppressionOf('sup_1', 'unsubscribe', cause, 'ann@example.com', START)
    await store.suppressions.add({ ...suppression, mode: 'test' })
    const test = await queue(['ann@example.com'], { mode: 'test' })
    const live = await queue(['ann@example.com'])
    await clock.advance(0)
    expect(tried).toEqual(['0 ann@example.com'])
    expect((await store.messages.get(test.id))!.status).toBe('suppressed')
    expect((await store.messages.get(live.id))!.status).toBe('delivered')
  })

  test('that bounces hard suppresses nobody', async () => {
    const { clock, queue, published, store } = await open(() => GONE)
    const message = await queue(['bounce@example.com'], { mode: 'test' })
    await clock.advance(0)
    expect(await published(message)).toEqual(['0 message.bounced hard'])
    expect(await store.suppressions.among(message, ['bounce@example.com'])).toEqual(new Map())
  })

  test('is opened, clicked, complained of and unsubscribed from like immediate test mail', async () => {
    const { clock, queue, published, store } = await open(() => OK)
    const expected: [string, string[], number, number][] = [
      ['click', ['opened', 'clicked'], 1, 1],
      ['open', ['opened'], 1, 0],
      ['complain', ['complained'], 0, 0],
      ['unsubscribe', ['unsubscribed'], 0, 0],
    ]
    for (const [name, reactions, opens, clicks] of expected) {
      const message = await queue([`${name}@example.com`], { mode: 'test' })
      await clock.advance(0)
      expect(await published(message)).toEqual(['delivered', ...reactions].map((type) => `0 message.${type}`))
      expect((await store.messages.deliveries(message.id))[0]).toMatchObject({ status: 'delivered', opens, clicks })
    }
    const live = await queue(['click@example.com'])
    await clock.advance(0)
    expect(await published(live)).toEqual(['0 message.delivered'])
  })
})

describe('the loop', () => {
  // threat: hanging-destinations
  test('continues with other destinations while one hangs with a full backlog', async () => {
    const never = new Promise<Outcome>(() => {})
    const { clock, queue, tried } = await open((job) => (job.recipient.endsWith('hangs.example') ? never : OK), {
      maxInFlight: 40,
    })
    for (let i = 0; i < 200; i++) await queue([`r${i}@hangs.example`])
    await queue(['ann@example.com'])
    await clock.advance(0)
    expect(tried).toContain('0 ann@example.com')
    expect(tried.filter((each) => each.endsWith('hangs.example'))).toHaveLength(5)
  })

  // threat: hanging-destinations
  test('starts mail to domains that take it at once while a hundred hang', async () => {
    const never = new Promise<Outcome>(() => {})
    const { clock, queue, tried } = await open((job) => (job.recipient.includes('@hangs') ? never : OK), {
      maxInFlight: 200,
    })
    for (let i = 0; i < 50; i++) await queue([`ann@fresh${i}.example`])
    await clock.advance(0)
    for (let i = 0; i < 500; i++) await queue([`r${i}@hangs${i % 100}.example`])
    await clock.advance(10_000)
    for (let i = 0; i < 50; i++) await queue([`ann@fresh${i}.example`])
    await clock.advance(0)
    const fresh = tried.filter((each) => each.includes('@fresh'))
    expect(fresh.map((each) => Number(each.split(' ')[0]))).toEqual([...Array(50).fill(0), ...Array(50).fill(10)])
  })

  test('applies one limit to all domains of a provider and skips it while paused', async () => {
    const records = [{ preference: 1, exchange: 'aspmx.l.google.com' }]
    const at = (record: { preference: number; exchange: string }) => ({ ...record, exchange: record.exchange })
    let isSlowed = true
    let [most, underWay] = [0, 0]
    const { clock, queue, tried, loop } = await open(
      async (job) => {
        if (job.recipient.endsWith('other.example')) return OK
        most = Math.max(most, ++underWay)
        await clock.sleep(100)
        underWay--
        return isSlowed ? SLOWER : OK
      },
      {
        mx: (domain) =>
          domain === 'other.example'
            ? { kind: 'no_data' }
            : { kind: 'records', records: records.map(at), ttlSeconds: 300, authentic: false },
      },
    )
    for (let i = 0; i < 60; i++) await queue([`r@tenant${i}.example`])
    await clock.advance(250)
    await queue(['ann@other.example'])
    await clock.advance(0)
    expect(most).toBe(5)
    expect(tried).toContain('0.25 ann@other.example')
    expect(loop.stateOf('google.com')).toMatchObject({ limit: 1, state: 'paused' })
    const before = tried.length
    await clock.advance(300)
    expect(tried).toHaveLength(before)
    isSlowed = false
    await clock.advance(600_000)
    expect(new Set(tried).size).toBeGreaterThanOrEqual(61)
    expect(loop.stateOf('google.com')).toMatchObject({ state: 'proven', underWay: 0 })
    expect(
      loop
        .destinations()
        .map(({ destination }) => destination)
        .sort(),
    ).toEqual(['google.com', 'other.example'])
  })

  test('ends what expires while its destination is paused and continues with the rest', async () => {
    let isSlowed = true
    const { clock, queue, published, loop, tried } = await open(() => (isSlowed ? SLOWER : OK))
    await queue(['r1@example.com'])
    await clock.advance(0)
    for (let i = 2; i <= 9; i++) {
      await queue([`r${i}@example.com`])
      await clock.advance(8_000)
    }
    const { state, pausedUntil } = loop.stateOf('example.com')
    expect(state).toBe('paused')
    const now = clock.now()
    expect(pausedUntil! - now).toBeGreaterThan(5_000)
    const short = await queue(['ann@example.com'], { expiresAt: now + 2_000 })
    const long = await queue(['bob@example.com'], { expiresAt: now + 3_600_000 })
    await clock.advance(4_000)
    expect(await published(short)).toEqual([`${(now - START) / 1000 + 2} message.bounced soft`])
    expect(await published(long)).toEqual([])
    isSlowed = false
    await clock.advance(600_000)
    expect(tried.join()).toContain('bob@example.com')
    expect(tried.join()).not.toContain('ann@example.com')
  })

  test('asks DNS nothing for test mail', async () => {
    const asked: string[] = []
    const { clock, queue, tried } = await open(() => OK, {
      mx: (domain) => {
        asked.push(domain)
        return { kind: 'no_data' }
      },
    })
    await queue(['ann@example.com'], { mode: 'test' })
    await clock.advance(0)
    expect(tried).toHaveLength(1)
    expect(asked).toEqual([])
  })

  test('gives up mail that found no memory until its maximum age', async () => {
    const slow = { maxConnections: 0, maxMailsPerConnection: 0, maxMailsPerMinute: 1 }
    const { clock, queue, tried, published, loop } = await open(() => OK, { destinations: { 'slow.example': slow } })
    const messages: Message[] = []
    for (let i = 0; i < 100; i++) messages.push(await queue([`r${i}@slow.example`]))
    await clock.advance(3_600_000)
    expect(tried).toHaveLength(61)
    expect(await published(messages[99]!)).toEqual([])
    await clock.advance(60_000)
    expect(tried).toHaveLength(61)
    expect(await published(messages[99]!)).toEqual(['3660 message.bounced soft'])
    expect(loop.stateOf('slow.example').underWay).toBe(0)
    await queue(['new@slow.example'])
    await clock.advance(0)
    expect(tried).toHaveLength(62)
  })

  test('does not spin while due mail has no capacity', async () => {
    const never = new Promise<Outcome>(() => {})
    const { clock, queue, store } = await open(() => never, { maxInFlight: 4 })
    for (let i = 0; i < 50; i++) await queue([`r${i}@hangs.example`])
    await clock.advance(0)
    let claims = 0
    const claimDue = store.deliveries.claimDue
    store.deliveries.claimDue = (request) => {
      claims++
      return claimDue(request)
    }
    await clock.advance(10_000)
    expect(claims).toBeLessThanOrEqual(10)
  })

  test('a delivery whose claim got no answer is attempted within seconds, and one under way not again', async () => {
    const never = new Promise<Outcome>(() => {})
    const { clock, queue, published, tried, store } = await open((job) =>
      job.recipient.startsWith('slow') ? never : OK,
    )
    await queue(['slow@example.com'])
    await clock.advance(0)
    const claimDue = store.deliveries.claimDue
    let losses = 1
    store.deliveries.claimDue = async (request) => {
      const claims = await claimDue(request)
      if (losses-- > 0) throw new StoreUnavailable('the database does not respond', { isUncertain: true })
      return claims
    }
    const message = await queue(['ann@example.com'])
    await clock.advance(2_000)
    expect(tried).toEqual(['0 slow@example.com', '1 ann@example.com'])
    expect(await published(message)).toEqual(['1 message.delivered'])
  })

  test('records an outcome that the store refused at first, without a second attempt', async () => {
    const { clock, queue, published, tried, store } = await open(() => OK)
    const record = store.deliveries.record
    let refusals = 3
    store.deliveries.record = (what) => (refusals-- > 0 ? Promise.reject(new Error('disk full')) : record(what))
    const message = await queue(['ann@example.com'])
    await clock.advance(5_000)
    expect(tried).toHaveLength(1)
    expect(await published(message)).toEqual(['0 message.delivered'])
  })

  test('stopped in the middle leaves a lease that the next process ends', async () => {
    const never = new Promise<Outcome>(() => {})
    const { clock, queue, store, loop } = await open(() => never)
    const message = await queue(['ann@example.com'])
    await clock.advance(0)
    const stopped = loop.stop(1_000)
    await clock.advance(1_000)
    await stopped
    expect(await store.deliveries.endLeases('w1', new Set(), clock.now())).toBe(1)
    const claims = await claimDue(store.deliveries, {
      now: clock.now(),
      limit: 10,
      worker: 'w2',
      freeFor: () => 10,
    })
    expect(claims.map((claim) => [claim.message.id, claim.delivery.attempts])).toEqual([[message.id, 2]])
  })

  test('accepted by a server before the process died is reported as delivered once by the next process, and not sent again', async () => {
    const { clock, queue, store, published, jobs } = await open(() => new Promise(() => {}))
    const [known, forgotten] = [await queue(['ann@example.com']), await queue(['bob@example.com'])]
    await clock.advance(0)
    const folder = mkdtempSync(join(tmpdir(), 'postrider-taken-'))
    try {
      const note: Note = { ...jobs[0]!, outcome: OK, attempt: attemptOf(jobs[0]!, OK, START) }
      createDeliveredJournal(journalPath(folder, 'w1')).note(note)
      createDeliveredJournal(journalPath(folder, 'w1')).note(note)
      createDeliveredJournal(journalPath(folder, 'w0')).note({ ...note, deliveryId: jobs[1]!.deliveryId })
      createDeliveredJournal(journalPath(folder, 'w0')).note({ ...note, deliveryId: 'dlv_nobody' })
      mkdirSync(join(folder, 'w0.unreadable'))
      const { deliveries } = store
      const delivered: string[] = []
      const mailLog = {
        ...createMailLog(silentLog),
        delivered: ({ delivery }: { delivery: string }) => void delivered.push(delivery),
      }
      const mintId = createMintId(clock, systemRandom)
      await recordDelivered(folder, { deliveries, now: clock.now, mintId, log: silentLog, mailLog })
      expect(readdirSync(folder)).toEqual(['w0.unreadable'])
      expect(delivered).toEqual([jobs[0]!.deliveryId])
      expect(await published(known)).toEqual(['0 message.delivered'])
      expect(await published(forgotten)).toEqual([])
      expect((await store.messages.get(known.id))?.status).toBe('delivered')
      expect(await deliveries.endLeases('w1', new Set(), clock.now())).toBe(1)
    } finally {
      rmSync(folder, { recursive: true })
    }
  })
})

function messageOf(id: string, to: string[], now: number, change: Partial<Message>): Message {
  return {
    id,
    organizationId: 'org_1',
    domainId: 'dom_1',
    keyId: null,
    mode: 'live',
    source: 'api',
    status: 'queued',
    from: 'us@acme.example',
    to,
    cc: null,
    bcc: null,
    replyTo: null,
    subject: 'Hello',
    ...NO_SENDER_FIELDS,
    templateId: null,
    sizeBytes: 1,
    messageIdHeader: `<${id}@acme.example>`,
    createdAt: now,
    scheduledAt: null,
    expiresAt: null,
    unsubscribe: false,
    replies: null,
    trackOpens: false,
    trackClicks: false,
    ...change,
  }
}

function attemptOf(job: AttemptJob, outcome: Outcome, startedAt: number): AttemptResult['attempt'] {
  return {
    number: job.attempt,
    startedAt,
    durationMs: 1,
    outcome: outcome.kind,
    mxHost: 'mx.example',
    mxAddress: '127.0.0.1',
    sourceAddress: null,
    tlsVersion: null,
    tlsCipher: null,
    tlsVerified: false,
    tlsPolicy: 'none',
    reply: null,
    enhancedCode: null,
    cause: null,
    transcript: '',
  }
}

// threat: poisonous-jobs-of-one-tenant
test('mail of an organization whose messages crashed several threads waits ten minutes, that of others does not', async () => {
  const { clock, queue, tried, store, published } = await open(({ recipient }) =>
    recipient.startsWith('bad') ? poisoned('ended_thread') : OK,
  )
  await store.organizations.create({ id: 'org_2', name: 'Other', plan: 'enterprise', createdAt: START })
  for (let i = 0; i < 5; i++) await queue([`bad${i}@r${i}.example`])
  await clock.advance(0)
  expect(tried).toHaveLength(5)
  const good = await queue(['ann@example.com'])
  await queue(['bob@other.example'], { organizationId: 'org_2' })
  await clock.advance(599_999)
  expect(tried.slice(5)).toEqual(['0 bob@other.example'])
  await clock.advance(10_000)
  expect(tried.slice(6)).toContain('600 ann@example.com')
  expect(await published(good)).toEqual(['600 message.delivered'])
  // A waiting delivery did not count as tried: each bad message is tried once more, and five that end a thread wait
  // again.
  expect(tried.filter((line) => line.includes('bad')).length).toBeLessThanOrEqual(10)
})
