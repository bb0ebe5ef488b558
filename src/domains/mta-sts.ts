import { createHash } from 'node:crypto'
import type { Config } from '../config/load.ts'
import { type MtaSts, writeMtaSts } from '../mail/mta-sts.ts'
import { type Domain, isOwned } from '../model/domain.ts'
import { domainOfMtaStsHost } from '../model/domain-names.ts'
import { requestHost } from '../net/request-host.ts'
import type { Store } from '../storage/store.ts'

/** The MTA-STS policy published for domains that receive mail here; the same for all. */
export interface OwnMtaSts {
  /** The policy file. RFC 8461 §3.2 */
  text: string
  /** For the TXT record; changes with the text. */
  policyId: string
  /** The host that serves HTTPS. */
  httpsHost: string
}

/** Settings → the policy to publish; null without HTTPS or when turned off. In force it is valid for a week, in testing
 *  for a day. */
export function ownMtaSts(settings: {
  hostname: string
  publicUrl: string
  mode: 'off' | MtaSts['mode']
}): OwnMtaSts | null {
  const { hostname, publicUrl, mode } = settings
  const url = URL.parse(publicUrl)
  if (mode === 'off' || url?.protocol !== 'https:') return null
  const text = writeMtaSts({ mode, mx: [hostname], maxAgeSeconds: mode === 'enforce' ? 604_800 : 86_400 })
  return { text, policyId: createHash('sha256').update(text).digest('hex').slice(0, 20), httpsHost: url.hostname }
}

/** The MTA-STS policy published for domains that receive mail here; null if this server receives none. */
export function publishedMtaSts({ hostname, http, smtp }: Config): OwnMtaSts | null {
  if (smtp.inbound.listen === null) return null
  return ownMtaSts({ hostname, publicUrl: http.publicUrl, mode: smtp.inbound.mtaSts })
}

/** The policy page for other mail servers: answers `mta-sts.<domain>` for owned domains whose MX records pointed only
 *  to us at the last DNS check. A policy that omits one of the hosts would keep mail from it. */
export function mtaStsPage(
  { text }: OwnMtaSts,
  hostname: string,
  domains: Pick<Store['domains'], 'findByName'>,
  requireVerified: boolean,
) {
  return {
    method: 'GET' as const,
    path: '/.well-known/mta-sts.txt',
    whileStopping: true, // other servers do not expect our restarts
    handle: async (request: Request): Promise<Response> => {
      const name = domainOfMtaStsHost(requestHost(request.headers.get('host')))
      const domain = name === null ? null : await domains.findByName(name)
      const isOurs = domain !== null && isOwned(domain, requireVerified) && isReceivedHere(domain, hostname)
      return new Response(isOurs ? text : 'no policy here\n', { status: isOurs ? 200 : 404, headers: PLAIN })
    },
  }
}

const PLAIN = { 'content-type': 'text/plain; charset=utf-8' }

function isReceivedHere({ findings }: Domain, hostname: string): boolean {
  const mx = findings.find(({ purpose }) => purpose === 'mx')
  return (
    mx?.status === 'valid' && mx.found.every((text) => text.split(' ')[1]?.toLowerCase() === hostname.toLowerCase())
  )
}
