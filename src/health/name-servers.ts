import { fail, pass, type Verdict, warn } from './check.ts'
import type { Surroundings } from './surroundings.ts'
import type { World } from './world.ts'

/** A signed name that has been there for decades. */
export const SIGNED_NAME = 'ietf.org'

const OWN_RESOLVER = 'A resolver on this machine validates, and is answered by blocklists: apt install unbound'

/** The name servers answer, and whether they validate DNSSEC: DANE rests on it. */
export async function checkNameServers(world: World, around: Surroundings): Promise<Verdict> {
  const names = world.nameServers.join(', ')
  if (!(await around.hasDns())) {
    return fail(
      `${names}: no answer`,
      'Nothing can be delivered without DNS. Look at /etc/resolv.conf, or name others: servers = ["ip:53"] under [dns].',
    )
  }
  if (!world.looksOutside) return pass(`${names} answers`)
  if (!(await world.validates())) return warn(`${names} answers, and does not validate DNSSEC: no DANE`, OWN_RESOLVER)
  const isTrusted = world.nameServers.every((server) => world.isTrusted(server.replace(/^\[|\]?:\d+$/g, '')))
  if (isTrusted) return pass(`${names} answers and validates DNSSEC`)
  return warn(
    `${names} validates DNSSEC, but from afar, so its word is not taken: no DANE`,
    `${OWN_RESOLVER}\nOr, where nobody can tamper with the path to it, name its network in dns.trusted_resolvers.`,
  )
}
