import { isIP } from 'node:net'
import { fail, pass, skip, type Verdict, warn, worstOf } from './check.ts'
import type { CheckDeps, Installation } from './deps.ts'
import { type Family, type NetworkFacts, recordsOf } from './network-facts.ts'

/** Checks that every outgoing address has a PTR name that resolves back to it. Without it, most large providers
 *  reject mail (Gmail with 550 5.7.25). The best name is the one in our EHLO. */
export async function checkReverseDns(
  family: Family,
  { hostname, sourceAddress, sendingAddresses, smarthost }: Installation,
  deps: CheckDeps,
  facts: NetworkFacts,
): Promise<Verdict> {
  if (smarthost !== null) return skip('mail is sent through the smarthost')
  if (sendingAddresses.length > 0) return skip('the check sending_addresses looks at each address')
  if (sourceAddress !== null && isIP(sourceAddress) !== family) return skip(`mail is sent from ${sourceAddress} only`)
  if (!(await facts.hasDns())) return skip('DNS does not respond')
  const addresses = await facts.publicAddresses(family)
  if (addresses.length === 0) {
    return skip(family === 6 ? 'this machine has no public IPv6 address' : 'the public address is unknown')
  }
  const verdicts = await Promise.all(addresses.map((address) => checkAddress(address, hostname, deps)))
  return worstOf(verdicts)
}

async function checkAddress(address: string, hostname: string, { resolver }: CheckDeps): Promise<Verdict> {
  const family = isIP(address)
  const lookup = await resolver.ptr(address)
  if (lookup.kind === 'temporary') return skip(`DNS did not respond for the PTR record of ${address}`)
  const names = recordsOf(lookup).map((name) => name.replace(/\.$/, '').toLowerCase())
  const [name] = names
  if (name === undefined) return fail(`${address} has no reverse DNS (PTR)`, adviceFor(family, hostname))
  if (names.includes(hostname)) return pass(`${address} resolves to ${hostname}`)
  const back = await (family === 4 ? resolver.a(name) : resolver.aaaa(name))
  const isRound = recordsOf(back).includes(address)
  const advice = adviceFor(family, hostname)
  return isRound
    ? warn(`${address} resolves to ${name}, not ${hostname}`, advice)
    : fail(`${address} resolves to ${name}, which does not resolve back to it`, advice)
}

function adviceFor(family: number, hostname: string): string {
  const set = `Set the reverse DNS (PTR) of the address to ${hostname} at your hosting provider.`
  if (family === 4) return set
  return `${set} Or send over IPv4 only: source_address = "<the IPv4 address>" under [delivery].`
}
