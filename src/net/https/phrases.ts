/** Error codes of node:net, node:tls and OpenSSL → the phrases that attempts record. They are stable between
 *  versions and contain neither addresses nor queries. */
const PHRASES: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'connection refused',
  ECONNRESET: 'connection closed',
  EPIPE: 'connection closed',
  ECONNABORTED: 'connection closed',
  ETIMEDOUT: 'timeout',
  EHOSTUNREACH: 'host unreachable',
  ENETUNREACH: 'host unreachable',
  EADDRNOTAVAIL: 'host unreachable',
  ERR_TLS_CERT_ALTNAME_INVALID: 'certificate is for another name',
  CERT_HAS_EXPIRED: 'certificate has expired',
  CERT_NOT_YET_VALID: 'certificate is not valid yet',
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: 'certificate is not trusted',
  DEPTH_ZERO_SELF_SIGNED_CERT: 'certificate is not trusted',
  SELF_SIGNED_CERT_IN_CHAIN: 'certificate is not trusted',
  UNABLE_TO_GET_ISSUER_CERT: 'certificate is not trusted',
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: 'certificate is not trusted',
  CERT_UNTRUSTED: 'certificate is not trusted',
  EPROTO: 'TLS failed',
}

/** Socket error → its phrase. */
export function phraseOf({ code = '' }: NodeJS.ErrnoException): string {
  if (PHRASES[code]) return PHRASES[code]
  if (code.includes('CERT')) return 'certificate is not valid'
  if (code.startsWith('ERR_SSL') || code.includes('TLS')) return 'TLS failed'
  return 'connection failed'
}

/** True if the peer answered with a wrong certificate: another address of the same name is then not tried. */
export const isAboutCertificate = (phrase: string): boolean => phrase.startsWith('certificate')
