import type { Store } from '../storage/store.ts'
import { checkBackup, checkHeld } from './backup.ts'
import { checkBlocklists } from './blocklists.ts'
import { checkCertificates } from './certificate.ts'
import type { Check } from './check.ts'
import { checkClock } from './clock.ts'
import { checkDataDir, checkDisk } from './disk.ts'
import { checkDomains, type LookedAt } from './domains.ts'
import { checkHostname } from './hostname.ts'
import { checkMemory, checkOpenFiles } from './limits.ts'
import { checkDelivered, checkQueue } from './mail-flow.ts'
import { checkNameServers } from './name-servers.ts'
import { checkPort25 } from './port-25.ts'
import { checkLowPorts, checkPorts } from './ports.ts'
import { checkReverseDns } from './reverse-dns.ts'
import { checkDmarc, checkSpf } from './sender-policy.ts'
import { checkSeparation } from './separation.ts'
import { checkSmarthost } from './smarthost.ts'
import { checkStore } from './store.ts'
import { createSurroundings, type Surroundings } from './network-facts.ts'
import type { Installation, World } from './deps.ts'

/** What can be looked at on a machine with nothing on it yet, in the order in which it is best read. */
export function machineChecks(
  installation: Installation,
  world: World,
  around: Surroundings = createSurroundings(installation, world),
): Check[] {
  return [
    { name: 'name_servers', look: () => checkNameServers(world, around) },
    { name: 'hostname', look: () => checkHostname(installation, world, around) },
    { name: 'reverse_dns_ipv4', look: () => checkReverseDns(4, installation, world, around) },
    { name: 'reverse_dns_ipv6', look: () => checkReverseDns(6, installation, world, around) },
    { name: 'outbound_port_25', look: () => checkPort25(installation, world, around) },
    { name: 'smarthost', look: () => checkSmarthost(installation, world) },
    { name: 'blocklists', look: () => checkBlocklists(installation, world, around) },
    { name: 'spf', look: () => checkSpf(installation, world) },
    { name: 'dmarc', look: () => checkDmarc(installation, world) },
    { name: 'ports', look: () => checkPorts(installation, world) },
    { name: 'low_ports', look: () => checkLowPorts(installation, world) },
    { name: 'certificate', look: () => checkCertificates(installation, world) },
    { name: 'clock', look: () => checkClock(world, around) },
    { name: 'disk', look: () => checkDisk(installation, world) },
    { name: 'data_dir', look: () => checkDataDir(installation) },
    { name: 'open_files', look: () => checkOpenFiles(installation, world) },
    { name: 'memory', look: () => checkMemory(installation, world) },
    { name: 'inbound_reading', look: () => checkSeparation(takesMail(installation), world.readerSeparation) },
  ]
}

const takesMail = ({ listeners }: Installation) => listeners.some(({ key }) => key === 'smtp.inbound.listen')

/** What can be looked at where there is a store. */
export function storeChecks(house: {
  store: Pick<Store, 'quality' | 'queues' | 'held' | 'checkWritable'>
  dataDir: string
  isServed: boolean
  now: () => number
  lookAtDomains: () => Promise<readonly LookedAt[]>
}): Check[] {
  const { store, dataDir, isServed, now } = house
  return [
    { name: 'store', look: () => checkStore(store) },
    { name: 'domains', look: () => checkDomains(house.lookAtDomains) },
    { name: 'deliveries', look: () => checkDelivered(store, now()) },
    { name: 'queue', look: () => checkQueue(store, { now: now(), isServed }) },
    { name: 'held', look: () => checkHeld(store.held) },
    { name: 'backup', look: () => checkBackup(dataDir, now()) },
  ]
}
