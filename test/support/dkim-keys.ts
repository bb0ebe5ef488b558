import { generateKeyPairSync } from 'node:crypto'
import type { DkimAlgorithm } from '../../src/mail/dkim.ts'

/** Creates a key pair: private key as PKCS#8 PEM, public key as dkimRecordValue takes it (RSA: the SPKI; Ed25519: the
 *  raw 32 bytes, RFC 8463 §4). RSA has 2048 bits and takes some hundred milliseconds of the calling thread. */
export function generateDkimKeyPair(algorithm: DkimAlgorithm): { privateKeyPem: string; publicKeyBase64: string } {
  const pair =
    algorithm === 'rsa-sha256' ? generateKeyPairSync('rsa', { modulusLength: 2048 }) : generateKeyPairSync('ed25519')
  const spki = pair.publicKey.export({ type: 'spki', format: 'der' })
  const published = algorithm === 'rsa-sha256' ? spki : spki.subarray(-32)
  return {
    privateKeyPem: pair.privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
    publicKeyBase64: published.toString('base64'),
  }
}
