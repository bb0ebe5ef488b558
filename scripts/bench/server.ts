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
  /** With this, it answers for a delegated zone. */
  delegated?: { zone: string; port: number }
  /** Addresses of this machine that it sends from, all in one pool; without, the system chooses. */
  addresses?: string[]
  /** Further DNS records. */
  zone?: ZoneRecord[]
  /** Fills the data directory before the start. */
  seed?: (home: Home) => Promise<void>
  /** Reads the data directory after the end. */
  autopsy?: (dataDir: string) => void
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
  const dataDir = join(folder, 'data')
  const zone = await startZone([...SINK_ZONE, ...(settings.zone ?? [])])
  const config = join(folder, 'config.toml')
  writeFileSync(config, configOf(settings, dataDir, zone))
  const key = settings.beside
    ? copyEncryptionKey(dataDir, settings.beside)
    : await setUp(file, config, settings, dataDir)

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
      settings.autopsy?.(dataDir)
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

/** Creates the installation → the key of its administrator. */
async function setUp(file: string, config: string, { seed }: Settings, dataDir: string): Promise<string> {
  const made = JSON.parse(await run(file, ['init', '--config', config, '--domain', 'bench.example', '--json']))
  await seed?.({ dataDir, organizationId: made.organization_id, domainId: made.domain_id })
  return made.api_key
}

/** A further node has the encryption key of the first. */
function copyEncryptionKey(dataDir: string, { dataDir: first, key }: Pick<Server, 'dataDir' | 'key'>): string {
  mkdirSync(dataDir)
  copyFileSync(join(first, 'seal.key'), join(dataDir, 'seal.key'))
  return key
}

/** Creates a resource by the API → its record. */
export async function create({ http, key }: Server, path: string, body: object): Promise<Record<string, string>> {
  const response = await fetch(`http://${http}${path}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  })
  if (response.status !== 201) throw new Error(`POST ${path}: ${response.status} ${await response.text()}`)
  return (await response.json()) as Record<string, string>
}

export const SINK_ZONE: ZoneRecord[] = [
  { name: 'sink.example', type: 'MX', data: { preference: 10, exchange: 'mx.sink.example' } },
  { name: 'mx.sink.example', type: 'A', data: '127.0.0.1' },
  { name: 'hooks.example', type: 'A', data: '127.0.0.1' },
]

function configOf(settings: Settings, dataDir: string, zone: Zone): string {
  const {
    sinkPort = 1,
    caFile,
    isOpen = false,
    databaseUrl,
    mayScheduleAll = false,
    delegated,
    addresses = [],
  } = settings
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
    ...(delegated === undefined
      ? []
      : [`zone = "${delegated.zone}"`, `listen = ["127.0.0.1:${delegated.port}"]`, 'responses_per_second = 0']),
    '[webhooks]',
    'allowed_private_networks = ["127.0.0.0/8"]',
    ...(caFile === undefined ? [] : [`ca_file = "${caFile}"`]),
    ...(mayScheduleAll ? ['[plans.enterprise]', 'scheduled_messages = -1'] : []),
    '[sending]',
    'require_verified_domain = false',
    ...addresses.flatMap((address) => ['[[sending.addresses]]', `address = "${address}"`]),
    '',
  ].join('\n')
}
