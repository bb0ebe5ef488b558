import { type Config, readSecretFile } from '../../config/load.ts'
import { ownServerOf } from '../../domains/records.ts'
import { surveyOf } from '../../domains/survey.ts'
import { type Domain, isOwned, isReadyToSend } from '../../model/domain.ts'
import type { WallClock } from '../../os/clock.ts'
import { silentLog } from '../../os/log.ts'
import type { Random } from '../../os/random.ts'
import { probeMailboxes } from '../../server/canary.ts'
import { nodeHosts } from '../../server/name-server.ts'
import type { Store } from '../../storage/store.ts'
import { type CheckResult, runChecks } from '../health/check.ts'
import { machineChecks, sharedChecks, storeChecks } from '../health/checks.ts'
import type { CheckDeps, HeldPort, Server } from '../health/deps.ts'
import { createNetworkFacts } from '../health/network-facts.ts'
import { warmupWaits } from '../health/warmup-waits.ts'
import { openCheckDeps } from './deps.ts'
import { domainsToLookAt, lookAtDomain, sendingDomains } from './domains.ts'
import { installationOf } from './installation.ts'
import { isLocalOnly, withoutPublicFaults } from './local-only.ts'
import { refusedKeys, waitingRotations } from './rotations.ts'

/** The results of a checkup. */
export interface Found {
  checks: CheckResult[]
  /** Public addresses of this machine, seen from outside or assigned to it; IPv4 before IPv6. */
  addresses: string[]
}

export interface CheckupOptions {
  clock: WallClock
  random: Random
  /** Null if there is no database yet. */
  store: Store | null
  /** Domains to check in addition to those of the store. */
  domains?: readonly string[]
  /** Processes that hold ports; null skips the check of ports. */
  held: readonly HeldPort[] | null
  /** The server that uses the data directory, if one is running. */
  server: Server | null
  /** Only checks with these names, and no search for addresses; absent: all. */
  only?: readonly string[]
}

/** Runs every health check on this machine. Rejects with the store's error. */
export async function runCheckup(config: Config, options: CheckupOptions): Promise<Found> {
  const { store, held, server } = options
  const kept = store === null ? [] : await domainsToLookAt(store, options.clock.now())
  const { deps, close } = openCheckDeps(config, options)
  try {
    const installation = await installationOf(config, server, sendingDomains(kept, options.domains ?? []), {
      certificates: store?.certificates ?? null,
      hosts: store === null ? [] : await nodeHosts(store),
    })
    const facts = createNetworkFacts(installation, deps)
    const machine = machineChecks(installation, deps, facts)
    const all = [
      ...machine.filter(({ name }) => held !== null || !OF_PORTS.has(name)),
      ...(store === null ? [] : ofStore(store, kept, config, options, deps)),
      ...(store === null ? [] : sharedChecks(store, installation, deps)),
    ]
    const { only } = options
    const checks = await runChecks(only === undefined ? all : all.filter(({ name }) => only.includes(name)))
    const addresses =
      only === undefined ? [...(await facts.publicAddresses(4)), ...(await facts.publicAddresses(6))] : []
    return { checks: isLocalOnly(config) ? withoutPublicFaults(checks) : checks, addresses }
  } finally {
    close()
  }
}

function ofStore(store: Store, kept: readonly Domain[], config: Config, options: CheckupOptions, deps: CheckDeps) {
  const us = { server: ownServerOf(config), resolver: deps.resolver, now: deps.now() }
  const isReady = (domain: Domain) => !config.sending.requireVerifiedDomain || isReadyToSend(domain)
  const checkedDomains = () => Promise.all(kept.map((domain) => lookAtDomain(domain, us)))
  return storeChecks({
    store,
    dataDir: config.dataDir,
    isServed: options.server !== null,
    now: deps.now,
    alertChannels: config.alerts.channels.map(({ name }) => name),
    checkedDomains,
    warmingGroups: (now) => warmupWaits(store, config.sending.addresses, now),
    waitingRotations: rotationsOf(store, config, options, deps),
    refusedKeys: () => refusedKeys(store, config.dns.providerZones),
    receives: async (name) => {
      const domain = await store.domains.findByName(name)
      return domain !== null && isOwned(domain, config.sending.requireVerifiedDomain)
    },
    userMail: { from: config.users.mailFrom, find: store.domains.findByName, isReady },
    canary: {
      everyMinutes: config.canary.everyMinutes,
      from: config.canary.from || config.users.mailFrom,
      find: store.domains.findByName,
      isReady,
      unreadable: () => config.canary.mailboxes.flatMap(({ name, passwordFile }) => unreadable(name, passwordFile)),
      probe:
        deps.looksOutside && config.canary.mailboxes.length > 0
          ? () => probeMailboxes(config, { clock: options.clock.steady, log: silentLog })
          : null,
    },
  })
}

function rotationsOf(store: Store, config: Config, { clock, random }: CheckupOptions, { resolver, now }: CheckDeps) {
  const { zone, providerZones } = config.dns
  const survey = surveyOf(config, { resolver, clock: clock.steady, random, timeoutMs: 1_000 })
  if (survey === undefined) return null
  return () => waitingRotations(store, { zone, providerZones, survey, resolver, now: now() })
}

function unreadable(mailbox: string, passwordFile: string): string[] {
  try {
    return readSecretFile(passwordFile).trim() === '' ? [`password_file of ${mailbox} is empty`] : []
  } catch (error) {
    return [`password_file of ${mailbox}: ${error instanceof Error ? error.message : String(error)}`]
  }
}

/** Checks of ports, which a running server does not make about itself. */
const OF_PORTS = new Set(['ports', 'low_ports'])
