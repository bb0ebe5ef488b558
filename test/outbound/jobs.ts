import { startZone } from '../../src/cli/try/zone-server.ts'
import { type MailContent, packContent } from '../../src/mail/content.ts'
import { NO_RECIPIENT_PARTS } from '../../src/mail/recipient-parts.ts'
import { systemClock } from '../../src/os/clock.ts'
import { silentLog } from '../../src/os/log.ts'
import type { PoolEvent } from '../../src/os/thread-pool.ts'
import type { AttemptJob, WorkerSettings } from '../../src/sending/outbound/job.ts'
import { DeliveryThreads } from '../../src/sending/outbound/workers.ts'
import { until } from '../support/patience.ts'
import { startRemoteMx } from '../support/remote-mx.ts'

/** Jobs of delivery threads, as data. */

export const CONTENT: MailContent = {
  from: { name: null, local: 'news', domain: 'sender.test', address: 'news@sender.test' },
  to: [],
  cc: [],
  replyTo: [],
  subject: 'Hello',
  dateAt: 1_795_262_400_000,
  messageId: '<1@sender.test>',
  html: null,
  text: 'Hello',
  headers: [],
  attachments: [],
  boundarySeed: 'seed',
}

export const attemptJob = (more: Partial<AttemptJob>): AttemptJob => ({
  deliveryId: 'dlv_1',
  messageId: 'msg_1',
  attempt: 1,
  recipient: 'anna@remote.test',
  returnPath: 'b@sender.test',
  content: packContent(CONTENT),
  signingKeys: [],
  signedAt: 0,
  recipientParts: NO_RECIPIENT_PARTS,
  requireTls: false,
  mtaSts: null,
  route: { destination: 'remote.test', mx: null, connections: 6, maxMails: 500 },
  sandbox: false,
  ...more,
})

export const deliverySettings = (at: {
  folder: string
  zone: string
  port: number
  longestWaitMs?: number
}): WorkerSettings => ({
  hostname: 'out.sender.test',
  dnsServers: [at.zone],
  trustedDnsServers: [],
  deliveryPort: at.port,
  relays: [],
  allowPrivateDestinations: true,
  sourceAddress: null,
  idleSessions: 500,
  longestWaitMs: at.longestWaitMs ?? 600_000,
  journal: { folder: at.folder, worker: 'w1' },
})

/** Two deliveries in one thread, which has the bugs of test/os/faulty-thread.ts: the first waits at its destination until a
 *  bug in the second is reported, or with `isKept` ends before and leaves it its connection → the outcome of each, what
 *  happened to threads, and the number of connections. */
export async function deliverTwo(folder: string, second: { recipient: string | null }, isKept = false) {
  const zone = await startZone()
  zone.set('remote.test', 'A', ['127.0.0.1'])
  const reported = Promise.withResolvers<null>()
  if (isKept) reported.resolve(null)
  const remote = await startRemoteMx({
    script: { rcpt: (address) => (address === 'second@remote.test' ? '451 4.7.1 poison' : reported.promise) },
  })
  const results: Record<string, string> = {}
  const events: PoolEvent[] = []
  const preload = [new URL('../os/faulty-thread.ts', import.meta.url).href]
  const workers = new DeliveryThreads(
    {
      spawn: () => new Worker(new URL('../../src/sending/outbound/worker.ts', import.meta.url).href, { preload }),
      count: 1,
      settings: deliverySettings({ folder, zone: zone.address, port: remote.port, longestWaitMs: 3_000 }),
      clock: systemClock,
      log: { ...silentLog, error: () => reported.resolve(null) },
      onEvent: (event) => events.push(event),
    },
    {
      onResults: (batch) => {
        for (const { deliveryId, outcome } of batch)
          results[deliveryId] = outcome.kind === 'delivered' ? outcome.kind : outcome.message
      },
      onLost: (jobs) => {
        for (const { deliveryId, result } of jobs) results[deliveryId] = result
      },
    },
  )
  workers.submit([attemptJob({ deliveryId: 'dlv_1' })])
  if (isKept) await until('the first delivery', () => 'dlv_1' in results)
  workers.submit([attemptJob({ deliveryId: 'dlv_2', ...(second as object) })])
  await until('both deliveries', () => 'dlv_1' in results && 'dlv_2' in results)
  const seen = { results, events: [...events], connections: remote.connections() }
  await workers.stop(1_000)
  await Promise.all([zone.stop(), remote.stop()])
  return seen
}
