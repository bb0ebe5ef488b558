import { randomBytes } from 'node:crypto'
import { closeSync, fstatSync, fsyncSync, openSync, readFileSync, renameSync, writeSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { sync } from '../os/sync.ts'
import { errorCode } from '../os/thrown.ts'
import { createEncryption, type Encryption, EncryptionKeyUnusable, KEY_BYTES } from './encryption.ts'

/** File with the keys in base64, one per line: the first encrypts, those below only decrypt what was encrypted
 *  before. It is in the data directory, readable only by its owner; a copy of the database without it reveals no
 *  secret. */
export const ENCRYPTION_KEY_FILE = 'seal.key'

const PLACE = 'seal'
const PROOF_TEXT = 'postrider'

/** Data directory → its Encryption, whose key is created if there is none: at the first start, or after one that was
 *  interrupted before using it. The key is on disk before anything is encrypted with it. */
export function firstEncryption(dataDir: string): Encryption {
  const made = readKeys(join(dataDir, ENCRYPTION_KEY_FILE))
  return made === null ? addKey(dataDir) : createEncryption(made)
}

/** An encrypted text by which the key is recognised later; the database stores it. */
export function proofOf(encryption: Encryption): Uint8Array {
  return encryption.encrypt(PROOF_TEXT, PLACE)
}

/** Data directory and the proof in the database → the Encryption. Throws EncryptionKeyUnusable if the key is missing or
 *  wrong, and if others may read it. */
export function knownEncryption(dataDir: string, proof: Uint8Array): Encryption {
  return encryptionIn(join(dataDir, ENCRYPTION_KEY_FILE), proof)
}

/** The same for a key in any file. */
export function encryptionIn(file: string, proof: Uint8Array): Encryption {
  const keys = readKeys(file)
  if (keys === null) {
    throw new EncryptionKeyUnusable(
      `${file} is missing. The secrets in the database were encrypted with it. Restore the file from your backup.`,
    )
  }
  const encryption = createEncryption(keys)
  try {
    encryption.decrypt(proof, PLACE)
  } catch (error) {
    if (!(error instanceof EncryptionKeyUnusable)) throw error
    throw new EncryptionKeyUnusable(`${file}: ${error.message}. Restore the file from a backup of this database.`)
  }
  return encryption
}

/** Adds a new key in front of those in the file, if any; the others can still decrypt. */
export function addKey(dataDir: string): Encryption {
  const file = join(dataDir, ENCRYPTION_KEY_FILE)
  const keys: Keys = [randomBytes(KEY_BYTES), ...(readKeys(file) ?? [])]
  write(file, keys)
  return createEncryption(keys)
}

type Keys = [Uint8Array, ...Uint8Array[]]

/** Null if there is no file. */
function readKeys(file: string): Keys | null {
  let handle: number
  try {
    handle = openSync(file, 'r')
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return null
    throw error
  }
  try {
    if ((fstatSync(handle).mode & 0o077) !== 0) {
      throw new EncryptionKeyUnusable(`${file} is accessible to other users. Run: chmod 600 ${file}`)
    }
    const keys = readFileSync(handle, 'latin1')
      .trim()
      .split('\n')
      .map((line) => Buffer.from(line, 'base64'))
    const [newest, ...older] = keys
    if (newest === undefined || keys.some((key) => key.length !== KEY_BYTES)) {
      throw new EncryptionKeyUnusable(
        `${file} is damaged: expected lines of ${KEY_BYTES} bytes in base64. Restore the file from your backup.`,
      )
    }
    return [newest, ...older]
  } finally {
    closeSync(handle)
  }
}

/** Complete or not at all, and synced to disk. */
function write(file: string, keys: Keys): void {
  const draft = `${file}.${process.pid}`
  const handle = openSync(draft, 'w', 0o600)
  try {
    writeSync(handle, keys.map((key) => `${Buffer.from(key).toString('base64')}\n`).join(''))
    fsyncSync(handle)
  } finally {
    closeSync(handle)
  }
  renameSync(draft, file)
  sync(dirname(file))
}
