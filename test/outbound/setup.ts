import { afterEach, expect } from 'bun:test'
import { startZone, type Zone } from '../../src/cli/try/zone-server.ts'
import { type MailContent, packContent } from '../../src/mail/content.ts'
import { NO_RECIPIENT_PARTS } from '../../src/mail/recipient-parts.ts'
import { createResolver } from '../../src/net/dns/resolver.ts'
import { systemClock } from '../../src/os/clock.ts'
import { systemRandom } from '../../src/os/random.ts'
import { createAttempter } from '../../src/sending/outbound/attempt.ts'
import type { AttemptJob, WorkerSettings } from '../../src/sending/outbound/job.ts'
import { createPreparer } from '../../src/sending/outbound/prepare.ts'
import type { Relay } from '../../src/sending/outbound/relays/relay.ts'
import { TIMEOUTS, type Timeouts } from '../../src/sending/outbound/smtp/timeouts.ts'
import { createTransport } from '../../src/sending/outbound/smtp/transport.ts'

const open: { stop(): Promise<void> }[] = []
afterEach(async () => {
  for (const each of open.splice(0).reverse()) await each.stop()
})
/** Stopped after the test, in reverse order. */
export const keep = <T extends { stop(): Promise<void> }>(each: T): T => {
  open.push(each)
  return each
}

export const CONTENT: MailContent = {
  from: { name: 'Söderberg', local: 'news', domain: 'sender.test', address: 'news@sender.test' },
  to: [{ name: null, local: 'anna', domain: 'remote.test', address: 'anna@remote.test' }],
  cc: [],
  replyTo: [],
  subject: 'Grüße',
  dateAt: 1_795_262_400_000,
  messageId: '<1@sender.test>',
  html: '<p>Hello\n.\n..dots\n</p>',
  text: 'Hello\n.\n..dots\n',
  headers: [],
  attachments: [],
  boundarySeed: 'seed',
}

/** A relay without a login at this host and port, with these changes. */
export const relayAt = (host: string, port: number, more: Partial<Relay> = {}): Relay => ({
  name: 'one',
  host,
  port,
  tls: 'starttls',
  isTlsRequired: false,
  login: null,
  pins: [],
  destination: 'relay:one',
  maxConnections: 0,
  maxMailsPerMinute: 0,
  ...more,
})

/** Route through `relayAt`. */
export const VIA_RELAY: AttemptJob['route'] = {
  destination: 'relay:one',
  mx: null,
  relay: { name: 'one', rule: 1, because: 'rule' },
  connections: 2,
  maxMails: 500,
}

/** A live mail to anna@remote.test, with these changes. */
export const job = (more: Partial<AttemptJob> = {}): AttemptJob => ({
  deliveryId: 'dlv_1',
  messageId: 'msg_1',
  attempt: 1,
  recipient: 'anna@remote.test',
  returnPath: 'b+1@bounce.sender.test',
  content: packContent(CONTENT),
  signingKeys: [],
  signedAt: 1_795_262_400_000,
  recipientParts: NO_RECIPIENT_PARTS,
  requireTls: false,
  mtaSts: null,
  route: { destination: 'remote.test', mx: null, connections: 2, maxMails: 500 },
  sandbox: false,
  ...more,
})

/** Zone, resolver, transport and attempter as in a worker; `servers` are ports by host name. */
export async function createOutboundSetup(
  options: {
    settings?: Partial<WorkerSettings>
    timeouts?: Partial<Timeouts>
    ca?: string
    onBug?: (job: AttemptJob, error: unknown) => void
  } = {},
) {
  const zone = keep(await startZone())
  const settings: WorkerSettings = {
    hostname: 'out.sender.test',
    dnsServers: [zone.address],
    trustedDnsServers: [],
    deliveryPort: 25,
    relays: [],
    allowPrivateDestinations: true,
    sourceAddress: null,
    idleSessions: 500,
    longestWaitMs: 600_000,
    journal: { folder: '', worker: '' },
    ...options.settings,
  }
  const tools = { clock: systemClock, random: systemRandom }
  const resolver = createResolver({ servers: [zone.address], trustedServers: settings.trustedDnsServers, ...tools })
  const timeouts = { ...TIMEOUTS, ...options.timeouts }
  const { hostname, sourceAddress } = settings
  const transport = keep(createTransport({ hostname, sourceAddress, timeouts, ca: options.ca }))
  const onBug = options.onBug ?? ((_job, error) => expect(error).toBeUndefined())
  const attempt = createAttempter({
    ...tools,
    settings,
    resolver,
    preparer: createPreparer(),
    transport,
    timeouts,
    onBug,
  })
  keep({ stop: async () => resolver.close() })
  return { zone, resolver, attempt }
}

/** `remote.test` has these MX hosts, all of them 127.0.0.x. */
export function publish(zone: Zone, hosts: Record<string, string[]>): void {
  const names = Object.keys(hosts)
  zone.set(
    'remote.test',
    'MX',
    names.map((exchange, i) => ({ preference: 10 * i, exchange })),
  )
  for (const [name, addresses] of Object.entries(hosts)) zone.set(name, 'A', addresses)
}
