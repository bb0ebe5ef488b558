import { fail, pass, skip, type Verdict, warn, worstOf } from './check.ts'
import type { CheckDeps, Installation } from './deps.ts'

/** Checks the delegated zone from its parent down: the parent names the configured servers, each has an address, and each
 *  address answers with our SOA record over UDP and TCP. */
export async function checkDelegation(
  { delegated }: Pick<Installation, 'delegated'>,
  { resolver, delegation }: Pick<CheckDeps, 'resolver' | 'delegation'>,
): Promise<Verdict> {
  if (delegated === null) return skip('no delegated zone')
  const { zone, nameServers } = delegated
  const published = (await delegation.namesAtParent(zone))?.toSorted() ?? null
  if (published === null) return skip(`the name servers of the parent of ${zone} did not respond`)
  const lines = nameServers.map((name) => `  ${zone}. NS ${name}.`).join('\n')
  if (published.length === 0) return fail(`${zone} is not delegated`, `Add to the parent zone:\n${lines}`)
  const names = published.slice(0, MOST_NAMES)
  const answers = await Promise.all(
    names.map(async (name) => {
      const [v4, v6] = await Promise.all([resolver.a(name), resolver.aaaa(name)])
      const addresses = [v4, v6].flatMap((found) => (found.kind === 'records' ? found.records : []))
      if (addresses.length === 0) {
        const advice = `Publish its A or AAAA record; if it is inside ${zone}, also beside its NS record in the parent zone.`
        return [fail(`name server ${name} has no address`, advice)]
      }
      return Promise.all(addresses.slice(0, MOST_ADDRESSES).map((address) => answerAt(address, delegated, delegation)))
    }),
  )
  const worst = worstOf(answers.flat())
  if (worst.status !== 'pass') return worst
  const [more, less] = [without(published, nameServers), without(nameServers, published)]
  if (more.length + less.length > 0) {
    return warn(
      `the parent of ${zone} names ${published.join(', ')}; dns.name_servers has ${nameServers.join(', ')}`,
      `Make both the same, with dns.name_servers or in the parent zone:\n${lines}`,
    )
  }
  const verb = published.length === 1 ? 'answers' : 'answer'
  return pass(`${zone} is delegated to ${published.join(', ')}, which ${verb} over UDP and TCP`)
}

async function answerAt(
  address: string,
  { zone, nameServers }: NonNullable<Installation['delegated']>,
  { primaryAt }: CheckDeps['delegation'],
): Promise<Verdict> {
  const [udp, tcp] = await Promise.all([primaryAt(address, zone, 'udp'), primaryAt(address, zone, 'tcp')])
  const silent = [...(udp === null ? ['UDP'] : []), ...(tcp === null ? ['TCP'] : [])]
  if (silent.length > 0) {
    return fail(
      `${address} does not answer for ${zone} over ${silent.join(' and ')} port 53`,
      'Set dns.listen to this address with port 53, and open UDP and TCP port 53 in firewalls.',
    )
  }
  const other = [udp, tcp].find((primary) => primary !== nameServers[0])
  return other === undefined
    ? pass(address)
    : fail(
        `${address} answers for ${zone} with the primary name server ${other}`,
        'Delegate the zone to this server only.',
      )
}

const without = (names: readonly string[], others: readonly string[]) => names.filter((name) => !others.includes(name))

const MOST_NAMES = 8
const MOST_ADDRESSES = 4
