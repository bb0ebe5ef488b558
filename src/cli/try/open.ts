import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { makeConfig } from '../../config/load.ts'
import { EVENT_TYPES } from '../../model/event.ts'
import { createResolver } from '../../net/dns/resolver.ts'
import { selfSignedCertificate } from '../../net/tls/certificate.ts'
import { systemClock, type WallClock } from '../../os/clock.ts'
import type { Log } from '../../os/log.ts'
import { systemRandom } from '../../os/random.ts'
import { ListenFailure } from '../../server/listeners.ts'
import { startServer } from '../../server/server.ts'
import { CommandFailure } from '../failure.ts'
import { localUser } from '../local-user.ts'
import { makeLoginLink } from '../login-link.ts'
import { createOperator, type Operator } from '../operator.ts'
import { type ArrivedMail, startMailServer } from './mail-server.ts'
import { type ArrivedCall, type ArrivedInbound, startWebhookReceiver } from './webhook-receiver.ts'
import { startZone, type Zone } from './zone-server.ts'

export const DOMAIN = 'postrider.example'
export const RECIPIENT = 'ann@customer.example'
const HOSTNAME = `mail.${DOMAIN}`
const MX_HOST = 'mx.recipients.example'

/** Ports on 127.0.0.1; 0 means any free port. */
export interface TryPorts {
  http: number
  inbound: number
  submission: number
}

/** A complete server with DNS, a mail server and a webhook receiver, all on loopback, in a temporary folder. */
export interface TryOut {
  /** `127.0.0.1:port` of the API. */
  http: string
  baseUrl: string
  /** One-time sign-in link to the dashboard. */
  dashboardUrl: string
  dataDir: string
  mailServer: string
  /** `127.0.0.1:port` for inbound mail and for SMTP submission. */
  smtpInbound: string
  smtpSubmission: string
  liveKey: string
  testKey: string
  webhook: { id: string; url: string; secret: string }
  /** Catch-all route of the domain, with the lowest priority. */
  route: { id: string; secret: string }
  stop(): Promise<void>
}

/** Starts DNS, a mail server that is the MX of every domain, a webhook receiver, and the server itself with an
 *  organization, a verified domain, a test and a live key, a webhook for all events and a catch-all inbound route. MX
 *  lookups, DKIM and verification use DNS, as in production. Throws CommandFailure if a port is in use, after it has
 *  stopped what it started. */
export async function openTryOut(options: {
  ports: TryPorts
  log: Log
  /** URL that each webhook request is forwarded to. */
  forwardTo?: URL | undefined
  onMail: (mail: ArrivedMail) => void
  onCall: (call: ArrivedCall) => void
  onInbound: (mail: ArrivedInbound) => void
}): Promise<TryOut> {
  const undo: (() => unknown)[] = []
  const stop = async () => {
    for (const step of undo.splice(0).reverse()) await step()
  }
  try {
    return { ...(await build(options, undo)), stop }
  } catch (error) {
    await stop()
    throw portFailure(error)
  }
}

async function build(
  { ports, log, forwardTo, onMail, onCall, onInbound }: Parameters<typeof openTryOut>[0],
  undo: (() => unknown)[],
): Promise<Omit<TryOut, 'stop'>> {
  const clock: WallClock = systemClock
  const folder = mkdtempSync(join(tmpdir(), 'postrider-try-'))
  const removeFolder = () => rmSync(folder, { recursive: true, force: true })
  process.once('exit', removeFolder) // a second Ctrl-C exits before stop
  undo.push(removeFolder)

  const certificate = await selfSignedCertificate({ names: ['127.0.0.1', 'localhost', MX_HOST], now: clock.now() })
  writeFileSync(join(folder, 'ca.pem'), certificate.certificatePem)
  const zone = await startZone(ZONE_RECORDS)
  undo.push(() => zone.stop())
  const resolver = createResolver({ servers: [zone.address], clock, random: systemRandom })
  undo.push(() => resolver.close())
  const mailServer = await startMailServer({ certificate, hostname: MX_HOST, resolver, clock, onMail })
  undo.push(() => mailServer.stop())
  const receiver = startWebhookReceiver({ certificate, clock, forwardTo, onCall, onInbound })
  undo.push(() => receiver.stop())

  const config = makeConfig({
    hostname: HOSTNAME,
    data_dir: join(folder, 'data'),
    http: { listen: `127.0.0.1:${ports.http}` },
    smtp: {
      inbound: { listen: `127.0.0.1:${ports.inbound}` },
      submission: { listen: `127.0.0.1:${ports.submission}` },
    },
    delivery: { port: mailServer.port, allow_private_destinations: true, retry_schedule_seconds: [2, 5, 15, 60] },
    dns: { servers: [zone.address] },
    health: { look_outside: false },
    inbound: { confirm_forward_targets: false }, // no address of the try-out belongs to another person
    webhooks: {
      allowed_private_networks: ['127.0.0.0/8', '::1/128'],
      ca_file: join(folder, 'ca.pem'),
      retry_schedule_seconds: [1, 2, 5, 10],
    },
  })
  const server = await startServer(config, { log })
  undo.push(() => server.stop())
  const operator = createOperator({ config, store: server.store, clock, random: systemRandom, log, user: localUser() })
  undo.push(() => operator.close())

  const organizationId = operator.mintId('org')
  await server.store.organizations.create({
    id: organizationId,
    name: 'Try-out',
    plan: 'enterprise',
    createdAt: clock.now(),
  })
  const domainId = await addVerifiedDomain(organizationId, operator, zone)
  const [liveKey, testKey] = await Promise.all([
    makeKey(organizationId, domainId, 'live', operator),
    makeKey(organizationId, domainId, 'test', operator),
  ])
  const webhook = await operator.run('webhooks_create', {
    organizationId,
    body: { url: receiver.url, events: [...EVENT_TYPES], description: 'the terminal' },
  })
  const route = await operator.run('inbound_routes_create', {
    organizationId,
    body: {
      name: 'the terminal',
      match: { type: 'catch_all' },
      action: { type: 'webhook', config: { url: receiver.inboundUrl } },
      priority: -1,
    },
  })
  receiver.setSecrets({ webhook: String(webhook.secret), route: String(route.secret) })

  return {
    http: bound(server.listening.http),
    baseUrl: server.publicUrl,
    dashboardUrl: (await makeLoginLink(server.store, server.publicUrl)).url,
    dataDir: config.dataDir,
    mailServer: `127.0.0.1:${mailServer.port}`,
    smtpInbound: bound(server.listening.smtpInbound),
    smtpSubmission: bound(server.listening.smtpSubmission),
    liveKey,
    testKey,
    webhook: { id: webhook.id, url: receiver.url, secret: webhook.secret },
    route: { id: route.id, secret: route.secret },
  }
}

/** Address of a listener that the config of the try-out enables. */
function bound(address: string | null): string {
  if (address === null) throw new Error('a listener of the try-out is off')
  return address
}

/** The local server is the MX of every domain, except below `.invalid`, which does not exist (RFC 6761 §6.4). A
 *  wildcard does not match below an existing name (RFC 4592 §2.2.2), so `example` has its own. */
const ZONE_RECORDS: Parameters<typeof startZone>[0] = [
  ...['*', '*.example', 'recipients.example', `*.${DOMAIN}`].map((name) => ({
    name,
    type: 'MX' as const,
    data: { preference: 10, exchange: MX_HOST },
  })),
  { name: MX_HOST, type: 'A', data: '127.0.0.1' },
  { name: HOSTNAME, type: 'A', data: '127.0.0.1' },
  { name: 'invalid', type: 'TXT', data: 'reserved' },
]

/** Adds the domain, publishes its DNS records and verifies it, as a customer does. Returns the id of the domain. */
async function addVerifiedDomain(organizationId: string, operator: Operator, zone: Zone): Promise<string> {
  const domain = await operator.run('domains_create', { organizationId, body: { name: DOMAIN } })
  for (const { type, name, value, priority } of domain.dns_records) {
    zone.set(name, type, [priority === null ? value : { preference: priority, exchange: value }])
  }
  const params = { domain_id: domain.id }
  const { status } = await operator.run('domains_verify', { organizationId, params })
  if (status !== 'verified') throw new Error(`the domain of the try-out is ${status}`)
  return params.domain_id
}

async function makeKey(organizationId: string, domainId: string, mode: 'live' | 'test', operator: Operator) {
  const body = { name: `try ${mode}`, domain_id: domainId, permissions: ['admin'], mode }
  const key = await operator.run('api_keys_create', { organizationId, body })
  return key.key
}

/** Replaces the config key of a port in the message with the command-line option. */
function portFailure(thrown: unknown): unknown {
  if (!(thrown instanceof ListenFailure)) return thrown
  return new CommandFailure(
    thrown.key === 'http.listen' ? thrown.message.replace('http.listen', 'port') : thrown.message,
  )
}
