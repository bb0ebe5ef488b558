import { createPrivateKey, createPublicKey, generateKeyPairSync, type KeyObject, sign, verify } from 'node:crypto'
import { join } from 'node:path'
import { writeAsOwner } from '../../os/owned-file.ts'
import { errorCode } from '../../os/thrown.ts'
import { CommandFailure } from '../failure.ts'
import { readNoLink } from './contents.ts'

/** Signatures of backups (Ed25519, RFC 8032). A data directory signs with a key of its own, which no backup contains. A
 *  digest keyed with `seal.key` would prove nothing: backups contain that key, so somebody who can change them has it. The
 *  operator keeps the public key apart from the backups. */

/** The private key, in PEM. No backup contains a file with this ending. */
export const SIGNING_KEY_FILE = 'backup.secret'
export const SIGNATURE_FILE = 'manifest.sig'
export const SIGNATURE_BYTES = 64

/** In front of 32 bytes in base64url. */
const PREFIX = 'ed25519:'

/** The key of a data directory. */
export interface SigningKey {
  /** `ed25519:` and 32 bytes in base64url. */
  publicKey: string
  /** Whether this backup is the first with it. */
  isNew: boolean
  /** 64 bytes. */
  sign(bytes: Buffer): Buffer
}

/** Data directory → its key, created if there is none. Throws CommandFailure for a damaged file, and file system errors. */
export function signingKeyOf(dataDir: string): SigningKey {
  const known = readKey(dataDir)
  const privateKey = known ?? createKey(dataDir)
  return {
    publicKey: textOf(privateKey),
    isNew: known === null,
    sign: (bytes) => sign(null, bytes, privateKey),
  }
}

/** Data directory → its public key; null without one. Throws CommandFailure for a damaged file, and file system errors. */
export function publicKeyOf(dataDir: string): string | null {
  const known = readKey(dataDir)
  return known && textOf(known)
}

function readKey(dataDir: string): KeyObject | null {
  const file = join(dataDir, SIGNING_KEY_FILE)
  let pem: Buffer
  try {
    pem = readNoLink(file)
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return null
    throw error
  }
  try {
    const key = createPrivateKey(pem)
    if (key.asymmetricKeyType === 'ed25519') return key
  } catch {}
  throw new CommandFailure(`${file} is damaged. Delete it; the next backup creates a new key and prints it.`)
}

function createKey(dataDir: string): KeyObject {
  const { privateKey } = generateKeyPairSync('ed25519')
  writeAsOwner(dataDir, SIGNING_KEY_FILE, privateKey.export({ type: 'pkcs8', format: 'pem' }).toString())
  return privateKey
}

const textOf = (privateKey: KeyObject) => `${PREFIX}${createPublicKey(privateKey).export({ format: 'jwk' }).x}`

/** Whether the signature is of these bytes and of this public key, as printed. */
export function isSignedBy(publicKey: string, bytes: Buffer, signature: Buffer): boolean {
  const key = { kty: 'OKP', crv: 'Ed25519', x: publicKey.slice(PREFIX.length) }
  return verify(null, bytes, createPublicKey({ key, format: 'jwk' }), signature)
}
