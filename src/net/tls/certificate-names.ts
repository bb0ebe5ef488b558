import { isIP } from 'node:net'
import ipaddr from 'ipaddr.js'
import { objectId, octets, sequence, tagged } from './der.ts'

/** Common parts of certificates and certificate requests. */
export const ECDSA_SHA256 = sequence(objectId('2a8648ce3d040302')) // 1.2.840.10045.4.3.2

/** Host names and IP addresses → the extension that lists them. Throws if one is neither. RFC 5280 §4.2.1.6 */
export function subjectAltName(names: readonly string[]): Buffer {
  return sequence(SUBJECT_ALT_NAME, octets(sequence(...names.map(generalName))))
}

const SUBJECT_ALT_NAME = objectId('551d11') // 2.5.29.17
const HOST_NAME = /^(\*\.)?[a-z0-9_-]{1,63}(\.[a-z0-9_-]{1,63})*$/i

/** GeneralName: [2] dNSName or [7] iPAddress. */
function generalName(name: string): Buffer {
  if (isIP(name)) return tagged(0x87, Buffer.from(ipaddr.parse(name).toByteArray()))
  if (name.length > 253 || !HOST_NAME.test(name)) throw new Error(`invalid certificate name: ${name}`)
  return tagged(0x82, Buffer.from(name.toLowerCase()))
}
