import { lockDataDir } from '../storage/sqlite/lock.ts'
import { reseal } from '../storage/sqlite/re-encrypt.ts'
import { CommandFailure, EXIT } from './failure.ts'
import { inOffice } from './office.ts'
import { print, printJson } from './print.ts'

/** Seals all secrets of the data directory with a new key; only while no server runs, which would know the old one. */
export async function rotateSeal(options: { config: string; json?: true }): Promise<void> {
  await inOffice(options.config, async ({ config, operator }) => {
    const lock = lockDataDir(config.dataDir)
    if (lock === null) throw new CommandFailure(`a server runs on ${config.dataDir}: stop it first`, EXIT.inUse)
    try {
      const about = { organizationId: null, body: {} }
      const secrets = await operator.manage('seal_rotate', about, async () => reseal(config.dataDir))
      if (options.json) printJson({ secrets })
      else print(`${secrets} secrets are sealed with a new key; the old one stays in seal.key, below it`)
    } finally {
      lock.release()
    }
  })
}
