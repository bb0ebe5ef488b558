import { join } from 'node:path'
import { reEncryptAll } from '../records/re-encrypt.ts'
import { performingOn } from './database.ts'
import { connect } from './driver.ts'
import { openEncryption } from './encryption-key.ts'

const PATIENCE_MS = 5_000

/** reEncryptAll on the database of a data directory → the number of secrets. No server may run, since it knows only the
 *  old key. */
export function reEncrypt(dataDir: string): number {
  const db = connect(join(dataDir, 'postrider.db'), { busyTimeoutMs: PATIENCE_MS })
  try {
    openEncryption(dataDir, db)
    const renewed = db.transaction(() => performingOn(db)(reEncryptAll(dataDir))).immediate()
    db.pragma('wal_checkpoint(truncate)') // also removes from the log what the old key encrypted
    return renewed
  } finally {
    db.close()
  }
}
