import { networkInterfaces } from 'node:os'
import { join } from 'node:path'
import { readKept } from './certificates/kept.ts'
import { authoritySettings } from './certificates/settings.ts'
import type { Config } from './config.ts'
import { checkDomain } from './domains/verify.ts'
import { type Check, type CheckResult, runChecks } from './health/check.ts'
import { machineChecks, storeChecks } from './health/checks.ts'
import type { LookedAt } from './health/domains.ts'
import { SIGNED_NAME } from './health/name-servers.ts'
import type { AuthorityCertificate, HeldPort, Installation, SendingDomain, Server, World } from './health/world.ts'
import type { Domain } from './model/domain.ts'
import { mtaStsOfHouse } from './operations.ts'
import { greet } from './outbound/greet.ts'
import { findAddresses } from './outbound/mx.ts'
import { peerOf } from './outbound/peer.ts'
import type { WallClock } from './platform/clock.ts'
import { createAddressGuard, createNetworks } from './platform/ip.ts'
import type { Random } from './platform/random.ts'
import { createResolver, systemServers } from './platform/resolver.ts'
import { askTime } from './platform/sntp.ts'
import type { Store } from './storage/store.ts'

/** The health checks with the real machine around them. */
interface Checkup {
  checks: Check[]
  close(): void
}

export interface CheckupOptions {
  clock: WallClock
  random: Random
  /** Null: there is none yet. */
  store: Store | null
  /** Beside those of the store. */
  domains?: readonly string[]
  /** Who listens on what; null: ports are not looked at. */
  held: readonly HeldPort[] | null
  /** The server that runs on the data directory, if one does. */
  server: Server | null
}

/** A call at a mail server; connecting to a port that is blocked takes all of it. */
const CALL_MS = 4_000
/** One question to one name server, which is asked twice. */
const QUESTION_MS = 1_000
const TIME_MS = 2_000
const TIME_PORT = 123
const UNIT_FOLDERS = ['/etc/systemd/system', '/usr/lib/systemd/system', '/lib/systemd/system']
/** Of more domains the first ones, by age, are looked at: each takes a dozen questions. */
const MOST_DOMAINS = 50

/** Config and what runs on it → what every check found. Rejects with what the store throws. */
export async function runCheckup(config: Config, options: CheckupOptions): Promise<CheckResult[]> {
  const { checks, close } = await openCheckup(config, options)
  try {
    return await runChecks(checks)
  } finally {
    close()
  }
}

/** Config and what runs on it → its Checkup. */
async function openCheckup(config: Config, options: CheckupOptions): Promise<Checkup> {
  const { store, held } = options
  const kept = store === null ? [] : await newestDomains(store)
  const { world, close } = openWorld(config, options)
  const installation = await installationOf(config, options, sendingDomains(kept, options.domains ?? []))
  const machine = machineChecks(installation, world).filter(({ name }) => held !== null || !OF_PORTS.has(name))
  const us = { hostname: config.hostname, resolver: world.resolver, mtaSts: mtaStsOfHouse(config) }
  const lookAtDomains = () =>
    Promise.all(
      kept.map(async (domain) => seenOf(domain, (await checkDomain(domain, { ...us, now: world.now() })).findings)),
    )
  const ofStore =
    store === null
      ? []
      : storeChecks({
          store,
          dataDir: config.dataDir,
          isServed: options.server !== null,
          now: world.now,
          lookAtDomains,
        })
  return { checks: [...machine, ...ofStore], close }
}

/** What a server need not ask about its own listeners. */
const OF_PORTS = new Set(['ports', 'low_ports'])
/** Without these nothing can be sent, or no bounce comes back. */
const NEEDED = new Set(['dkim', 'spf', 'return_path'])

function seenOf(
  { name, status }: Domain,
  findings: readonly { purpose: string; name: string; status: string }[],
): LookedAt {
  const needed = findings.filter(({ purpose }) => NEEDED.has(purpose))
  const isSilent = needed.some((finding) => finding.status === 'pending')
  const wrong = needed.filter((finding) => finding.status === 'missing' || finding.status === 'mismatch')
  return {
    name,
    wasVerified: status === 'verified',
    wrong: wrong.length === 0 && isSilent ? null : [...new Set(wrong.map((finding) => finding.name))],
  }
}

async function newestDomains(store: Store): Promise<Domain[]> {
  const found: Domain[] = []
  for (const { id } of await store.organizations.list()) {
    const room = MOST_DOMAINS - found.length
    if (room === 0) break
    found.push(...(await store.domains.list(id, { limit: room, after: null })).records)
  }
  return found
}

function sendingDomains(kept: readonly Domain[], more: readonly string[]): SendingDomain[] {
  const planned = more
    .filter((name) => kept.every((domain) => domain.name !== name))
    .map((name) => ({ name, returnPathHost: `bounces.${name}` }))
  return [...kept, ...planned]
}

async function installationOf(
  config: Config,
  { server }: CheckupOptions,
  domains: readonly SendingDomain[],
): Promise<Installation> {
  const { hostname, dataDir, storage, http, tls, smtp, metrics, delivery } = config
  const listeners = [
    { key: 'http.listen', at: http.listen },
    { key: 'http.listen_tls', at: http.listenTls },
    { key: 'http.listen_redirect', at: http.listenRedirect },
    { key: 'smtp.inbound.listen', at: smtp.inbound.listen },
    { key: 'smtp.submission.listen', at: smtp.submission.listen },
    { key: 'smtp.submission.listen_tls', at: smtp.submission.listenTls },
    { key: 'metrics.listen', at: metrics.listen },
  ].flatMap(({ key, at }) => (at === null ? [] : [{ key, ...at }]))
  return {
    hostname,
    dataDir,
    minFreeBytes: storage.minFreeBytes,
    listeners,
    sourceAddress: delivery.sourceAddress,
    smarthost: delivery.smarthost,
    domains,
    server,
    certificateFiles: [...new Set([tls.certificateFile, smtp.certificateFile])].filter((file) => file !== null),
    authority: tls.mode === 'acme' ? await authorityOf(config) : null,
  }
}

async function authorityOf(config: Config): Promise<AuthorityCertificate> {
  const { names, fingerprint } = authoritySettings(config)
  const { certificate, progress } = await readKept(config.dataDir, fingerprint)
  return { names, held: certificate, trouble: progress.trouble }
}

function openWorld(config: Config, { clock, random, held }: CheckupOptions): { world: World; close: () => void } {
  const { hostname, delivery, dns } = config
  const nameServers = dns.servers.length > 0 ? [...dns.servers] : systemServers()
  const asking = {
    servers: nameServers,
    clock: clock.steady,
    random,
    maxCacheEntries: 0,
    timeoutMs: QUESTION_MS,
    tries: 2,
  }
  const resolver = createResolver({ ...asking, trustedServers: dns.trustedResolvers })
  const believing = createResolver({ ...asking, trustedServers: ['0.0.0.0/0', '::/0'] })
  const { smarthost, sourceAddress } = delivery
  const ourselves = { hostname, sourceAddress, timeoutMs: CALL_MS }
  const settings = { smarthost, deliveryPort: delivery.port, sourceAddress }

  const greetSmarthost = async (host: string) => {
    const { addresses } = await findAddresses(host, resolver, () => true)
    const [address] = addresses
    if (address === undefined)
      return { isReached: false, problem: 'DNS has no address of it', words: '', durationMs: 0 }
    return greet(peerOf(host, address, { demand: 'none' }, settings), ourselves)
  }
  const world: World = {
    now: clock.now,
    resolver,
    nameServers,
    isTrusted: createNetworks(dns.trustedResolvers),
    validates: async () => {
      const answer = await believing.ns(SIGNED_NAME)
      return answer.kind === 'records' && answer.authentic
    },
    ownAddresses,
    mayConnect: delivery.allowPrivateDestinations ? () => true : createAddressGuard([]),
    greet: (host, address) =>
      greet(
        { ...peerOf(host, address, { demand: 'none' }, { ...settings, smarthost: null }), tls: 'never' },
        ourselves,
      ),
    greetSmarthost: smarthost === null ? null : () => greetSmarthost(smarthost.host),
    askTime: (address) => askTime({ address, port: TIME_PORT }, { now: clock.now, random, timeoutMs: TIME_MS }),
    held: held ?? [],
    proc: '/proc',
    sys: '/sys',
    units: UNIT_FOLDERS.map((folder) => join(folder, 'postrider.service')),
    looksOutside: config.health.lookOutside,
  }
  const close = () => {
    resolver.close()
    believing.close()
  }
  return { world, close }
}

/** Addresses of this machine's network interfaces, without loopback and link-local ones. */
export function ownAddresses(): string[] {
  return Object.values(networkInterfaces())
    .flatMap((addresses) => addresses ?? [])
    .filter(({ internal, address }) => !internal && !/^(?:fe80:|169\.254\.)/i.test(address))
    .map(({ address }) => address)
}
