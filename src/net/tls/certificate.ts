import { createHash, generateKeyPairSync, randomBytes, sign } from 'node:crypto'
import { ECDSA_SHA256, subjectAltName } from './certificate-names.ts'
import { bitString, integer, objectId, octets, pem, sequence, tagged } from './der.ts'

export interface Certificate {
  /** PKCS #8. */
  keyPem: string
  certificatePem: string
}

/** Host names and IP addresses → a new P-256 key and a self-signed certificate, which a TLS server can use and a
 *  client can trust as its own root. Valid from a day before `now` (ms UTC, for clocks that are behind) for `days`
 *  days, ten years by default. Rejects without a name, or if one is neither a host name nor an address. We write the
 *  DER ourselves: RFC 5280 needs sixty lines, while the library we had brought twenty packages, two of them in
 *  incompatible versions. */
export async function selfSignedCertificate(options: {
  names: string[]
  now: number
  days?: number
}): Promise<Certificate> {
  const { names, now, days = 3650 } = options
  const [name] = names
  if (name === undefined) throw new Error('a certificate requires a name')
  const alternatives = subjectAltName(names)
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const publicKeyDer = publicKey.export({ type: 'spki', format: 'der' })
  const subject = distinguishedName(name.length <= 64 ? name : 'self-signed') // ub-common-name is 64
  const body = sequence(
    tagged(0xa0, integer(Buffer.from([2]))), // version 3
    integer(serialNumber()),
    ECDSA_SHA256,
    subject, // issuer
    sequence(time(now - DAY_MS), time(now - DAY_MS + days * DAY_MS)),
    subject,
    publicKeyDer,
    tagged(0xa3, extensions(publicKeyDer, alternatives)),
  )
  const certificate = sequence(body, ECDSA_SHA256, bitString(sign('sha256', body, privateKey)))
  return {
    keyPem: String(privateKey.export({ type: 'pkcs8', format: 'pem' })),
    certificatePem: pem('CERTIFICATE', certificate),
  }
}

const DAY_MS = 86_400_000
const TRUE = tagged(0x01, Buffer.from([0xff]))

const COMMON_NAME = objectId('550403') // 2.5.4.3
const SUBJECT_KEY_ID = objectId('551d0e') // 2.5.29.14
const KEY_USAGE = objectId('551d0f') // 2.5.29.15
const BASIC_CONSTRAINTS = objectId('551d13') // 2.5.29.19
const EXTENDED_KEY_USAGE = objectId('551d25') // 2.5.29.37
const SERVER_AUTH = objectId('2b06010505070301') // 1.3.6.1.5.5.7.3.1
const DIGITAL_SIGNATURE = tagged(0x03, Buffer.from([7, 0x80])) // bit 0, seven bits unused

function distinguishedName(commonName: string): Buffer {
  return sequence(tagged(0x31, sequence(COMMON_NAME, tagged(0x0c, Buffer.from(commonName)))))
}

/** 128 random bits, made positive and without a leading zero byte. RFC 5280 §4.1.2.2 */
function serialNumber(): Buffer {
  const bytes = randomBytes(16)
  bytes[0] = (bytes.readUInt8() & 0x3f) | 0x40
  return bytes
}

/** UTCTime until 2049, GeneralizedTime from 2050. RFC 5280 §4.1.2.5 */
function time(ms: number): Buffer {
  const digits = `${new Date(ms).toISOString().replace(/\D/g, '').slice(0, 14)}Z`
  return digits < '2050' ? tagged(0x17, Buffer.from(digits.slice(2))) : tagged(0x18, Buffer.from(digits))
}

/** An end-entity certificate, not a CA: strict clients refuse a CA certificate from a server. */
function extensions(publicKeyDer: Buffer, alternatives: Buffer): Buffer {
  const keyId = createHash('sha1').update(publicKeyDer).digest() // any unique value is valid, RFC 5280 §4.2.1.2
  return sequence(
    sequence(BASIC_CONSTRAINTS, TRUE, octets(sequence())),
    sequence(KEY_USAGE, TRUE, octets(DIGITAL_SIGNATURE)),
    sequence(EXTENDED_KEY_USAGE, octets(sequence(SERVER_AUTH))),
    alternatives,
    sequence(SUBJECT_KEY_ID, octets(octets(keyId))),
  )
}
