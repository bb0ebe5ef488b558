import { afterEach, beforeEach, expect, test } from 'bun:test'
import type { Tell, Told } from '../../src/events/alerts/channels.ts'
import { checkSource } from '../../src/events/alerts/check-source.ts'
import { createAlertSender, type SenderChannel } from '../../src/events/alerts/sender.ts'
import { installationSources, type Source } from '../../src/events/alerts/sources.ts'
import { strangerSource } from '../../src/events/alerts/stranger-source.ts'
import { createAlertWatch } from '../../src/events/alerts/watch.ts'
import type { Problem } from '../../src/model/alert.ts'
import type { CheckResult } from '../../src/operating/health/check.ts'
import { silentLog } from '../../src/os/log.ts'
import { openStore } from '../../src/storage/sqlite/open.ts'
import type { Store } from '../../src/storage/store.ts'

/** Sender, watch and sources of alerts on a real store, with time and channels of the test. */

const MINUTE = 60_000
const DAY = 1440 * MINUTE
const START = 1_795_262_400_000

let store: Store
let now: number
beforeEach(async () => {
  now = START
  store = await openStore({
    dataDir: ':memory:',
    now: START,
    minFreeBytes: 0,
    plans: () => {
      throw new Error('no plan')
    },
  } as never)
})
afterEach(() => store.close())

const disk: Problem = { kind: 'disk', subject: '', severity: 'critical', message: 'full', advice: null }
/** Raises an alert at once. */
const raise = async (change: Partial<Problem> = {}) => {
  const { kind, subject, severity, message, advice } = { ...disk, ...change }
  const alert = {
    id: `alr_${kind}${subject}`,
    kind,
    subject,
    severity,
    message,
    advice,
    node: '',
    state: 'firing' as const,
  }
  const times = { firstSeenAt: now, lastSeenAt: now, missingSince: null, raisedAt: now, resolvedAt: null }
  await store.alerts.save({ ...alert, ...times }, null)
  return { ...alert, ...times }
}
const channelOf = (tell: Tell, change: Partial<SenderChannel> = {}): SenderChannel => ({
  name: 'ops',
  minSeverity: 'warning',
  tell,
  ...change,
})
const senderOf = (...channels: SenderChannel[]) =>
  createAlertSender({ alerts: store.alerts, channels, repeatAfterMs: 0, now: () => now, log: silentLog })
/** A channel that answers in order, the last answer again and again. */
const answering = (...answers: Partial<Told>[]) => {
  const told: string[] = []
  const tell: Tell = async (telling) => {
    const answer = answers[Math.min(told.length, answers.length - 1)]
    told.push('test' in telling ? 'test' : `${telling.notice.event} ${telling.attempt} at ${(now - START) / MINUTE}`)
    return { error: null, retryAfterMs: null, durationMs: 1, ...answer }
  }
  return { told, tell }
}
/** A turn of the sender every ten seconds. */
const pass = async (ms: number, turn: (at: number) => Promise<void>) => {
  for (const endsAt = now + ms; now < endsAt; now += 10_000) await turn(now)
}

test('a channel that never answers is tried twelve times within a day, and then given up', async () => {
  const { told, tell } = answering({ error: 'no' })
  await raise()
  await pass(3 * DAY, senderOf(channelOf(tell)).send)
  const times = told.map((each) => Number(each.split(' ').at(-1)))
  expect(told).toHaveLength(12)
  expect(times.slice(0, 5).map(Math.round)).toEqual([0, 1, 3, 8, 18])
  expect(times.at(-1)).toBeLessThan(1440 + 60)
  expect(await store.alerts.notices()).toMatchObject([{ status: 'failed', attempts: 12 }])
  expect(await store.alerts.channels()).toMatchObject([{ failures: 12, lastError: 'no' }])
})

test('honours Retry-After up to an hour', async () => {
  const { told, tell } = answering(
    { error: 'HTTP 429', retryAfterMs: 10 * MINUTE },
    { error: 'HTTP 429', retryAfterMs: DAY },
    {},
  )
  await raise()
  await pass(3 * 60 * MINUTE, senderOf(channelOf(tell)).send)
  expect(told).toEqual(['firing 1 at 0', 'firing 2 at 10', 'firing 3 at 70'])
})

test('tells a channel that is added later of what fires, and one of critical alerts when a warning becomes one', async () => {
  const [first, later, urgent] = [answering({}), answering({}), answering({})]
  const alert = await raise({ severity: 'warning' })
  const channels = [channelOf(first.tell), channelOf(urgent.tell, { name: 'urgent', minSeverity: 'critical' })]
  await pass(MINUTE, senderOf(...channels).send)
  expect([first.told.length, urgent.told.length]).toEqual([1, 0])
  await store.alerts.save({ ...alert, severity: 'critical' }, 'firing')
  const all = [...channels, channelOf(later.tell, { name: 'later' })]
  await pass(MINUTE, senderOf(...all).send)
  await store.alerts.save({ ...alert, state: 'resolved', resolvedAt: now }, 'firing')
  await pass(MINUTE, senderOf(...all).send)
  expect([first, later, urgent].map(({ told }) => told.map((each) => each.split(' ')[0]))).toEqual(
    Array(3).fill(['firing', 'resolved']),
  )
})

test('a silenced alert is not sent, a channel that was told of it is told of its end, and others when the silence ends', async () => {
  const [first, later] = [answering({}), answering({})]
  const alert = await raise()
  const repeating = (...channels: SenderChannel[]) =>
    createAlertSender({ alerts: store.alerts, channels, repeatAfterMs: 5 * MINUTE, now: () => now, log: silentLog })
  await pass(MINUTE, repeating(channelOf(first.tell)).send)
  await store.alerts.silence({ kind: 'disk', subject: '', node: '', severity: 'critical', until: now + DAY }, now)
  const both = repeating(channelOf(first.tell), channelOf(later.tell, { name: 'later' }))
  await pass(60 * MINUTE, both.send)
  expect([first.told, later.told]).toEqual([['firing 1 at 0'], []])
  await store.alerts.save({ ...alert, state: 'resolved', resolvedAt: now }, 'firing')
  await pass(MINUTE, both.send)
  expect([first.told.length, later.told]).toEqual([2, []])
  await store.alerts.save({ ...alert, id: 'alr_again', raisedAt: now }, null)
  await pass(60 * MINUTE, both.send)
  expect([first.told.length, later.told]).toEqual([2, []])
  await store.alerts.silence({ kind: 'disk', subject: '', node: '', severity: 'critical', until: now }, now)
  await pass(MINUTE, both.send)
  expect([first.told.length, later.told.length]).toEqual([3, 1])
})

test('an alert whose first notice failed, and that is silenced until it ends, posts nothing more', async () => {
  const { told, tell } = answering({ error: 'HTTP 500' }, {})
  const alert = await raise()
  const { send } = senderOf(channelOf(tell))
  await send(now)
  await store.alerts.silence({ kind: 'disk', subject: '', node: '', severity: 'critical', until: now + DAY }, now)
  await pass(10 * MINUTE, send)
  await store.alerts.save({ ...alert, state: 'resolved', resolvedAt: now }, 'firing')
  await pass(10 * MINUTE, send)
  expect(told).toEqual(['firing 1 at 0'])
})

test('a silence of a warning does not hold back what has become critical', async () => {
  const { told, tell } = answering({})
  const alert = await raise({ severity: 'warning' })
  await store.alerts.silence({ kind: 'disk', subject: '', node: '', severity: 'warning', until: now + DAY }, now)
  await pass(MINUTE, senderOf(channelOf(tell)).send)
  expect(told).toEqual([])
  await store.alerts.save({ ...alert, severity: 'critical' }, 'firing')
  await pass(MINUTE, senderOf(channelOf(tell)).send)
  expect(told).toHaveLength(1)
})

test('two processes that both believe to lead post once', async () => {
  const { told, tell } = answering({})
  await raise()
  const senders = [senderOf(channelOf(tell)), senderOf(channelOf(tell))]
  await pass(5 * MINUTE, async (at) => {
    await Promise.all(senders.map(({ send }) => send(at)))
  })
  expect(told).toHaveLength(1)
})

// A crash after the post: its result is never recorded.
test('a post whose result is lost is repeated once', async () => {
  let posts = 0
  await raise()
  const lost: Tell = async () => {
    posts++
    throw new Error('the process ends here')
  }
  await senderOf(channelOf(lost)).send(now)
  const { told, tell } = answering({})
  await pass(10 * MINUTE, senderOf(channelOf(tell)).send)
  expect([posts, told]).toEqual([1, ['firing 2 at 2']])
})

test('a post whose result is always lost ends too', async () => {
  let posts = 0
  const lost: Tell = async () => {
    posts++
    throw new Error('a bug')
  }
  await raise()
  await pass(2 * DAY, senderOf(channelOf(lost)).send)
  expect(posts).toBe(12)
  expect(await store.alerts.notices()).toMatchObject([{ status: 'failed' }])
})

const watchOf = (...sources: Source[]) => {
  let minted = 0
  return createAlertWatch({ alerts: store.alerts, sources, mintId: () => `alr_${minted++}`, log: silentLog })
}
const openAlerts = async () =>
  (await store.alerts.open()).map(({ kind, subject, node, state }) => `${kind} ${subject}${node} ${state}`)

test('a source that fails stops no other one, and ends no alert', async () => {
  let fails = false
  const source: Source = async (at) => {
    if (fails) throw new Error('no')
    return [{ at, node: '', problems: [{ ...disk, kind: 'quality' }], covers: () => true }]
  }
  const watch = watchOf(source)
  await watch.look(START)
  fails = true
  for (let at = 1; at < 100; at++) await watch.look(START + at * MINUTE)
  expect(await openAlerts()).toEqual(['quality  firing'])
  expect(watch.firing()).toHaveLength(1)
})

const result = (name: string, status: CheckResult['status'], message = 'found'): CheckResult => ({
  name,
  status,
  message,
  advice: status === 'pass' || status === 'skip' ? null : 'do it',
})

function checks(options: { node?: string; leads?: boolean } = {}) {
  const state = { results: [] as CheckResult[], quick: [] as CheckResult[], runs: 0, checkedAt: START }
  const latest = () => ({ checkedAt: state.checkedAt, hasNoFailure: true, checks: state.results })
  const look = async () => {
    state.runs++
    state.checkedAt = now
    return latest()
  }
  const { node = '', leads = true } = options
  const source = checkSource({
    health: { latest, look },
    runQuick: async () => state.quick,
    leads: () => leads,
    node,
  })
  const watch = watchOf(source)
  return { state, watch, follow: (minutes: number) => pass(minutes * MINUTE, (at) => watch.look(at)) }
}

test('a failed check is repeated until its alert has begun, and not after that', async () => {
  const { state, follow } = checks()
  state.results = [result('clock', 'fail'), result('memory', 'warn')]
  await follow(30)
  expect(state.runs).toBe(1)
  expect(await openAlerts()).toEqual(['health_check clock firing'])
  state.results = [result('clock', 'pass')]
  state.checkedAt = now
  await follow(30)
  expect(state.runs).toBe(2)
  expect(await openAlerts()).toEqual([])
  expect(await store.alerts.ended(9)).toHaveLength(1)
})

test('warnings count for checks with a kind of their own, which are quick', async () => {
  const { state, follow } = checks()
  state.quick = [result('disk', 'warn'), result('queue', 'fail'), result('nodes', 'pass'), result('store', 'warn')]
  await follow(4)
  expect(await openAlerts()).toEqual(['disk  pending', 'queue_age  pending'])
  await follow(4)
  expect(await openAlerts()).toEqual(['disk  firing', 'queue_age  firing'])
  expect(state.runs).toBe(0)
})

test('a rotation that a server hinders is a warning of its own kind, a failing hostname a failed check', async () => {
  const { state, follow } = checks()
  state.results = [result('dkim_rotation', 'warn'), result('hostname', 'warn')]
  await follow(8)
  expect(await openAlerts()).toEqual(['dkim_rotation  firing'])
  expect((await store.alerts.open())[0]).toMatchObject({ severity: 'warning' })
  state.results = [result('dkim_rotation', 'pass'), result('hostname', 'fail')]
  state.checkedAt = now
  await follow(20)
  expect(await openAlerts()).toEqual(['health_check hostname firing'])
})

test('a check that was skipped because DNS is silent, or that timed out, ends nothing', async () => {
  const { state, follow } = checks()
  state.results = [result('blocklists', 'fail'), result('spf', 'fail')]
  await follow(8)
  expect(await openAlerts()).toEqual(['blocklist  firing', 'health_check spf firing'])
  state.results = [result('name_servers', 'fail'), result('spf', 'skip', 'DNS does not respond')]
  for (let run = 0; run < 4; run++) {
    state.checkedAt = now
    await follow(8)
  }
  expect(await openAlerts()).toContain('health_check spf firing')
  state.results = [result('spf', 'skip', 'timed out after 6 s')]
  state.checkedAt = now
  await follow(30)
  expect(await openAlerts()).toContain('health_check spf firing')
  state.results = [result('spf', 'skip', 'mail is sent through the smarthost')]
  state.checkedAt = now
  await follow(30)
  expect(await openAlerts()).not.toContain('health_check spf firing')
})

test('a node that does not lead reports its own machine only, and its alerts end with it', async () => {
  const { state, follow } = checks({ node: 'two', leads: false })
  state.quick = [result('disk', 'fail'), result('queue', 'fail'), result('database_wal', 'fail')]
  await follow(8)
  expect(await openAlerts()).toEqual(['disk two firing'])
  const watch = watchOf(...installationSources({ store, leads: () => true, channels: [] }))
  await pass(8 * MINUTE, (at) => watch.look(at))
  expect(await openAlerts()).toEqual([])
})

test('a stranger that sends in the name of a domain is reported once for the domain', async () => {
  const source = (sourceIp: string, messages: number, passed = 0) => ({
    sourceIp,
    messages,
    passed,
    spfAligned: passed,
    dkimAligned: 0,
    quarantined: 0,
    rejected: 0,
  })
  const today = START - (START % DAY)
  for (let at = 0; at < 12; at++) {
    const domainId = `dom_${at}`
    const sources =
      at === 7
        ? [
            source('192.0.2.1', 500),
            source('192.0.2.2', 150, 20),
            source('192.0.2.3', 99),
            source('192.0.2.4', 900, 900),
            source('192.0.2.5', 300),
            source('192.0.2.6', 400),
          ]
        : [source('192.0.2.9', 20)]
    const about = { organizationId: 'org_a', domainId, reporter: 'google.com', reportId: '1', receivedAt: START }
    const period = { beginsAt: today, endsAt: today + 1 }
    await store.policyReports.add({ ...about, ...period, content: { kind: 'dmarc', sources } })
    const lies = { kind: 'dmarc' as const, sources: [source('192.0.2.7', 1_000_000)] }
    await store.policyReports.add({ ...about, ...period, reporter: 'unknown.test', content: lies })
  }
  const watch = watchOf(
    strangerSource({
      store: { policyReports: store.policyReports, domains: { get: async () => ({ name: 'shop.example' }) } as never },
      sourceNames: { namesOf: async () => new Map([['192.0.2.5', 'mail-1.google.com']]) },
      leads: () => true,
      own: ['192.0.2.6'],
    }),
  )
  await watch.look(START)
  expect(await openAlerts()).toEqual([])
  await pass(5 * MINUTE, (at) => watch.look(at))
  const [alert, ...others] = await store.alerts.open()
  expect(others).toEqual([])
  expect(alert).toMatchObject({ kind: 'dmarc_stranger', subject: 'shop.example', state: 'firing' })
  expect(alert!.message).toEndWith('from 192.0.2.1 (500), 192.0.2.2 (130)')
})
