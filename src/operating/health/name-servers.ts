import { fail, pass, type Verdict, warn } from './check.ts'
import type { CheckDeps } from './deps.ts'
import type { NetworkFacts } from './network-facts.ts'

/** A DNSSEC-signed name that has existed for decades. */
export const SIGNED_NAME = 'ietf.org'

const OWN_RESOLVER =
  'For DNSSEC validation and blocklist queries, install a resolver on this machine: apt install unbound'

/** Checks that the name servers answer and validate DNSSEC, which DANE requires. */
export async function checkNameServers(deps: CheckDeps, facts: NetworkFacts): Promise<Verdict> {
  const names = deps.nameServers.join(', ')
  if (!(await facts.hasDns())) {
    return fail(
      `${names}: no response`,
      'Postrider cannot deliver without DNS. Check /etc/resolv.conf, or set servers = ["ip:53"] under [dns].',
    )
  }
  if (!deps.looksOutside) return pass(`${names} answers`)
  if (!(await deps.validates())) return warn(`${names} responds but does not validate DNSSEC: no DANE`, OWN_RESOLVER)
  const isTrusted = deps.nameServers.every((server) => deps.isTrusted(server.replace(/^\[|\]?:\d+$/g, '')))
  if (isTrusted) return pass(`${names} responds and validates DNSSEC`)
  return warn(
    `${names} validates DNSSEC but is remote, so its answers are not trusted: no DANE`,
    `${OWN_RESOLVER}\nIf the network path to it is secure, add its network to dns.trusted_resolvers.`,
  )
}
