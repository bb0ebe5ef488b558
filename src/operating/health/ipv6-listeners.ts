import { isIPv4 } from 'node:net'
import { pass, skip, type Verdict, warn } from './check.ts'
import type { CheckDeps, Installation } from './deps.ts'
import { type NetworkFacts, recordsOf } from './network-facts.ts'

/** Checks that the listeners accept IPv6 if the hostname, or a name of the certificate, has an AAAA record: clients try that
 *  address first, and a certificate authority may use it. */
export async function checkIpv6Listeners(
  { hostname, listeners, authority }: Installation,
  { resolver }: CheckDeps,
  facts: NetworkFacts,
): Promise<Verdict> {
  if (!(await facts.hasDns())) return skip('DNS does not respond')
  const names = [...new Set([hostname, ...(authority?.names ?? [])])]
  const found = await Promise.all(
    names.map(async (name) => {
      const lookup = name === hostname ? (await facts.ownName())[6] : await resolver.aaaa(name)
      return recordsOf(lookup).length > 0 ? [name] : []
    }),
  )
  const [first, ...others] = found.flat()
  if (first === undefined) return skip(`${hostname} has no AAAA record`)
  const deaf = listeners.filter(({ key, host }) => OF_NAMES.has(key) && isIPv4(host) && !host.startsWith('127.'))
  const named = others.length === 0 ? `${first} has` : `${[first, ...others].join(', ')} have`
  if (deaf.length === 0) return pass(`${named} an AAAA record, and the listeners accept IPv6`)
  const keys = deaf.map(({ key }) => key).join(', ')
  const settings = deaf.map(({ key, port }) => `${key} = "[::]:${port}"`).join(', ')
  return warn(
    `${named} an AAAA record, but ${keys} ${deaf.length === 1 ? 'accepts' : 'accept'} IPv4 only`,
    `Set ${settings}. Each then accepts both families. Or remove the AAAA record.`,
  )
}

/** Listeners that clients find by these names. */
const OF_NAMES = new Set([
  'http.listen_tls',
  'http.listen_redirect',
  'smtp.inbound.listen',
  'smtp.submission.listen',
  'smtp.submission.listen_tls',
])
