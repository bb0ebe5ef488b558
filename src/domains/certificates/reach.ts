import { isIPv4, isIPv6 } from 'node:net'
import type { Lookup, Resolver } from '../../net/dns/resolver.ts'
import { canonicalIp, isPublicUnicast } from '../../net/ip.ts'
import type { Random } from '../../os/random.ts'
import { CHALLENGES, type PlainPages } from './plain-pages.ts'

/** Whether an authority that validates a name on port 80 reaches this server. `unknown`: the name resolves to an
 *  address that is not ours and does not answer with our token, but ours are private, so a proxy or NAT may forward to
 *  us. */
export type Reach = { kind: 'here' } | { kind: 'unknown' } | { kind: 'elsewhere'; reason: string }

export interface ReachDeps {
  resolver: Pick<Resolver, 'a' | 'aaaa'>
  pages: Pick<PlainPages, 'show'>
  random: Random
  /** This machine's addresses. */
  ownAddresses: () => readonly string[]
  /** Requests a path by plain HTTP; null without a response. */
  probe: (at: { ip: string; port: number; host: string; path: string }) => Promise<string | null>
  /** The port the authority uses. */
  port: number
}

/** Name → its Reach. All its addresses must lead here, since the authority may use any: each is asked for a token
 *  served at that moment, except private addresses of others. Rejects if the token cannot be shown. */
export async function reachOf(name: string, deps: ReachDeps): Promise<Reach> {
  const lookups = await Promise.all([deps.resolver.a(name), deps.resolver.aaaa(name)])
  const failed = lookups.find((lookup) => lookup.kind === 'temporary')
  if (failed !== undefined) return elsewhere(`DNS did not respond for ${name}`)
  const addresses = lookups.flatMap(recordsOf)
  if (addresses.length === 0) return elsewhere(`${name} has no A or AAAA record`)

  const own = new Set(deps.ownAddresses().map(canonicalIp))
  const hide = { token: tokenOf(deps.random), text: tokenOf(deps.random) }
  const end = await deps.pages.show(hide.token, hide.text)
  try {
    const answers = await Promise.all(
      addresses.slice(0, MAX_ADDRESSES).map(async (ip) => {
        const isOwn = own.has(canonicalIp(ip))
        const mayAsk = isOwn || isPublicUnicast(ip)
        const at = { ip, port: deps.port, host: name, path: CHALLENGES + hide.token }
        const isHere = mayAsk && (await deps.probe(at)) === hide.text
        return { ip, isOwn, isHere }
      }),
    )
    const away = answers.filter(({ isHere }) => !isHere)
    if (away.length === 0) return { kind: 'here' }
    const faults = away.filter(({ ip, isOwn }) => isOwn || !mayBeForwarded(ip, [...own]))
    if (faults.length === 0) return { kind: 'unknown' }
    return elsewhere(faults.map(({ ip, isOwn }) => faultOf({ name, ip, isOwn, port: deps.port })).join('; '))
  } finally {
    end()
  }
}

/** Whether a NAT may lead from that address to this machine: it has no public address itself. Clouds give a machine a
 *  private IPv4 address behind a public one, and a public IPv6 address. */
const mayBeForwarded = (ip: string, own: readonly (string | null)[]) =>
  isPublicUnicast(ip) && !own.some((each) => each !== null && isPublicUnicast(each) && (isIPv6(ip) || isIPv4(each)))

/** What is wrong with one address, and what to do. */
function faultOf({ name, ip, isOwn, port }: { name: string; ip: string; isOwn: boolean; port: number }): string {
  const [record, every] = isIPv6(ip) ? ['AAAA', '[::]'] : ['A', '0.0.0.0']
  const leads = `the ${record} record of ${name} leads to ${ip}`
  return isOwn
    ? `${leads}, an address of this machine, but nothing answers there on port ${port}: set http.listen_redirect to "${every}:${port}", or remove the record`
    : `${leads}, which is not this machine: correct or remove the record`
}

/** A name with more addresses is not probed further. */
const MAX_ADDRESSES = 8

const elsewhere = (reason: string): Reach => ({ kind: 'elsewhere', reason })
const recordsOf = (lookup: Lookup<string>) => (lookup.kind === 'records' ? lookup.records : [])
const tokenOf = (random: Random) => Buffer.from(random.bytes(24)).toString('base64url')
