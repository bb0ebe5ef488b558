import { isPublicUnicast } from '../../net/ip.ts'
import { fail, pass, skip, type Verdict, warn } from './check.ts'
import type { CheckDeps, Installation } from './deps.ts'
import { type Family, type NetworkFacts, recordsOf } from './network-facts.ts'

/** Checks that our hostname resolves to this machine: bounces and complaints are sent there, and receivers compare
 *  it with the address they see. Behind NAT the machine has no public address itself; a mail server that saw us can
 *  report it. */
export async function checkHostname(
  { hostname }: Installation,
  deps: CheckDeps,
  facts: NetworkFacts,
): Promise<Verdict> {
  const lookups = await facts.ownName()
  const addresses = [...recordsOf(lookups[4]), ...recordsOf(lookups[6])]
  if (addresses.length === 0) {
    if (lookups[4].kind === 'temporary' || lookups[6].kind === 'temporary') return skip('DNS does not respond')
    return fail(`${hostname} has no address in DNS`, `Publish an A record with ${await wanted(deps, facts)}.`)
  }
  const own = new Set(deps.ownAddresses())
  const seen = new Set([...(await facts.seenAddresses(4)), ...(await facts.seenAddresses(6))])
  const foreign = addresses.filter((ip) => !own.has(ip) && !seen.has(ip))
  const named = `${hostname} resolves to ${addresses.join(', ')}`
  if (foreign.length === 0) return pass(named)

  const isBehindNat = ![...own].some(isPublicUnicast)
  if (isBehindNat && seen.size === 0 && foreign.every(isPublicUnicast)) {
    const here = [...own].join(', ') || 'no address'
    return warn(
      `${named}; this machine has ${here}, so it is behind NAT`,
      `Make sure that mail leaves from ${foreign.join(' or ')}, and that its port 25 is forwarded to this machine.`,
    )
  }
  return fail(
    `${named}, but ${foreign.join(' and ')} ${foreign.length === 1 ? 'is' : 'are'} not this machine`,
    `Set its A and AAAA records to ${await wanted(deps, facts)} only.`,
  )
}

/** Addresses to publish, if known. */
async function wanted(deps: CheckDeps, facts: NetworkFacts): Promise<string> {
  const families: Family[] = [4, 6]
  const seen = (await Promise.all(families.map(facts.seenAddresses))).flat()
  const found = seen.length > 0 ? seen : deps.ownAddresses().filter(isPublicUnicast)
  return found.join(' and ') || 'the public address of this machine'
}
