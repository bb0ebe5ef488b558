import { expect, test } from 'bun:test'
import { silentLog } from '../../os/log.ts'
import { createMailLog } from '../../os/mail-log.ts'
import { gaugeCertificates } from './certificates.ts'
import { gaugeHealth } from './health.ts'
import { countMail } from './mail.ts'
import { countPools } from './pools.ts'
import { countPosts } from './posts.ts'
import { gaugeQueues } from './queues.ts'
import { createRegistry } from './registry.ts'
import { countRequests } from './requests.ts'

/** Alerts and dashboards rely on the samples of each fact. A deliberate change renews a snapshot with `bun test -u`. */

/** The samples without comments and empty buckets. */
const samplesOf = (registry: ReturnType<typeof createRegistry>) =>
  registry
    .text()
    .split('\n')
    .filter((line) => line !== '' && !line.startsWith('#') && !/_bucket.* 0$/.test(line))
    .join('\n')

test('the facts of mail are counted', () => {
  const registry = createRegistry()
  const log = countMail(registry, createMailLog(silentLog))
  const facts: [keyof typeof log, object][] = [
    ['accepted', { mode: 'live', recipients: 3 }],
    ['accepted', { mode: 'test', recipients: 1 }],
    ['suppressed', { recipients: 2 }],
    ['delivered', { durationMs: 40 }],
    ['deferred', { durationMs: 400_000 }],
    ['bounced', { type: 'hard', durationMs: 1_000 }],
    ['bounced', { type: 'soft', durationMs: 1_001 }],
    ['reported', { kind: 'complaint' }],
    ['received', { sizeBytes: 1_234, spf: 'pass', dkim: 'fail', dmarc: 'strange' }],
    ['refused', { listener: 'inbound', reply: '550 5.7.1 no' }],
    ['refused', { listener: 'submission', reply: 'closed' }],
  ]
  for (const [name, given] of facts) log[name](given as never)
  expect(samplesOf(registry)).toMatchSnapshot()
})

test('the results of requests and the ends of threads are counted', () => {
  const registry = createRegistry()
  const posts = countPosts(registry)
  const result = (given: object) => given as Parameters<ReturnType<typeof posts>>[0]
  posts('webhook')(result({ kind: 'answered', status: 204, durationMs: 50 }))
  posts('webhook')(result({ kind: 'answered', status: 599, durationMs: 51 }))
  posts('inbound')(result({ kind: 'blocked', durationMs: 0 }))
  countRequests(registry)({ operation: 'messages_send', status: 202, durationMs: 25 })
  const pools = countPools(registry, () => 0)
  pools.add('parsing', () => ({ runners: 2, underWay: 3, waiting: 4 }))
  pools.onEvent({ kind: 'started', pool: 'parsing' })
  pools.onEvent({ kind: 'ended', pool: 'parsing', cause: 'died', error: 'a bug' })
  pools.onEvent({ kind: 'poisonous_job', pool: 'parsing' } as never)
  pools.onEvent({ kind: 'owner_apart', pool: 'parsing' } as never)
  expect(samplesOf(registry)).toMatchSnapshot()
})

test('queues, checks and certificates have their last state', async () => {
  const registry = createRegistry()
  let now = 100_000
  let counts = 0
  let isBroken = false
  const waiting = (due: number, oldestDueAt: number | null) => ({ due, later: 10 * due, oldestDueAt })
  const queues = gaugeQueues(
    registry,
    {
      held: { count: async () => ({ deliveries: 1, webhookDeliveries: 2, inboundDeliveries: 3 }) },
      queues: {
        waiting: async () => {
          counts++
          if (isBroken) throw new Error('no')
          return {
            deliveries: waiting(1, 90_000),
            webhookDeliveries: waiting(2, null),
            inboundDeliveries: waiting(3, 2e9),
          }
        },
      },
    } as never,
    () => now,
  )
  gaugeHealth(registry, {
    latest: () => ({ checkedAt: 5_000, checks: [{ name: 'clock', status: 'warn' }] }) as never,
  })
  gaugeCertificates(registry, () => [{ listener: 'https', terms: { endsAt: 7_000 } }])
  await queues.refresh()
  expect(samplesOf(registry)).toMatchSnapshot()
  now += 4_999
  await queues.refresh()
  expect(counts).toBe(1)
  now += 1
  isBroken = true
  await queues.refresh()
  expect([counts, registry.text().includes('postrider_queued{')]).toEqual([2, false])
})

test('checks that never ran have no samples', () => {
  const registry = createRegistry()
  gaugeHealth(registry, { latest: () => null })
  expect(samplesOf(registry)).toBe('')
})
