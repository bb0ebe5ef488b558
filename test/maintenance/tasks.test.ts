import { afterEach, beforeEach, expect, test } from 'bun:test'
import { INSTALLATION, INSTALLATION_KEPT_DAYS } from '../../src/model/organization.ts'
import { maintenanceTasks } from '../../src/operating/maintenance/tasks.ts'
import { createMintId } from '../../src/os/ids.ts'
import { silentLog } from '../../src/os/log.ts'
import { systemRandom } from '../../src/os/random.ts'
import type { Store } from '../../src/storage/store.ts'
import { createFakeClock } from '../support/fake-clock.ts'
import { openMemoryStore } from '../support/migrated-store.ts'
import { ownServer } from '../support/own-server.ts'
import { silentResolver } from '../support/silent-resolver.ts'

const NOW = Date.UTC(2026, 10, 21)
const MINUTE = 60_000
const DAY = 24 * 60 * MINUTE

let store: Store
beforeEach(async () => {
  store = await openMemoryStore()
})
afterEach(() => store.close())

/** The tasks over an empty store. `calls` are the calls of the store and of the dependencies; `answers` replaces a
 *  result. */
function tasks(options: { answers?: Record<string, unknown>; isBusy?: boolean } = {}) {
  const calls: unknown[][] = []
  const recording = <T extends object>(of: T, path: string): T =>
    new Proxy(of, {
      get(target, key) {
        const value = Reflect.get(target, key)
        const name = `${path}${String(key)}`
        if (typeof value === 'object' && value !== null) return recording(value, `${name}.`)
        if (typeof value !== 'function') return value
        return (...args: unknown[]) => {
          calls.push([name, ...args])
          return options.answers !== undefined && name in options.answers
            ? options.answers[name]
            : Reflect.apply(value, target, args)
        }
      },
    })
  const clock = createFakeClock(NOW)
  const given = recording(
    {
      refreshPolicies: (_now: number) => {},
      flushTls: async () => {},
      flushRelays: async () => {},
      flushAddresses: async () => {},
      sendTlsReports: (_now: number) => {},
      runHealthChecks: () => {},
      flushUses: async () => {},
      dedicated: { addresses: [], refresh: async () => {} },
      renewCertificateIfDue: () => {},
      notify: () => {},
    },
    '',
  )
  const made = maintenanceTasks({
    ...given,
    store: recording(store, ''),
    clock,
    mintId: createMintId(clock, systemRandom),
    log: silentLog,
    plans: () => undefined,
    domainCare: {
      server: ownServer('mail.sender.test'),
      resolver: silentResolver,
      maxAgeMs: DAY,
      random: systemRandom,
    },
    quality: { minSent: 1, bounceRate: 0.1, complaintRate: 0.1, windowHours: 1 },
    isBusy: () => options.isBusy ?? false,
    alerts: null,
    canaries: null,
  })
  return {
    made,
    calls,
    run: (name: string) => made.find((task) => task.name === name)!.run(NOW),
  }
}

const CALLS: Record<string, unknown[][]> = {
  'key uses': [['flushUses']],
  domains: [['domains.claimDue', NOW, 10, NOW + 10 * MINUTE]],
  quality: [['quality.firing'], ['quality.domainsWithOutcomes', 60 * MINUTE, NOW]],
  outcomes: [['quality.pruneOutcomes', NOW, 200]],
  'search index': [['maintain', 'recent', expect.any(Function)]],
  'ended nodes': [['maintain', 'ended', expect.any(Function)]],
  'idempotency keys': [['idempotency.prune', NOW - DAY, 20]],
  'mta-sts policies': [['refreshPolicies', NOW]],
  health: [['runHealthChecks']],
  certificate: [['renewCertificateIfDue']],
  'audit log': [['auditLog.prune', NOW - 366 * DAY, 100]],
  'operator sessions': [['sessions.prune', NOW, 100]],
  'stored bytes': [['usage.countSome']],
  'recount of stored bytes': [['usage.beginCount']],
  'usage of past days': [['usage.prune', NOW, 100]],
  'unconfirmed forward targets': [['forwardTargets.prune', NOW - 30 * DAY, 100]],
  'orphans in object storage': [['contents.removeOrphans', { after: '', before: NOW - DAY }]],
  'tls sessions': [['flushTls']],
  'address counts': [['flushAddresses']],
  'relay counts': [['flushRelays']],
  'relay attempts': [['relays.pruneBegun', NOW - 62 * DAY, 200]],
  'tls reports': [['sendTlsReports', NOW]],
  erasures: [['erasures.step', NOW, expect.any(Function)]],
  'content of streams': [['messages.redactDue', NOW, 10]],
  retention: [
    ['organizations.list'],
    [
      'retention.remove',
      expect.objectContaining({ organizationId: INSTALLATION, before: NOW - INSTALLATION_KEPT_DAYS * DAY }),
    ],
    ['retention.pruneUnsubscribables', NOW - 60 * DAY, 100],
    ['maintain', 'removed', expect.any(Function)],
  ],
}

test('every task does its work when it is due', async () => {
  const { made, calls } = tasks()
  expect(made.map(({ name }) => name)).toEqual(Object.keys(CALLS))
  for (const { name, run } of made) {
    calls.length = 0
    let more = await run(NOW)
    // Retention always looks at the mail of the installation, in several steps.
    for (let steps = 0; more !== false && name === 'retention' && steps < 20; steps++) more = await run(NOW)
    expect([name, more ?? false]).toEqual([name, false])
    const changes = calls.filter(([called], at) => called !== calls[at - 1]?.[0])
    expect([name, changes.slice(0, CALLS[name]!.length)]).toEqual([name, CALLS[name]!])
  }
})

test('tasks that remove old records take the earlier of both clocks', () => {
  const { made } = tasks()
  expect(made.filter(({ erases }) => erases).map(({ name }) => name)).toEqual([
    'idempotency keys',
    'audit log',
    'usage of past days',
    'unconfirmed forward targets',
    'orphans in object storage',
    'content of streams',
    'retention',
  ])
})

test('the leader runs every task but those that concern what a node has itself', () => {
  const { made } = tasks()
  expect(made.filter(({ of }) => of === 'node').map(({ name }) => name)).toEqual([
    'key uses',
    'health',
    'certificate',
    'tls sessions',
    'address counts',
    'relay counts',
  ])
})

test('tasks run at their own intervals, and those that restarts must not delay run soon after the start', () => {
  const { made } = tasks()
  const paces = made.map(({ name, everyMs, firstMs }) => [name, everyMs / 1000, ...(firstMs ? [firstMs / 1000] : [])])
  expect(paces).toEqual([
    ['key uses', 10],
    ['domains', 60],
    ['quality', 15],
    ['outcomes', 60],
    ['search index', 1],
    ['ended nodes', 10],
    ['idempotency keys', 60],
    ['mta-sts policies', 60],
    ['health', 3600, 60],
    ['certificate', 60, 1],
    ['audit log', 3600],
    ['operator sessions', 3600],
    ['stored bytes', 1],
    ['recount of stored bytes', 604_800],
    ['usage of past days', 3600],
    ['unconfirmed forward targets', 3600],
    ['orphans in object storage', 86_400, 3600],
    ['tls sessions', 60],
    ['address counts', 60],
    ['relay counts', 60],
    ['relay attempts', 60],
    ['tls reports', 60],
    ['erasures', 2],
    ['content of streams', 60],
    ['retention', 600, 60],
  ])
})

test.each([
  ['outcomes', 'quality.pruneOutcomes', 200],
  ['idempotency keys', 'idempotency.prune', 20],
  ['audit log', 'auditLog.prune', 100],
  ['operator sessions', 'sessions.prune', 100],
  ['usage of past days', 'usage.prune', 100],
  ['unconfirmed forward targets', 'forwardTargets.prune', 100],
])('%s: runs again at once when %s removed as much as it was asked for', async (name, method, limit) => {
  const removing = (count: number) => tasks({ answers: { [method]: Promise.resolve(count) } }).run(name)
  expect(await removing(limit)).toBe(true)
  expect(await removing(limit - 1)).toBe(false)
})

test.each([
  ['search index', 'maintain'],
  ['ended nodes', 'maintain'],
  ['stored bytes', 'usage.countSome'],
])('%s: runs again at once when %s has more to do and the server is idle', async (name, method) => {
  const answers = { [method]: Promise.resolve(true) }
  expect(await tasks({ answers }).run(name)).toBe(true)
  expect(await tasks({ answers, isBusy: true }).run(name)).toBe(false)
})

test('a quality alert wakes the webhooks', async () => {
  const answers = {
    'quality.domainsWithOutcomes': Promise.resolve(['dom_1']),
    'domains.get': Promise.resolve({ id: 'dom_1', organizationId: 'org_1', name: 'acme.example' }),
    'quality.figures': Promise.resolve({ sent: 100, hardBounced: 50, delivered: 50, complained: 0 }),
  }
  const woken = async (raised: string) => {
    const { run, calls } = tasks({ answers: { ...answers, 'quality.raise': Promise.resolve(raised) } })
    await run('quality')
    return calls.some(([name, topic]) => name === 'notify' && topic === 'webhook deliveries')
  }
  expect(await woken('raised')).toBe(true)
  expect(await woken('known')).toBe(false)
})

test('orphans are removed page by page', async () => {
  const { run, calls } = tasks({ answers: { 'contents.removeOrphans': 'content/msg_9' } })
  expect(await run('orphans in object storage')).toBe(true)
  await run('orphans in object storage')
  expect(calls.map(([, request]) => request)).toMatchObject([{ after: '' }, { after: 'content/msg_9' }])
})
