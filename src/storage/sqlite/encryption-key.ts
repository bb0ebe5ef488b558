import { randomBytes } from 'node:crypto'
import { createEncryption, type Encryption, KEY_BYTES } from '../encryption.ts'
import { firstEncryption, knownEncryption, proofOf } from '../encryption-key.ts'
import { type Connection, one } from './driver.ts'

const PROOF = 'select proof from seal'
const KEEP_PROOF = 'insert into seal (one, proof) values (1, ?)'

/** Data directory and its database → its Encryption; `:memory:` has a temporary key. Throws EncryptionKeyUnusable if the
 *  key is missing or wrong although something is encrypted, and if others may read it. */
export function openEncryption(dataDir: string, db: Connection): Encryption {
  if (dataDir === ':memory:') return createEncryption([randomBytes(KEY_BYTES)])
  const proof = db.prepare<unknown[], Uint8Array>(PROOF).pluck()
  if (proof.get() === undefined) {
    // Under the write lock, so that of two simultaneous starts only one creates the key.
    db.transaction(() => {
      if (proof.get() === undefined) db.prepare(KEEP_PROOF).run(proofOf(firstEncryption(dataDir)))
    }).immediate()
  }
  return knownEncryption(dataDir, one(proof))
}
