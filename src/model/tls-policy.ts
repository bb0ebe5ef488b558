/** Source of the TLS requirements for a connection: `none` (opportunistic, certificate not verified), the receiving
 *  domain's MTA-STS policy, only reported (`mta_sts_testing`) or enforced (`mta_sts`), the TLSA records of the host
 *  (`dane`), or the message's own `require_tls` (`required`). */
export const TLS_POLICIES = ['none', 'mta_sts_testing', 'mta_sts', 'dane', 'required'] as const
export type TlsPolicy = (typeof TLS_POLICIES)[number]
