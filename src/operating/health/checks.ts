import type { DatabaseFacts, Store } from '../../storage/store.ts'
import { checkAlertChannels } from './alert-channels.ts'
import { checkBackup, checkHeld } from './backup.ts'
import { checkBlocklists } from './blocklists.ts'
import { checkCanary } from './canary.ts'
import { checkCertificates } from './certificate.ts'
import type { Check } from './check.ts'
import { checkClock } from './clock.ts'
import { databaseChecks } from './database.ts'
import { checkDelegation } from './delegation.ts'
import type { CheckDeps, Installation } from './deps.ts'
import { checkDataDir, checkDisk } from './disk.ts'
import { checkRotations } from './dkim-rotation.ts'
import { type CheckedDomain, checkDomains } from './domains.ts'
import { checkHostname } from './hostname.ts'
import { checkIpv6Listeners } from './ipv6-listeners.ts'
import { checkMemory, checkOpenFiles } from './limits.ts'
import { checkDelivered, checkQueue } from './mail-flow.ts'
import { checkNameServers } from './name-servers.ts'
import { createNetworkFacts, type NetworkFacts } from './network-facts.ts'
import { nodeChecks } from './nodes.ts'
import { checkPort25 } from './port-25.ts'
import { checkLowPorts, checkPorts } from './ports.ts'
import { checkRelays, checkSmarthost } from './relays.ts'
import { checkReverseDns } from './reverse-dns.ts'
import { checkDmarc, checkSpf } from './sender-policy.ts'
import { checkSendingAddresses } from './sending-addresses.ts'
import { checkSeparation } from './separation.ts'
import { checkSingleSignOn } from './single-sign-on.ts'
import { checkObjectStorage, checkStore } from './store.ts'
import { checkUserMail } from './user-mail.ts'
import { checkUsers } from './users.ts'

/** Checks that need no store, in recommended reading order. */
export function machineChecks(
  installation: Installation,
  deps: CheckDeps,
  facts: NetworkFacts = createNetworkFacts(installation, deps),
): Check[] {
  return [
    { name: 'name_servers', look: () => checkNameServers(deps, facts) },
    { name: 'delegation', look: () => checkDelegation(installation, deps) },
    { name: 'hostname', look: () => checkHostname(installation, deps, facts) },
    { name: 'reverse_dns_ipv4', look: () => checkReverseDns(4, installation, deps, facts) },
    { name: 'reverse_dns_ipv6', look: () => checkReverseDns(6, installation, deps, facts) },
    { name: 'sending_addresses', look: () => checkSendingAddresses(installation, deps, facts) },
    { name: 'outbound_port_25', look: () => checkPort25(installation, deps, facts) },
    { name: 'smarthost', look: () => checkSmarthost(installation, deps) },
    { name: 'relays', look: () => checkRelays(installation, deps) },
    { name: 'blocklists', look: () => checkBlocklists(installation, deps, facts) },
    { name: 'spf', look: () => checkSpf(installation, deps) },
    { name: 'dmarc', look: () => checkDmarc(installation, deps) },
    { name: 'ports', look: () => checkPorts(installation, deps) },
    { name: 'low_ports', look: () => checkLowPorts(installation, deps) },
    { name: 'ipv6_listeners', look: () => checkIpv6Listeners(installation, deps, facts) },
    { name: 'certificate', look: () => checkCertificates(installation, deps) },
    { name: 'oidc', look: () => checkSingleSignOn(deps) },
    { name: 'clock', look: () => checkClock(deps, facts) },
    { name: 'disk', look: () => checkDisk(installation, deps) },
    { name: 'data_dir', look: () => checkDataDir(installation) },
    { name: 'open_files', look: () => checkOpenFiles(installation, deps) },
    { name: 'memory', look: () => checkMemory(installation, deps) },
    { name: 'inbound_reading', look: () => checkSeparation(takesMail(installation), deps.readerSeparation) },
  ]
}

const takesMail = ({ listeners }: Installation) => listeners.some(({ key }) => key === 'smtp.inbound.listen')

/** Checks that need a store. */
export function storeChecks(deps: {
  store: Pick<Store, 'alerts' | 'contents' | 'quality' | 'queues' | 'held' | 'users' | 'checkWritable'>
  dataDir: string
  isServed: boolean
  now: () => number
  checkedDomains: () => Promise<readonly CheckedDomain[]>
  userMail: Parameters<typeof checkUserMail>[0]
  /** Domain → whether this server receives its mail. */
  receives: (domain: string) => Promise<boolean>
  canary: Parameters<typeof checkCanary>[0]
  /** Destination groups whose mail waits for a warm-up. */
  warmingGroups: (now: number) => Promise<readonly string[]>
  waitingRotations: Parameters<typeof checkRotations>[0]
  refusedKeys: Parameters<typeof checkRotations>[1]
  /** Names of the configured channels. */
  alertChannels: readonly string[]
}): Check[] {
  const { store, dataDir, isServed, now } = deps
  return [
    { name: 'store', look: () => checkStore(store) },
    { name: 'object_storage', look: () => checkObjectStorage(store) },
    { name: 'domains', look: () => checkDomains(deps.checkedDomains) },
    { name: 'dkim_rotation', look: () => checkRotations(deps.waitingRotations, deps.refusedKeys) },
    { name: 'user_mail', look: () => checkUserMail(deps.userMail) },
    { name: 'users', look: () => checkUsers(store.users, deps.receives) },
    { name: 'canary', look: () => checkCanary(deps.canary) },
    { name: 'deliveries', look: () => checkDelivered(store, now()) },
    {
      name: 'queue',
      look: () => checkQueue(store, { now: now(), isServed, warmingGroups: () => deps.warmingGroups(now()) }),
    },
    { name: 'held', look: () => checkHeld(store.held) },
    { name: 'backup', look: () => checkBackup(dataDir, now()) },
    { name: 'alert_channels', look: () => checkAlertChannels(store.alerts, deps.alertChannels) },
  ]
}

/** Checks of PostgreSQL and of the nodes that share it; none with SQLite. */
export function sharedChecks({ nodes }: Pick<Store, 'nodes'>, installation: Installation, deps: CheckDeps): Check[] {
  if (!installation.isShared) return []
  let facts: Promise<DatabaseFacts> | undefined
  const read = async () => {
    const found = await nodes.database(deps.machineNow)
    if (found === null) throw new Error('the installation uses SQLite')
    return found
  }
  const running = async () => (await nodes.list()).filter(({ state }) => state !== 'ended').length
  return [
    ...databaseChecks(() => {
      facts ??= read()
      return facts
    }, running),
    ...nodeChecks(nodes.list, installation, deps),
  ]
}
