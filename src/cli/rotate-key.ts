import type { Config } from '../config/load.ts'
import { databaseAddress } from '../storage/postgres/address.ts'
import { reEncryptDatabase } from '../storage/postgres/re-encrypt.ts'
import { reEncrypt } from '../storage/sqlite/re-encrypt.ts'
import { withCliContext } from './cli-context.ts'
import { print, printJson } from './print.ts'
import { requireUnserved } from './serving.ts'

/** Re-encrypts all secrets of the data directory with a new key and prints their number. Throws CommandFailure (exit
 *  code 3) if a server runs: it would continue with the old key. */
export async function rotateEncryptionKey(options: { config: string; json?: true }): Promise<void> {
  await withCliContext(options.config, async ({ config, operator }) => {
    const lock = requireUnserved(config.dataDir)
    try {
      const about = { organizationId: null, body: {} }
      const secrets = await operator.manage('seal_rotate', about, async () => reEncryptAll(config))
      if (options.json) printJson({ secrets })
      else
        print(
          `${secrets} secrets re-encrypted with a new key. The old key stays in seal.key, below the new one.${copies(config)}`,
        )
    } finally {
      lock.release()
    }
  })
}

async function reEncryptAll({ database, dataDir }: Config): Promise<number> {
  return database.url === '' ? reEncrypt(dataDir) : reEncryptDatabase(databaseAddress(database), dataDir)
}

const copies = ({ database }: Config) =>
  database.url === '' ? '' : '\nCopy seal.key to the data directories of all nodes before you start them.'
