import { type KeyObject, sign } from 'node:crypto'
import { ECDSA_SHA256, subjectAltName } from './certificate-names.ts'
import { bitString, integer, objectId, sequence, tagged } from './der.ts'

/** Names and P-256 key pair → the certificate request, DER. The subject is empty, because authorities only read the
 *  names. Throws for anything that is neither a host name nor an address. RFC 2986 §4 */
export function certificateRequest(
  names: readonly string[],
  keys: { privateKey: KeyObject; publicKey: KeyObject },
): Buffer {
  const body = sequence(
    integer(Buffer.from([0])), // version 1
    sequence(),
    keys.publicKey.export({ type: 'spki', format: 'der' }),
    tagged(0xa0, sequence(EXTENSION_REQUEST, tagged(0x31, sequence(subjectAltName(names))))),
  )
  return sequence(body, ECDSA_SHA256, bitString(sign('sha256', body, keys.privateKey)))
}

const EXTENSION_REQUEST = objectId('2a864886f70d01090e') // 1.2.840.113549.1.9.14
