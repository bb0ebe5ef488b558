import { listsHost, type MtaSts } from '../../../mail/mta-sts.ts'
import type { Outcome } from '../../../model/delivery.ts'
import type { TlsPolicy } from '../../../model/tls-policy.ts'
import type { Resolver } from '../../../net/dns/resolver.ts'
import type { Peer } from '../smtp/peer.ts'
import { usableTlsa } from './dane.ts'

/** What a connection to one host must prove and which policy requires it, or that the host must not be used now. */
export type HostPolicy = { name: TlsPolicy } & ({ proof: Pick<Peer, 'demand' | 'tlsa'> } | { skip: Outcome })

/** Facts about one host of a domain from DNS and the message. */
export interface HostFacts {
  domain: string
  host: string
  port: number
  /** A trusted resolver validated the path here by DNSSEC: MX and addresses. */
  isAuthentic: boolean
  mtaSts: MtaSts | null
  requireTls: boolean
}

/** Host → HostPolicy. Strict only if required: TLSA records come first, then an MTA-STS policy in force, then
 *  `require_tls`, which both satisfy; otherwise TLS is used if offered. TLSA records unusable for SMTP still require
 *  encryption. If the TLSA lookup fails, the host is skipped, because an attacker would cause exactly that. Never
 *  rejects. RFC 7672 §2.2, RFC 8461 §2, §5 */
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

/** The policy's line in the transcript; null if nothing is required. */
export function policyWords(policy: HostPolicy, host: string, domain: string): string | null {
  if ('skip' in policy) return `${host}: skipped, ${policy.skip.kind === 'delivered' ? '' : policy.skip.message}`
  switch (policy.name) {
    case 'none':
    case 'required':
      return null
    case 'mta_sts_testing':
      return `${host}: the MTA-STS policy of ${domain} is in testing mode and not enforced`
    case 'mta_sts':
      return `${host}: the MTA-STS policy of ${domain} requires a verified certificate`
    case 'dane':
      return policy.proof.tlsa === undefined
        ? `${host}: its TLSA records are unusable but require encryption (DANE)`
        : `${host}: its TLSA records verify the certificate (DANE)`
  }
}

const NOT_ASKED = { kind: 'no_data' } as const

function deferred(code: string, message: string, rule: string): Outcome {
  return { kind: 'deferred', code, message, aboutRecipient: false, cause: { class: 'tls', rule } }
}
