import { listsHost, type MtaSts } from '../../mail/mta-sts.ts'
import type { Outcome } from '../../model/delivery.ts'
import type { TlsPolicy } from '../../model/tls-policy.ts'
import type { Resolver } from '../../net/dns/resolver.ts'
import type { Peer } from '../smtp/peer.ts'
import { usableTlsa } from './dane.ts'

/** What a connection to one host must prove, and on whose word; or that the host must not be used now. */
export type HostPolicy = { name: TlsPolicy } & ({ proof: Pick<Peer, 'demand' | 'tlsa'> } | { skip: Outcome })

/** One host of a domain, as DNS and the message tell of it. */
export interface HostFacts {
  domain: string
  host: string
  port: number
  /** A trusted resolver vouches by DNSSEC for the way here: MX and addresses. */
  isAuthentic: boolean
  mtaSts: MtaSts | null
  requireTls: boolean
}

/** Host → HostPolicy. Strict only where somebody says so: TLSA records come first, then an MTA-STS policy in force, then
 *  `require_tls`, which both of them satisfy; without any, TLS is taken where it is offered. TLSA records that SMTP cannot
 *  use demand encryption all the same; where the question for them fails, the host is left out, for that is what an
 *  attacker would bring about. Never rejects. RFC 7672 §2.2, RFC 8461 §2, §5 */
export async function hostPolicy(facts: HostFacts, resolver: Resolver): Promise<HostPolicy> {
  const { domain, host, port, isAuthentic, mtaSts, requireTls } = facts
  const tlsa = isAuthentic ? await resolver.tlsa(`_${port}._tcp.${host}`) : NOT_ASKED
  if (tlsa.kind === 'temporary') {
    return { name: 'dane', skip: deferred('4.4.3', `the lookup of ${host} TLSA failed: ${tlsa.reason}`, 'dane:lookup') }
  }
  const isDane = tlsa.kind === 'records' && tlsa.authentic
  const usable = isDane ? usableTlsa(tlsa.records) : []
  if (usable.length > 0) return { name: 'dane', proof: { demand: 'verified', tlsa: usable } }
  if (mtaSts?.mode === 'enforce') {
    if (listsHost(mtaSts.mx, host)) return { name: 'mta_sts', proof: { demand: 'verified' } }
    return {
      name: 'mta_sts',
      skip: deferred('4.7.0', `${host} is not in the MTA-STS policy of ${domain}`, 'mta_sts:mx'),
    }
  }
  if (requireTls) return { name: 'required', proof: { demand: 'verified' } }
  if (isDane) return { name: 'dane', proof: { demand: 'encrypted' } }
  return { name: mtaSts?.mode === 'testing' ? 'mta_sts_testing' : 'none', proof: { demand: 'none' } }
}

/** How a transcript tells of it; null where nobody demands anything. */
export function policyWords(policy: HostPolicy, host: string, domain: string): string | null {
  if ('skip' in policy) return `${host}: left out, ${policy.skip.kind === 'delivered' ? '' : policy.skip.message}`
  switch (policy.name) {
    case 'none':
    case 'required':
      return null
    case 'mta_sts_testing':
      return `${host}: the MTA-STS policy of ${domain} is in testing, nothing is demanded`
    case 'mta_sts':
      return `${host}: the MTA-STS policy of ${domain} demands a verified certificate`
    case 'dane':
      return policy.proof.tlsa === undefined
        ? `${host}: its TLSA records cannot be used, but demand encryption (DANE)`
        : `${host}: its TLSA records decide about the certificate (DANE)`
  }
}

const NOT_ASKED = { kind: 'no_data' } as const

function deferred(code: string, message: string, rule: string): Outcome {
  return { kind: 'deferred', code, message, aboutRecipient: false, cause: { class: 'tls', rule } }
}
