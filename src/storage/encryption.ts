import { createCipheriv, createDecipheriv, createHash, createHmac, randomBytes } from 'node:crypto'

/** Encrypts and decrypts secrets on disk with AES-256-GCM (NIST SP 800-38D). A ciphertext is bound to its place, so
 *  that a person who can write to the database cannot move a secret to another record. */
export interface Encryption {
  /** Identifies the key that encrypts, without revealing it: 8 hexadecimal digits. */
  keyName: string
  /** `place` is table and key of the row: `webhooks whk_…`. */
  encrypt(plain: string | Uint8Array, place: string): Uint8Array
  /** Throws EncryptionKeyUnusable if it was encrypted with another key, for another place, or was changed. */
  decrypt(encrypted: Uint8Array, place: string): Buffer
  /** 16 hexadecimal digits that are the same for the same text and place, and reveal nothing without the key that encrypts:
   *  HMAC-SHA-256 with a key derived from it. */
  digest(text: string, place: string): string
}

/** The encryption key is missing, wrong, or readable by others; `message` says what to do. */
export class EncryptionKeyUnusable extends Error {
  constructor(message: string) {
    super(message)
    this.name = 'EncryptionKeyUnusable'
  }
}

/** Length of an AES-256 key in bytes. */
export const KEY_BYTES = 32

/** Keys → Encryption. The first encrypts, all of them decrypt: during a key rotation there are two. */
export function createEncryption(keys: readonly [Uint8Array, ...Uint8Array[]]): Encryption {
  const named = keys.map((key) => ({ key, name: nameOf(key) }))
  const newest = { key: keys[0], name: nameOf(keys[0]) }
  const digestKey = createHmac('sha256', keys[0]).update('postrider digest key').digest()
  return {
    keyName: newest.name.toString('hex'),
    encrypt: (plain, place) => {
      const nonce = randomBytes(NONCE_BYTES)
      const cipher = createCipheriv('aes-256-gcm', newest.key, nonce).setAAD(Buffer.from(place))
      return Buffer.concat([newest.name, nonce, cipher.update(plain), cipher.final(), cipher.getAuthTag()])
    },
    decrypt: (encrypted, place) => {
      const bytes = Buffer.from(encrypted)
      const known = named.find(({ name }) => name.equals(bytes.subarray(0, NAME_BYTES)))
      if (known === undefined) throw new EncryptionKeyUnusable('the secrets were encrypted with another key')
      const nonce = bytes.subarray(NAME_BYTES, TEXT_AT)
      const decipher = createDecipheriv('aes-256-gcm', known.key, nonce).setAAD(Buffer.from(place))
      decipher.setAuthTag(bytes.subarray(-TAG_BYTES))
      try {
        return Buffer.concat([decipher.update(bytes.subarray(TEXT_AT, -TAG_BYTES)), decipher.final()])
      } catch {
        throw new EncryptionKeyUnusable(`an encrypted secret was changed or moved: ${place}`)
      }
    },
    digest: (text, place) => createHmac('sha256', digestKey).update(`${place}\0${text}`).digest('hex').slice(0, 16),
  }
}

const NAME_BYTES = 4
const NONCE_BYTES = 12
const TEXT_AT = NAME_BYTES + NONCE_BYTES
const TAG_BYTES = 16

/** Identifies a key without revealing it. */
function nameOf(key: Uint8Array): Buffer {
  return createHash('sha256').update('postrider seal key').update(key).digest().subarray(0, NAME_BYTES)
}
