import type { Lookup, Resolver } from '../net/dns/resolver.ts'
import { canonicalIp, isPublicUnicast } from '../net/ip.ts'
import type { Random } from '../os/random.ts'
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
 *  served at that moment, except private addresses of others. Rejects if the
 *  token cannot be shown. */
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
    const away = answers.find(({ isHere }) => !isHere)
    if (away === undefined) return { kind: 'here' }
    if (away.isOwn)
      return elsewhere(
        `${away.ip} is an address of this machine, but http.listen_redirect is not reachable on port ${deps.port}`,
      )
    const isBehindNat = ![...own].some((ip) => ip !== null && isPublicUnicast(ip))
    if (isBehindNat && isPublicUnicast(away.ip)) return { kind: 'unknown' }
    return elsewhere(`${name} resolves to ${away.ip}, which is not this machine`)
  } finally {
    end()
  }
}

/** A name with more addresses is not probed further. */
const MAX_ADDRESSES = 8

const elsewhere = (reason: string): Reach => ({ kind: 'elsewhere', reason })
const recordsOf = (lookup: Lookup<string>) => (lookup.kind === 'records' ? lookup.records : [])
const tokenOf = (random: Random) => Buffer.from(random.bytes(24)).toString('base64url')
