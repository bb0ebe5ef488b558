import { createHash, generateKeyPairSync, randomBytes, sign } from 'node:crypto'
import { isIP } from 'node:net'
import ipaddr from 'ipaddr.js'

export interface Certificate {
  /** PKCS #8. */
  keyPem: string
  certificatePem: string
}

/** Host names and IP addresses → a fresh P-256 key and a certificate for them, signed by itself, that a TLS
 *  server can show and a client can trust as its own root. Valid from a day before `now` (ms UTC, for clocks
 *  that are behind) for `days` days, ten years unless told. Rejects when there is no name or one is neither
 *  host name nor address.
 *  The DER is written here: RFC 5280 needs sixty lines of it, and the package we had for that brought twenty
 *  others of which two versions did not get along. */
export async function selfSignedCertificate(options: {
  names: string[]
  now: number
  days?: number
}): Promise<Certificate> {
  const { names, now, days = 3650 } = options
  if (names.length === 0) throw new Error('a certificate needs a name')
  const alternatives = names.map(generalName)
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const publicKeyDer = publicKey.export({ type: 'spki', format: 'der' })
  const subject = distinguishedName(names[0]!.length <= 64 ? names[0]! : 'self-signed') // ub-common-name is 64
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
    keyPem: privateKey.export({ type: 'pkcs8', format: 'pem' }) as string,
    certificatePem: pem(certificate),
  }
}

const DAY_MS = 86_400_000

/** Contents behind a DER tag and their length. */
function tagged(tag: number, ...contents: Uint8Array[]): Buffer {
  const content = Buffer.concat(contents)
  const size = content.length
  const length = size < 128 ? [size] : size < 256 ? [0x81, size] : [0x82, size >> 8, size & 255]
  return Buffer.concat([Buffer.from([tag, ...length]), content])
}

const sequence = (...items: Uint8Array[]) => tagged(0x30, ...items)
const integer = (bytes: Uint8Array) => tagged(0x02, bytes)
const octets = (bytes: Uint8Array) => tagged(0x04, bytes)
const bitString = (bytes: Uint8Array) => tagged(0x03, Buffer.from([0]), bytes)
const objectId = (hex: string) => tagged(0x06, Buffer.from(hex, 'hex'))
const TRUE = tagged(0x01, Buffer.from([0xff]))

const ECDSA_SHA256 = sequence(objectId('2a8648ce3d040302')) // 1.2.840.10045.4.3.2
const COMMON_NAME = objectId('550403') // 2.5.4.3
const SUBJECT_KEY_ID = objectId('551d0e') // 2.5.29.14
const KEY_USAGE = objectId('551d0f') // 2.5.29.15
const SUBJECT_ALT_NAME = objectId('551d11') // 2.5.29.17
const BASIC_CONSTRAINTS = objectId('551d13') // 2.5.29.19
const EXTENDED_KEY_USAGE = objectId('551d25') // 2.5.29.37
const SERVER_AUTH = objectId('2b06010505070301') // 1.3.6.1.5.5.7.3.1
const DIGITAL_SIGNATURE = tagged(0x03, Buffer.from([7, 0x80])) // bit 0, seven bits unused

const HOST_NAME = /^(\*\.)?[a-z0-9_-]{1,63}(\.[a-z0-9_-]{1,63})*$/i

/** GeneralName: [2] dNSName or [7] iPAddress. RFC 5280 §4.2.1.6 */
function generalName(name: string): Buffer {
  if (isIP(name)) return tagged(0x87, Buffer.from(ipaddr.parse(name).toByteArray()))
  if (name.length > 253 || !HOST_NAME.test(name)) throw new Error(`not a name for a certificate: ${name}`)
  return tagged(0x82, Buffer.from(name.toLowerCase()))
}

function distinguishedName(commonName: string): Buffer {
  return sequence(tagged(0x31, sequence(COMMON_NAME, tagged(0x0c, Buffer.from(commonName)))))
}

/** 128 random bits, made positive and without a leading zero byte. RFC 5280 §4.1.2.2 */
function serialNumber(): Buffer {
  const bytes = randomBytes(16)
  bytes[0] = (bytes[0]! & 0x3f) | 0x40
  return bytes
}

/** UTCTime until 2049, GeneralizedTime from 2050. RFC 5280 §4.1.2.5 */
function time(ms: number): Buffer {
  const digits = `${new Date(ms).toISOString().replace(/\D/g, '').slice(0, 14)}Z`
  return digits < '2050' ? tagged(0x17, Buffer.from(digits.slice(2))) : tagged(0x18, Buffer.from(digits))
}

/** An end entity, no CA: strict clients refuse a CA certificate shown by a server. */
function extensions(publicKeyDer: Buffer, alternatives: Buffer[]): Buffer {
  const keyId = createHash('sha1').update(publicKeyDer).digest() // any unique value will do, RFC 5280 §4.2.1.2
  return sequence(
    sequence(BASIC_CONSTRAINTS, TRUE, octets(sequence())),
    sequence(KEY_USAGE, TRUE, octets(DIGITAL_SIGNATURE)),
    sequence(EXTENDED_KEY_USAGE, octets(sequence(SERVER_AUTH))),
    sequence(SUBJECT_ALT_NAME, octets(sequence(...alternatives))),
    sequence(SUBJECT_KEY_ID, octets(octets(keyId))),
  )
}

function pem(der: Buffer): string {
  const lines = der.toString('base64').match(/.{1,64}/g)!
  return ['-----BEGIN CERTIFICATE-----', ...lines, '-----END CERTIFICATE-----', ''].join('\n')
}
