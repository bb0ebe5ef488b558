import { createHash, createPublicKey, verify } from 'node:crypto'
import { Malformed, type WireReader, wireReader } from './wire.ts'

const ED25519 = 'ssh-ed25519'
/** A key in a hardware token; OpenSSH PROTOCOL.u2f. */
const SK_ED25519 = 'sk-ssh-ed25519@openssh.com'
const USER_PRESENT = 0x01
const ED25519_BYTES = 32

/** A public key that can verify. */
export interface SshKey {
  type: string
  /** Whether `signature`, in SSH's format, is of this key and of `signed`. Throws Malformed for another format. */
  verifies(signed: Buffer, signature: Buffer): boolean
}

/** A public key in SSH's format → the key; null for types other than Ed25519. Throws Malformed. */
export function sshKeyOf(blob: Buffer): SshKey | null {
  const reader = wireReader(blob)
  const type = reader.string().toString('latin1')
  if (type !== ED25519 && type !== SK_ED25519) return null
  const point = reader.string()
  if (point.length !== ED25519_BYTES) throw new Malformed('its key has another length')
  const application = type === SK_ED25519 ? reader.string() : null
  reader.end()
  const key = createPublicKey({ key: { kty: 'OKP', crv: 'Ed25519', x: point.toString('base64url') }, format: 'jwk' })
  return {
    type,
    verifies: (signed, signature) => {
      const given = wireReader(signature)
      if (given.string().toString('latin1') !== type)
        throw new Malformed('its signature is of another type than its key')
      const bytes = given.string()
      const message = application === null ? signed : signedByToken(application, signed, given)
      given.end()
      return message !== null && verify(null, message, key, bytes)
    },
  }
}

/** What the token signed; null if nobody touched it. */
function signedByToken(application: Buffer, signed: Buffer, given: WireReader): Buffer | null {
  const flags = given.take(1)
  const counter = given.take(4)
  if (((flags[0] ?? 0) & USER_PRESENT) === 0) return null
  return Buffer.concat([sha256(application), flags, counter, sha256(signed)])
}

const sha256 = (bytes: Buffer) => createHash('sha256').update(bytes).digest()
