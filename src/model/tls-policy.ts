/** Whose word decided what the connection to a host had to prove: nobody's (`none`: encrypted where offered, unproven),
 *  the receiving domain's MTA-STS policy, only watched (`mta_sts_testing`) or obeyed (`mta_sts`), the TLSA records of the
 *  host (`dane`), or the message's own `require_tls` (`required`). */
export const TLS_POLICIES = ['none', 'mta_sts_testing', 'mta_sts', 'dane', 'required'] as const
export type TlsPolicy = (typeof TLS_POLICIES)[number]
