import { lockDataDir } from '../storage/sqlite/lock.ts'
import { reEncrypt } from '../storage/sqlite/re-encrypt.ts'
import { requireConfig, requireSqlite, withCliContext } from './cli-context.ts'
import { CommandFailure, EXIT } from './failure.ts'
import { print, printJson } from './print.ts'

/** Re-encrypts all secrets of the data directory with a new key and prints their number. Throws CommandFailure (exit
 *  code 3) if a server runs: it would continue with the old key. */
export async function rotateEncryptionKey(options: { config: string; json?: true }): Promise<void> {
  requireSqlite(requireConfig(options.config), 'seal rotate')
  await withCliContext(options.config, async ({ config, operator }) => {
    const lock = lockDataDir(config.dataDir)
    if (lock === null) throw new CommandFailure(`a server is running on ${config.dataDir}. Stop it first.`, EXIT.inUse)
    try {
      const about = { organizationId: null, body: {} }
      const secrets = await operator.manage('seal_rotate', about, async () => reEncrypt(config.dataDir))
      if (options.json) printJson({ secrets })
      else print(`${secrets} secrets re-encrypted with a new key. The old key stays in seal.key, below the new one.`)
    } finally {
      lock.release()
    }
  })
}
