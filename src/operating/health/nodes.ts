import { isIP } from 'node:net'
import { isSpf } from '../../mail/spf-record.ts'
import type { NodeRecord } from '../../storage/store.ts'
import { type Check, fail, pass, skip, type Verdict, warn } from './check.ts'
import type { CheckDeps, Installation } from './deps.ts'
import { recordsOf } from './network-facts.ts'

/** Checks of the nodes of an installation. `list` reads them. */
export function nodeChecks(
  list: () => Promise<readonly NodeRecord[]>,
  installation: Pick<Installation, 'domains' | 'smarthost' | 'addressesOfNodes'>,
  deps: Pick<CheckDeps, 'resolver' | 'spfAllows'>,
): Check[] {
  const running = async () => (await list()).filter(({ state }) => state !== 'ended')
  return [
    { name: 'nodes', look: async () => checkNodes(await list(), installation) },
    { name: 'node_settings', look: async () => checkSettings(await running()) },
    { name: 'node_names', look: async () => checkNodeNames(await running(), installation, deps) },
  ]
}

function checkNodes(all: readonly NodeRecord[], { addressesOfNodes }: Pick<Installation, 'addressesOfNodes'>): Verdict {
  const running = all.filter(({ state }) => state !== 'ended')
  if (running.length === 0) return skip('no node runs')
  const names = (state: NodeRecord['state']) => all.flatMap((node) => (node.state === state ? [node.name] : []))
  const keys = new Set(running.map(({ keyName }) => keyName))
  if (keys.size > 1) {
    return fail(
      'the nodes encrypt with different keys, so some secrets are unreadable on others',
      'Copy the same seal.key to all nodes, and restart them.',
    )
  }
  const [silent] = names('silent')
  if (silent !== undefined) {
    return fail(`${silent} has no contact with the database`, `Check its log and its network: journalctl -u postrider`)
  }
  const versions = new Set(running.map(({ version }) => version.split('.')[0]))
  if (versions.size > 1) {
    const found = running.map(({ name, version }) => `${name} ${version}`).join(', ')
    return warn(`the nodes have different major versions: ${found}`, 'Upgrade the nodes with the older version.')
  }
  if (names('active').length === 0) return fail('all nodes drain: no mail goes out', 'Restart a node.')
  const absent = addressesOfNodes.find(({ node }) => !running.some(({ name }) => name === node))
  if (absent !== undefined) {
    const { address, node } = absent
    return warn(
      `${node}, which has the sending address ${address}, does not run; its mail is sent from other addresses`,
      'Start it, or change the node of the address in [[sending.addresses]].',
    )
  }
  const [ended] = names('ended')
  if (ended !== undefined) {
    return warn(
      `${ended} has ended`,
      `Start it again, or take it off the list with \`postrider node forget ${ended}\`.`,
    )
  }
  const [draining] = names('draining')
  if (draining !== undefined) return warn(`${draining} drains`, 'Restart it to use it again.')
  return pass(`${running.length} ${running.length === 1 ? 'node runs' : 'nodes run'}: ${names('active').join(', ')}`)
}

/** Nodes with the same key must have the same shared settings. */
function checkSettings(running: readonly NodeRecord[]): Verdict {
  const published = running.flatMap(({ name, settings }) => (settings === null ? [] : [{ name, settings }]))
  if (published.length < 2) return skip('there are no other nodes')
  if (new Set(running.map(({ keyName }) => keyName)).size > 1) return skip('the nodes have different keys')
  const found = differences(published)
  if (found.length === 0) return pass('all nodes have the same shared settings')
  const names = found.slice(0, MOST_NAMED).join(', ')
  const more = found.length > MOST_NAMED ? ` and ${found.length - MOST_NAMED} more` : ''
  return warn(
    `these settings differ between ${published.map(({ name }) => name).join(', ')}: ${names}${more}`,
    'Give all nodes the same values in the config, and restart those that you change.',
  )
}

const MOST_NAMED = 20

/** Published settings of nodes → the dotted paths in which they differ, sorted. A missing one has its default. */
export function differences(published: readonly { settings: Readonly<Record<string, string>> }[]): string[] {
  const paths = new Set(published.flatMap(({ settings }) => Object.keys(settings)))
  return [...paths].filter((path) => new Set(published.map(({ settings }) => settings[path])).size > 1).toSorted()
}

/** Every node sends mail, from its own address. */
async function checkNodeNames(
  running: readonly NodeRecord[],
  { domains, smarthost }: Pick<Installation, 'domains' | 'smarthost'>,
  { resolver, spfAllows }: Pick<CheckDeps, 'resolver' | 'spfAllows'>,
): Promise<Verdict> {
  if (smarthost !== null) return skip('mail is sent through the smarthost')
  const hostnames = [...new Set(running.map(({ hostname }) => hostname))].filter((name) => name !== '')
  if (hostnames.length < 2) return skip('there are no other nodes')
  const found = await Promise.all(
    hostnames.map(async (hostname) => {
      const [a, aaaa] = await Promise.all([resolver.a(hostname), resolver.aaaa(hostname)])
      const isSilent = a.kind === 'temporary' || aaaa.kind === 'temporary'
      return { hostname, addresses: isSilent ? null : [...recordsOf(a), ...recordsOf(aaaa)] }
    }),
  )
  for (const { hostname, addresses } of found) {
    if (addresses?.length === 0) return fail(`${hostname} has no address`, `Publish the A record of ${hostname}.`)
    for (const address of addresses ?? []) {
      const lookup = await resolver.ptr(address)
      const names = recordsOf(lookup).map((name) => name.replace(/\.$/, '').toLowerCase())
      if (lookup.kind === 'temporary' || names.includes(hostname)) continue
      const advice = `Set the reverse DNS (PTR) of ${address} to ${hostname} at your hosting provider.`
      return (isIP(address) === 4 ? fail : warn)(`${address} of ${hostname} has another name in reverse DNS`, advice)
    }
  }
  for (const { returnPathHost } of domains) {
    const lookup = await resolver.txt(returnPathHost)
    const record = recordsOf(lookup).find(isSpf)
    if (lookup.kind === 'temporary' || record === undefined) continue // the check of domains reports a missing record
    const missing: string[] = []
    for (const sender of found) {
      if ((await spfAllows(record, returnPathHost, sender)) === 'no') missing.push(sender.hostname)
    }
    if (missing.length === 0) continue
    const wanted = `v=spf1 ${hostnames.map((hostname) => `a:${hostname}`).join(' ')} ~all`
    return fail(
      `the SPF record of ${returnPathHost} leaves out ${missing.join(', ')}`,
      `Publish the TXT record ${returnPathHost}: ${wanted}`,
    )
  }
  if (found.some(({ addresses }) => addresses === null)) return skip('DNS did not respond for all nodes')
  return pass(`SPF and reverse DNS have ${hostnames.join(', ')}`)
}
