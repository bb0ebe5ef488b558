import { readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { LAST_BACKUP_FILE } from '../../platform/last-backup.ts'
import { SEAL_KEY_FILE } from '../../storage/sqlite/seal-key.ts'
import { SERVING_FILE } from '../serving.ts'
import { CONFIG_FILE, isPlainName, MOST_SMALL_BYTES, MOST_SMALL_FILES } from './manifest.ts'
import { BEFORE_RESTORE } from './swap.ts'

export interface SmallFile {
  name: string
  bytes: Buffer
}

/** Certificates, their keys, and what is known of an authority. Whatever else somebody puts into the data directory is his. */
const KEPT = /\.(?:pem|key|crt|csr|json)$/
const DEEPEST = 3

/** Config file and data directory → what a backup holds beside the database: the config as it is written, and keys and
 *  certificates of the data directory, `seal.key` only `withKey`. Throws what reading throws. */
export function smallFiles(options: { config: string; dataDir: string; withKey: boolean }): SmallFile[] {
  const { config, dataDir, withKey } = options
  const names = namesBelow(dataDir, '', DEEPEST)
    .filter((name) => withKey || name !== SEAL_KEY_FILE)
    .slice(0, MOST_SMALL_FILES - 1)
  return [
    { name: CONFIG_FILE, bytes: readFileSync(config) },
    ...names.map((name) => ({ name, bytes: readFileSync(join(dataDir, name)) })),
  ]
}

/** Of this machine now, or what a name of ours stands for. */
const OF_THE_MOMENT = [CONFIG_FILE, LAST_BACKUP_FILE, SERVING_FILE]

function namesBelow(folder: string, prefix: string, deep: number): string[] {
  return readdirSync(join(folder, prefix), { withFileTypes: true })
    .toSorted((a, b) => (a.name < b.name ? -1 : 1))
    .flatMap((entry) => {
      const name = prefix + entry.name
      if (!isPlainName(name) || OF_THE_MOMENT.includes(name)) return []
      if (name.startsWith(BEFORE_RESTORE)) return []
      if (entry.isDirectory()) return deep > 1 ? namesBelow(folder, `${name}/`, deep - 1) : []
      return entry.isFile() && KEPT.test(name) && statSync(join(folder, name)).size <= MOST_SMALL_BYTES ? [name] : []
    })
}
