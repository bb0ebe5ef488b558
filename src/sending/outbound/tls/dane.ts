import { createHash, createPublicKey, X509Certificate } from 'node:crypto'
import { isIP } from 'node:net'
import type { TlsaRecord } from '../../../net/dns/resolver.ts'

/** The records usable for SMTP: DANE-TA(2) and DANE-EE(3) with a known selector, matching type and plausible data.
 *  PKIX-TA(0) and PKIX-EE(1) do not apply to mail servers. Never throws. RFC 7672 §3.1, RFC 6698 §2.1 */
export function usableTlsa(records: readonly TlsaRecord[]): TlsaRecord[] {
  return records.filter(isUsable)
}

/** Usable records, the server's certificates (DER, its own first) and the host name → null when a record verifies the
 *  server, else the reason. DANE-EE matches the server's own certificate, whose names and dates do not count. DANE-TA
 *  matches an issuer; the chain's signatures, dates and name must be valid. `now` in ms UTC. Never throws. RFC 7672
 *  §3.1.1, §3.1.2; RFC 7671 §5 */
export function daneProblem(
  records: readonly TlsaRecord[],
  shown: readonly Uint8Array[],
  host: string,
  now: number,
): string | null {
  let certificates: X509Certificate[]
  try {
    certificates = shown.slice(0, MAX_CHAIN).map((der) => new X509Certificate(der))
  } catch {
    return 'a certificate of the server cannot be parsed'
  }
  const [own] = certificates
  if (own === undefined) return 'the server sent no certificate'
  if (records.some((record) => record.usage === DANE_EE && matches(record, own))) return null
  const anchors = records.filter(({ usage }) => usage === DANE_TA)
  if (anchors.length === 0 || !isAnchored(own, certificates, anchors, now)) {
    return 'the certificate matches none of the TLSA records'
  }
  const name = isIP(host) === 0 ? own.checkHost(host, { subject: 'never' }) : own.checkIP(host)
  return name === undefined ? `the certificate is not for ${host}` : null
}

/** Records → a key that is equal for equal sets in any order. */
export function tlsaKey(records: readonly TlsaRecord[]): string {
  return records
    .map(({ usage, selector, matchingType, certificate }) => {
      const digest = createHash('sha256').update(certificate).digest('base64url')
      return `${usage}.${selector}.${matchingType}.${digest}`
    })
    .sort()
    .join(',')
}

const DANE_TA = 2
const DANE_EE = 3
/** Longer chains are ignored to bound the work. */
const MAX_CHAIN = 8
/** Matching types: the data itself, its SHA-256, its SHA-512. RFC 6698 §2.1.3 */
const HASHES = [null, 'sha256', 'sha512'] as const
const HASH_BYTES = [null, 32, 64] as const

function isUsable({ usage, selector, matchingType, certificate }: TlsaRecord): boolean {
  if ((usage !== DANE_TA && usage !== DANE_EE) || (selector !== 0 && selector !== 1)) return false
  if (matchingType === 0) return isReadable(selector, certificate)
  return HASH_BYTES[matchingType] === certificate.byteLength
}

function isReadable(selector: number, der: Uint8Array): boolean {
  try {
    if (selector === 0) new X509Certificate(der)
    else createPublicKey({ key: Buffer.from(der), format: 'der', type: 'spki' })
    return true
  } catch {
    return false
  }
}

/** Selector 0 is the whole certificate, 1 its public key. RFC 6698 §2.1.2 */
function matches({ selector, matchingType, certificate }: TlsaRecord, candidate: X509Certificate): boolean {
  const data = selector === 0 ? candidate.raw : candidate.publicKey.export({ type: 'spki', format: 'der' })
  const hash = HASHES[matchingType]
  return Buffer.from(certificate).equals(hash ? createHash(hash).update(data).digest() : data)
}

/** Follows the issuers of the server's certificate up to an anchor. The server need not send an anchor that is
 *  published whole (RFC 7671 §5.2.2). */
function isAnchored(
  own: X509Certificate,
  shown: readonly X509Certificate[],
  anchors: readonly TlsaRecord[],
  now: number,
): boolean {
  const published = anchors
    .filter(({ selector, matchingType }) => selector === 0 && matchingType === 0)
    .map(({ certificate }) => new X509Certificate(certificate))
  const candidates = [...shown.slice(1), ...published]
  let current = own
  for (let steps = 0; steps <= MAX_CHAIN; steps++) {
    if (!isInTime(current, now)) return false
    if (anchors.some((anchor) => matches(anchor, current))) return true
    if (isSignedByPublishedKey(current, anchors)) return true
    const issuer = candidates.find((candidate) => candidate.ca && hasIssued(candidate, current))
    if (issuer === undefined || issuer.fingerprint256 === current.fingerprint256) return false
    current = issuer
  }
  return false
}

/** A bare public key as anchor. RFC 7671 §5.2.3 */
function isSignedByPublishedKey(certificate: X509Certificate, anchors: readonly TlsaRecord[]): boolean {
  return anchors
    .filter(({ selector, matchingType }) => selector === 1 && matchingType === 0)
    .some((anchor) => {
      const key = createPublicKey({ key: Buffer.from(anchor.certificate), format: 'der', type: 'spki' })
      return isVerified(certificate, key)
    })
}

function hasIssued(issuer: X509Certificate, certificate: X509Certificate): boolean {
  return certificate.checkIssued(issuer) && isVerified(certificate, issuer.publicKey)
}

function isVerified(certificate: X509Certificate, key: Parameters<X509Certificate['verify']>[0]): boolean {
  try {
    return certificate.verify(key)
  } catch {
    return false // the key type differs from the signature's
  }
}

function isInTime({ validFrom, validTo }: X509Certificate, now: number): boolean {
  return Date.parse(validFrom) <= now && now <= Date.parse(validTo)
}
