/** The Internet around the server of the month: its DNS, the mailbox providers on one port, and the receiver of webhooks. */
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { startZone, type Zone } from '../../src/cli/try/zone-server.ts'
import { type ConfigValues, readValues } from '../../src/config/load.ts'
import { selfSignedCertificate } from '../../src/net/tls/certificate.ts'
import { type RawMx, startRawMx } from '../../test/support/remote-mx.ts'
import { acceptance, MX_OF, replyTo } from './providers.ts'

export const HOSTNAME = 'mail.northwind.example'
export const HOOKS = 'https://hooks.northwind.example:28443'
const HOOKS_PORT = 28_443
/** Sending addresses: the last one has no reverse DNS. */
export const ADDRESSES = [
  { address: '127.0.0.2', hostname: HOSTNAME },
  { address: '127.0.0.3', hostname: 'out2.northwind.example', pool: 'bulk' },
  { address: '127.0.0.4', hostname: 'out3.northwind.example', pool: 'spare' },
]
const LAST_RECORD = { mname: 'ns.example', rname: 'hostmaster.example', minimum: 1 }

export interface World {
  zone: Zone
  mx: RawMx
  stop(): Promise<void>
}

/** Starts it, with the certificate of the webhooks' host in `folder`. A second world on this machine receives no webhooks,
 *  because the port is part of their URLs. */
export async function startWorld(folder: string): Promise<World> {
  const zone = await startZone([
    { name: 'example', type: 'SOA', data: LAST_RECORD as never },
    { name: 'mx.providers.example', type: 'A', data: '127.0.0.1' },
    { name: 'hooks.northwind.example', type: 'A', data: '127.0.0.1' },
    { name: HOSTNAME, type: 'A', data: '127.0.0.2' },
    { name: '2.0.0.127.in-addr.arpa', type: 'PTR', data: HOSTNAME },
    { name: '3.0.0.127.in-addr.arpa', type: 'PTR', data: 'out2.northwind.example' },
    { name: 'out2.northwind.example', type: 'A', data: '127.0.0.3' },
  ])
  for (const [domain, mx] of MX_OF) {
    zone.set(domain, 'MX', [{ preference: 10, exchange: mx }])
    zone.set(mx, 'A', ['127.0.0.1'])
  }
  const certificate = await certificateIn(folder)
  const attempts = new Map<string, number>()
  const recipients = new Map<number, string>()
  const mx = await startRawMx({
    tls: certificate,
    script: (cue, line, connection) => {
      if (cue === 'DOT') return acceptance(recipients.get(connection) ?? '')
      if (cue !== 'RCPT') return null
      const address = /<([^>]*)>/.exec(line)?.[1] ?? ''
      const before = attempts.get(address) ?? 0
      attempts.set(address, before + 1)
      recipients.set(connection, address)
      return replyTo(address, before)
    },
  })
  const hooks = receiver(certificate)
  return {
    zone,
    mx,
    stop: async () => {
      await Promise.all([zone.stop(), mx.stop(), hooks?.stop(true)])
    },
  }
}

/** Config of the server in `folder`, whose data directory is `folder`/data. */
export function configOf(folder: string, { zone, mx }: World, http: string): ReturnType<typeof readValues> {
  const values: ConfigValues = {
    hostname: HOSTNAME,
    data_dir: join(folder, 'data'),
    http: { listen: http },
    smtp: { inbound: { listen: 'off' } },
    delivery: { port: mx.port, allow_private_destinations: true, workers: 1 },
    dns: { servers: [zone.address] },
    alerts: { channels: [{ name: 'on-call', type: 'slack', url: `${HOOKS}/alerts`, min_severity: 'warning' }] },
    webhooks: { allowed_private_networks: ['127.0.0.0/8'], ca_file: join(folder, 'hooks.pem') },
    plans: { pro: { messages_per_month: 12_000, retention_days: 90 } },
    sending: {
      addresses: ADDRESSES,
      streams: { bulk: { unsubscribe: true, pool: 'bulk' }, digest: { unsubscribe: true } },
    },
  }
  return readValues(values)
}

/** Answers 200, or nothing where another process has the port. */
function receiver({ keyPem, certificatePem }: { keyPem: string; certificatePem: string }) {
  try {
    return Bun.serve({
      hostname: '127.0.0.1',
      port: HOOKS_PORT,
      tls: { key: keyPem, cert: certificatePem },
      fetch: () => new Response('ok'),
    })
  } catch {
    return undefined
  }
}

async function certificateIn(folder: string): Promise<{ keyPem: string; certificatePem: string }> {
  const [file, keyFile] = [join(folder, 'hooks.pem'), join(folder, 'hooks.key')]
  if (!existsSync(file)) {
    const names = ['hooks.northwind.example', ...new Set(MX_OF.values())]
    const made = await selfSignedCertificate({ names, now: Date.now() })
    writeFileSync(file, made.certificatePem)
    writeFileSync(keyFile, made.keyPem, { mode: 0o600 })
  }
  return { keyPem: readFileSync(keyFile, 'utf8'), certificatePem: readFileSync(file, 'utf8') }
}
