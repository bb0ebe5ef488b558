import { afterEach, beforeEach, expect, test } from 'bun:test'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { canarySource } from '../../src/events/alerts/canary-source.ts'
import type { Tell } from '../../src/events/alerts/channels.ts'
import { checkSource, QUICK_CHECKS } from '../../src/events/alerts/check-source.ts'
import { createAlertSender } from '../../src/events/alerts/sender.ts'
import { addressSource, installationSources, threadSource } from '../../src/events/alerts/sources.ts'
import { strangerSource } from '../../src/events/alerts/stranger-source.ts'
import { alertText } from '../../src/events/alerts/text.ts'
import { createAlertWatch } from '../../src/events/alerts/watch.ts'
import { ALERT_KINDS, type AlertKind, type AlertSeverity } from '../../src/model/alert.ts'
import type { CanaryResult } from '../../src/model/canary.ts'
import type { QualityAlert } from '../../src/model/quality.ts'
import type { CheckStatus } from '../../src/operating/health/check.ts'
import { silentLog } from '../../src/os/log.ts'
import type { ThreadDeath } from '../../src/os/thread-deaths.ts'
import { openStore } from '../../src/storage/sqlite/open.ts'
import type { Store } from '../../src/storage/store.ts'
import { createRecords, DOMAIN, found, ORGANIZATION, type Records, START } from '../storage/records.ts'
import { VERIFIED } from '../support/verified.ts'

/** Every kind of alert from its cause to both notices, with a restart while it fires and one while it ends. */

const MINUTE = 60_000
const DAY = 1440 * MINUTE

let folder: string
let store: Store
let now: number
let records: Records
/** Results of the health checks, which other tests make fail for real. */
let checks: Map<string, CheckStatus>
let blocked: boolean
let isBroken: boolean
let isDying: boolean
let told: {
  kind: AlertKind
  event: string
  severity: AlertSeverity
  subject: string
  message: string
  advice: string | null
}[]

const open = () => openStore({ dataDir: join(folder, 'data'), now })
beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'postrider-alert-kinds-'))
  now = START
  records = createRecords()
  checks = new Map()
  blocked = isBroken = isDying = false
  told = []
  store = await open()
  await found(store, records)
})
afterEach(async () => {
  await store.close()
  rmSync(folder, { recursive: true })
})

const MAILBOXES = ['missing', 'late', 'spam', 'unauthenticated', 'unchecked'] as const

/** One process, as server/alerts.ts puts it together. */
function start() {
  const leads = () => true
  const results = (names: (name: string) => boolean) =>
    [...checks].flatMap(([name, status]) =>
      names(name)
        ? [{ name, status, message: `${name} says no`, advice: status === 'pass' ? null : `mend ${name}` }]
        : [],
    )
  const latest = () => ({ checkedAt: now, hasNoFailure: true, checks: results((name) => !QUICK_CHECKS.includes(name)) })
  const sources = [
    checkSource({
      health: { latest, look: async () => latest() },
      runQuick: async () => results((name) => QUICK_CHECKS.includes(name)),
      leads,
      node: '',
    }),
    ...installationSources({ store, leads, channels: ['ops', 'broken'] }),
    addressSource('', () => [
      { address: '192.0.2.9', rests: blocked ? [{ destination: 'big.example', rule: 'blocked' }] : [] },
    ]),
    threadSource('', () => (isDying ? [death(now)] : [])),
    canarySource({ store, leads, mailboxes: MAILBOXES }),
    strangerSource({ store, sourceNames: { namesOf: async () => new Map() }, leads, own: [] }),
  ]
  const note: Tell = async (telling) => {
    if ('test' in telling) throw new Error('no test here')
    const { alert, notice } = telling
    const { message, advice } = alertText(alert, notice.event, notice.round, about)
    told.push({ ...alert, event: notice.event, message, advice })
    return { error: null, retryAfterMs: null, durationMs: 1 }
  }
  const fail: Tell = async () => ({ error: isBroken ? 'HTTP 404' : null, retryAfterMs: null, durationMs: 1 })
  const watch = createAlertWatch({ alerts: store.alerts, sources, mintId: () => records.event().id, log: silentLog })
  const channels = [
    { name: 'ops', minSeverity: 'warning' as const, tell: note },
    { name: 'broken', minSeverity: 'warning' as const, tell: fail },
  ]
  const sender = createAlertSender({ alerts: store.alerts, channels, repeatAfterMs: 0, now: () => now, log: silentLog })
  return { ...watch, ...sender }
}
const about = { hostname: 'mail.example.com', publicUrl: () => 'https://mail.example.com' }

/** Time passes in steps, in a process that begins and ends with it. */
async function pass(minutes: number, stepMinutes = 1) {
  await store.close()
  store = await open()
  const process = start()
  for (const endsAt = now + minutes * MINUTE; now < endsAt; now += stepMinutes * MINUTE) {
    await process.look(now)
    await process.send(now)
  }
}

interface Case {
  severity: AlertSeverity
  subject?: string
  begin: () => unknown
  end: () => unknown
}

const ofCheck = (name: string, status: CheckStatus, subject = ''): Case => ({
  severity: status === 'fail' ? 'critical' : 'warning',
  subject,
  begin: () => checks.set(name, status),
  end: () => checks.set(name, 'pass'),
})
const ofCanary = (result: (typeof MAILBOXES)[number]): Case => {
  const sendTwo = async (ended: CanaryResult) => {
    for (let at = 0; at < 2; at++) {
      const { id } = records.event()
      const arrivedAt = ended === 'missing' || ended === 'unchecked' ? null : now
      const dueAt = now + at
      await store.canaries.add({ id, mailbox: result, dueAt, sentAt: now, result: ended, arrivedAt, detail: 'cause' })
    }
  }
  return {
    severity: result === 'missing' ? 'critical' : 'warning',
    subject: result,
    begin: () => sendTwo(result),
    end: () => sendTwo('inbox'),
  }
}
const rate = (): QualityAlert => ({
  id: 'qal_1',
  organizationId: ORGANIZATION,
  domainId: DOMAIN,
  domain: 'a.example',
  metric: 'bounce_rate',
  value: 0.2,
  threshold: 0.05,
  windowHours: 24,
  sent: 100,
  affected: 20,
  state: 'firing',
  triggeredAt: START,
  resolvedAt: null,
})
const death = (at: number): ThreadDeath => ({ pool: 'parsing', at, error: 'TypeError: a bug\n    at parse' })
const WEBHOOK = 'whk_paused'

const CASES: Record<AlertKind, Case> = {
  health_check: ofCheck('clock', 'fail', 'clock'),
  certificate: ofCheck('certificate', 'warn'),
  disk: ofCheck('disk', 'fail'),
  queue_age: ofCheck('queue', 'warn'),
  blocklist: ofCheck('blocklists', 'warn'),
  node_lost: ofCheck('nodes', 'fail'),
  dkim_rotation: ofCheck('dkim_rotation', 'warn'),
  alert_channel: {
    severity: 'critical',
    subject: 'broken',
    begin: async () => {
      isBroken = true
      for (let at = 0; at < 3; at++) await store.alerts.recordChannel('broken', 'HTTP 404', now)
    },
    end: async () => {
      isBroken = false
      await store.alerts.recordChannel('broken', null, now)
    },
  },
  quality: {
    severity: 'warning',
    subject: 'a.example',
    begin: () => store.quality.raise(rate(), records.event({ type: 'quality.alert' })),
    end: () =>
      store.quality.resolve(
        { ...rate(), state: 'resolved', resolvedAt: now },
        records.event({ type: 'quality.alert' }),
      ),
  },
  sign_in_cleared: {
    severity: 'warning',
    subject: 'taken@a.example',
    begin: async () => {
      const user = {
        id: 'usr_taken',
        email: 'taken@a.example',
        name: 'T',
        isOperator: false,
        roles: {},
        createdAt: now,
      }
      const unverified = { ...VERIFIED, emailVerifiedAt: null, disabledAt: null, lastSeenAt: null }
      await store.users.create({ ...user, ...unverified }, 'hash')
      await store.users.clear('usr_taken', { proved: null, now })
    },
    end: () => store.users.remove('usr_taken'),
  },
  thread_died: {
    severity: 'warning',
    subject: 'parsing',
    begin: () => {
      isDying = true
    },
    end: () => {
      isDying = false
    },
  },
  webhook_paused: {
    severity: 'warning',
    subject: ORGANIZATION,
    begin: async () => {
      await store.webhooks.create(records.webhook({ id: WEBHOOK, organizationId: ORGANIZATION }), 'whsec_AAAA')
      await store.webhooks.update(WEBHOOK, { status: 'paused', disabledReason: 'The endpoint returned 410 Gone.' }, now)
    },
    end: () => store.webhooks.update(WEBHOOK, { status: 'active', disabledReason: null }, now),
  },
  destination_block: {
    severity: 'warning',
    subject: '192.0.2.9',
    begin: () => {
      blocked = true
    },
    end: () => {
      blocked = false
    },
  },
  dmarc_stranger: {
    severity: 'warning',
    subject: 'a.example',
    begin: () =>
      store.policyReports.add({
        organizationId: ORGANIZATION,
        domainId: DOMAIN,
        reporter: 'google.com',
        reportId: '1',
        receivedAt: now,
        beginsAt: now - (now % DAY),
        endsAt: now,
        content: {
          kind: 'dmarc',
          sources: [
            {
              sourceIp: '203.0.113.5',
              messages: 500,
              passed: 0,
              spfAligned: 0,
              dkimAligned: 0,
              quarantined: 0,
              rejected: 0,
            },
          ],
        },
      }),
    end: () => {}, // a week passes
  },
  canary_missing: ofCanary('missing'),
  canary_late: ofCanary('late'),
  canary_spam: ofCanary('spam'),
  canary_unauthenticated: ofCanary('unauthenticated'),
  canary_unchecked: ofCanary('unchecked'),
}
const KINDS = Object.keys(ALERT_KINDS) as AlertKind[]

test('each kind is told once when it begins and once when it ends, with cause and advice, over restarts', async () => {
  await pass(10)
  expect(told).toEqual([])

  for (const kind of KINDS) await CASES[kind].begin()
  await pass(8)
  await pass(8)
  await pass(120, 5)
  const begun = Object.fromEntries(told.map(({ kind, ...rest }) => [kind, rest]))
  expect(told.map(({ kind }) => kind).toSorted()).toEqual(KINDS.toSorted())
  for (const kind of KINDS) {
    const { severity, subject = '' } = CASES[kind]
    expect(begun[kind]).toMatchObject({ event: 'firing', severity, subject })
    expect(begun[kind]!.message.length).toBeGreaterThan(5)
    expect(begun[kind]!.advice!.length).toBeGreaterThan(5)
  }

  told.length = 0
  for (const kind of KINDS) await CASES[kind].end()
  await pass(3)
  await pass(70, 5)
  await pass(70, 5)
  const ended = KINDS.filter((kind) => kind !== 'dmarc_stranger').toSorted()
  expect(told.map(({ kind, event }) => `${kind} ${event}`).toSorted()).toEqual(ended.map((kind) => `${kind} resolved`))

  await pass(7 * 1440, 180)
  await pass(2 * 1440, 180)
  expect(told.at(-1)).toMatchObject({ kind: 'dmarc_stranger', event: 'resolved' })
  expect(told).toHaveLength(KINDS.length)
  expect(await store.alerts.open()).toEqual([])
})

test('a thread that died is told for an hour with its last reason, and the third death is critical', async () => {
  const found = async (deaths: ThreadDeath[]) => (await threadSource('n1', () => deaths)(START + 3_600_000, []))[0]!
  expect((await found([death(START)])).problems).toEqual([])
  const { problems, node } = await found([death(START), death(START + 1), death(START + 2)])
  expect([node, problems[0]!.severity, problems[0]!.message]).toEqual([
    'n1',
    'warning',
    'It ended 2 times within an hour and was started again. The last reason: TypeError: a bug',
  ])
  expect((await found([1, 2, 3].map((at) => death(START + at)))).problems[0]!.severity).toBe('critical')
})
