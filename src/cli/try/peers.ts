import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createResolver } from '../../net/dns/resolver.ts'
import { selfSignedCertificate } from '../../net/tls/certificate.ts'
import { systemClock } from '../../os/clock.ts'
import { systemRandom } from '../../os/random.ts'
import { type ArrivedMail, type LocalMailServer, startMailServer } from './mail-server.ts'
import {
  type ArrivedCall,
  type ArrivedInbound,
  startWebhookReceiver,
  type WebhookReceiver,
} from './webhook-receiver.ts'
import { startZone, type Zone } from './zone-server.ts'

export const DOMAIN = 'postrider.example'
export const HOSTNAME = `mail.${DOMAIN}`
const MX_HOST = 'mx.recipients.example'

/** What the servers of the try-out talk to, all on loopback. */
export interface Peers {
  /** Temporary folder. */
  folder: string
  zone: Zone
  mailServer: LocalMailServer
  receiver: WebhookReceiver
  /** Config sections that lead a server to these peers. */
  sections: object
}

export interface PeerEvents {
  /** URL that each webhook request is forwarded to. */
  forwardTo?: URL | undefined
  onMail: (mail: ArrivedMail) => void
  onCall: (call: ArrivedCall) => void
  onInbound: (mail: ArrivedInbound) => void
}

/** Starts DNS, a mail server that is the MX of every domain, and a webhook receiver. Each started part adds to `undo`
 *  what stops it; the temporary folder is removed at the exit of the process too. */
export async function startPeers(
  { forwardTo, onMail, onCall, onInbound }: PeerEvents,
  undo: (() => unknown)[],
): Promise<Peers> {
  const clock = systemClock
  const folder = mkdtempSync(join(tmpdir(), 'postrider-try-'))
  const removeFolder = () => rmSync(folder, { recursive: true, force: true })
  process.once('exit', removeFolder) // a second Ctrl-C exits before stop
  undo.push(removeFolder)

  const certificate = await selfSignedCertificate({ names: ['127.0.0.1', 'localhost', MX_HOST], now: clock.now() })
  const ca = join(folder, 'ca.pem')
  writeFileSync(ca, certificate.certificatePem)
  const zone = await startZone(ZONE_RECORDS)
  undo.push(() => zone.stop())
  const resolver = createResolver({ servers: [zone.address], clock, random: systemRandom })
  undo.push(() => resolver.close())
  const mailServer = await startMailServer({ certificate, hostname: MX_HOST, resolver, clock, onMail })
  undo.push(() => mailServer.stop())
  const receiver = startWebhookReceiver({ certificate, clock, forwardTo, onCall, onInbound })
  undo.push(() => receiver.stop())
  const sections = {
    delivery: { port: mailServer.port, allow_private_destinations: true, retry_schedule_seconds: [2, 5, 15, 60] },
    dns: { servers: [zone.address] },
    health: { look_outside: false },
    webhooks: {
      allowed_private_networks: ['127.0.0.0/8', '::1/128'],
      ca_file: ca,
      retry_schedule_seconds: [1, 2, 5, 10],
    },
    attachments: { allowed_private_networks: ['127.0.0.0/8', '::1/128'], ca_file: ca },
  }
  return { folder, zone, mailServer, receiver, sections }
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
