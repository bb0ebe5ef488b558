import { createHash } from 'node:crypto'
import { Malformed, wireReader, wireString } from './wire.ts'

/** A signature as `ssh-keygen -Y sign` writes it (OpenSSH PROTOCOL.sshsig). */
export interface Signature {
  /** Public key in SSH's format. */
  key: Buffer
  namespace: string
  /** In SSH's format. */
  bytes: Buffer
  /** Message → the bytes that the key signed. */
  signedOf(message: Uint8Array): Buffer
}

const MAGIC = Buffer.from('SSHSIG')
const VERSION = 1
const HASHES = ['sha256', 'sha512']
/** An Ed25519 signature has about 300 bytes. */
const MOST_CHARACTERS = 16_384
const BEGIN = '-----BEGIN SSH SIGNATURE-----'
const END = '-----END SSH SIGNATURE-----'
const BASE64 = /^[A-Za-z0-9+/]+={0,2}$/

/** Text of a signature file → the signature, not verified yet. Throws Malformed. */
export function parseSignature(text: string): Signature {
  const reader = wireReader(unarmored(text))
  if (!reader.take(MAGIC.length).equals(MAGIC)) throw new Malformed('it is not an SSH signature')
  const version = reader.uint32()
  if (version !== VERSION) throw new Malformed(`its format has version ${version}, and only ${VERSION} is supported`)
  const key = reader.string()
  const namespace = reader.string()
  const reserved = reader.string()
  const hash = reader.string().toString('latin1')
  const bytes = reader.string()
  reader.end()
  if (!HASHES.includes(hash)) throw new Malformed('its hash algorithm is not supported')
  const signedOf = (message: Uint8Array) => {
    const hashed = createHash(hash).update(message).digest()
    return Buffer.concat([MAGIC, ...[namespace, reserved, Buffer.from(hash), hashed].map(wireString)])
  }
  return { key, namespace: namespace.toString('latin1'), bytes, signedOf }
}

function unarmored(text: string): Buffer {
  if (text.length > MOST_CHARACTERS) throw new Malformed('it is too long')
  const lines = text.trim().split(/\r?\n/)
  if (lines.length < 3 || lines[0] !== BEGIN || lines.at(-1) !== END) throw new Malformed('it is not an SSH signature')
  const body = lines.slice(1, -1).join('')
  if (!BASE64.test(body)) throw new Malformed('it is not base64')
  return Buffer.from(body, 'base64')
}
