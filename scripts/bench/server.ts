import { copyFileSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { startZone, type Zone, type ZoneRecord } from '../../src/cli/try/zone-server.ts'
import { cpuSeconds, residentMb, run, start } from './process.ts'

/** The binary under test with the settings that `init` writes, plus what a setup on loopback requires: its own DNS,
 *  private destinations, no verified domain. Mail for `sink.example` goes to 127.0.0.1, webhooks to `hooks.example`. */
export interface Server {
  pid: number
  /** `host:port`. */
  http: string
  smtpInbound: string
  key: string
  dataDir: string
  readyMs: number
  residentMb(): number
  cpuSeconds(): number
  /** SIGKILL is for a server that still holds mail for peers that never answer. */
  stop(signal?: 'SIGTERM' | 'SIGKILL'): Promise<void>
}

export interface Settings {
  scratch: string
  /** The port of every mail server, at any address. */
  sinkPort?: number
  /** Certificate of the webhook receivers. */
  caFile?: string
  /** With this, it also accepts inbound mail. */
  isOpen?: boolean
  /** URL of an empty PostgreSQL database; SQLite without. */
  databaseUrl?: string
  /** Without a limit of scheduled messages, which each request that schedules one would count. */
  mayScheduleAll?: boolean
  /** Another node on the same database, whose installation this one joins. */
  beside?: Pick<Server, 'dataDir' | 'key'>
  /** A filled data directory with a key of it, to serve as it is. */
  existing?: { dataDir: string; key: string }
  /** How long mail is kept; always without. */
  retentionDays?: number
  /** Further DNS records. */
  zone?: ZoneRecord[]
  /** Fills the data directory before the start. */
  seed?: (home: Home) => Promise<void>
}

/** What `init` created. */
export interface Home {
  dataDir: string
  organizationId: string
  domainId: string
}

/** Settings → the running server on a temporary data directory, which is removed when it stops. */
export async function openServer(file: string, settings: Settings): Promise<Server> {
  const folder = mkdtempSync(join(settings.scratch, 'server-'))
  const dataDir = settings.existing?.dataDir ?? join(folder, 'data')
  const zone = await startZone([...SINK_ZONE, ...(settings.zone ?? [])])
  const config = join(folder, 'config.toml')
  writeFileSync(config, configOf(settings, dataDir, zone))
  const key = settings.existing?.key ?? (await setUp(file, config, settings, dataDir))

  const startedAt = performance.now()
  const child = await start(file, ['serve', '--config', config])
  const readyMs = performance.now() - startedAt
  return {
    pid: child.pid,
    key,
    dataDir,
    http: String(child.first.http),
    smtpInbound: String(child.first.smtp_inbound),
    readyMs,
    residentMb: () => residentMb(child.pid),
    cpuSeconds: () => cpuSeconds(child.pid),
    stop: async (signal) => {
      await child.stop(signal)
      await zone.stop()
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

/** Creates the installation, or joins that of `beside` → the key of its administrator. */
async function setUp(file: string, config: string, { seed, beside }: Settings, dataDir: string): Promise<string> {
  if (beside !== undefined) {
    mkdirSync(dataDir)
    copyFileSync(join(beside.dataDir, 'seal.key'), join(dataDir, 'seal.key'))
    return beside.key
  }
  const made = JSON.parse(await run(file, ['init', '--config', config, '--domain', 'bench.example', '--json']))
  await seed?.({ dataDir, organizationId: made.organization_id, domainId: made.domain_id })
  return made.api_key
}

/** Creates a resource by the API → its record. */
export function create(server: Server, path: string, body: object): Promise<Record<string, string>> {
  return request(server, 'POST', path, body)
}

/** Sends a request to the API → the response. Rejects at a refusal. */
export async function request({ http, key }: Server, method: string, path: string, body: object) {
  const response = await fetch(`http://${http}${path}`, {
    method,
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  })
  if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${await response.text()}`)
  return (await response.json()) as Record<string, string>
}

const SINK_ZONE: ZoneRecord[] = [
  { name: 'sink.example', type: 'MX', data: { preference: 10, exchange: 'mx.sink.example' } },
  { name: 'mx.sink.example', type: 'A', data: '127.0.0.1' },
  { name: 'hooks.example', type: 'A', data: '127.0.0.1' },
]

function configOf(settings: Settings, dataDir: string, zone: Zone): string {
  const { sinkPort = 1, caFile, isOpen = false, databaseUrl, mayScheduleAll = false, retentionDays } = settings
  return [
    'hostname = "mail.bench.example"',
    `data_dir = "${dataDir}"`,
    ...(databaseUrl === undefined ? [] : ['[database]', `url = "${databaseUrl}"`, '[cluster]', 'takeover_seconds = 3']),
    '[http]',
    'listen = "127.0.0.1:0"',
    '[smtp.inbound]',
    `listen = "${isOpen ? '127.0.0.1:0' : 'off'}"`,
    '[delivery]',
    `port = ${sinkPort}`,
    'allow_private_destinations = true',
    '[dns]',
    `servers = ["${zone.address}"]`,
    '[webhooks]',
    'allowed_private_networks = ["127.0.0.0/8"]',
    ...(caFile === undefined ? [] : [`ca_file = "${caFile}"`]),
    '[plans.enterprise]',
    ...(mayScheduleAll ? ['scheduled_messages = -1'] : []),
    ...(retentionDays === undefined ? [] : [`retention_days = ${retentionDays}`]),
    '[sending]',
    'require_verified_domain = false',
    '',
  ].join('\n')
}
