import { closeSync, constants, lstatSync, openSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { ENCRYPTION_KEY_FILE } from '../../storage/encryption-key.ts'
import { CONFIG_FILE, MOST_SMALL_BYTES, MOST_SMALL_FILES, mayHold } from './manifest.ts'

/** A file that fits in memory (at most MOST_SMALL_BYTES). `name` is its path in the backup. */
export interface SmallFile {
  name: string
  bytes: Buffer
}

const DEEPEST = 3

/** The files of a backup besides the database: the config, and keys and certificates of the data directory; `seal.key`
 *  only with `withKey`. Omits hidden files, files over MOST_SMALL_BYTES and files more than two folders deep. Throws
 *  file system errors. */
export function smallFiles(options: { config: string; dataDir: string; withKey: boolean }): SmallFile[] {
  const { config, dataDir, withKey } = options
  const names = namesBelow(dataDir, '', DEEPEST)
    .filter((name) => withKey || name !== ENCRYPTION_KEY_FILE)
    .slice(0, MOST_SMALL_FILES - 1)
  return [
    { name: CONFIG_FILE, bytes: readFileSync(config) },
    ...names.map((name) => ({ name, bytes: readNoLink(join(dataDir, name)) })),
  ]
}

/** The bytes of a file. Does not follow symbolic links: the folder may belong to another user. Throws file system errors. */
export function readNoLink(path: string): Buffer {
  const handle = openSync(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK)
  try {
    return readFileSync(handle)
  } finally {
    closeSync(handle)
  }
}

function namesBelow(folder: string, prefix: string, deep: number): string[] {
  return readdirSync(join(folder, prefix), { withFileTypes: true })
    .toSorted((a, b) => (a.name < b.name ? -1 : 1))
    .flatMap((entry) => {
      const name = prefix + entry.name
      // mayHold accepts file names only: test the folder with a possible file in it.
      if (entry.isDirectory())
        return deep > 1 && mayHold(`${name}/a.pem`) ? namesBelow(folder, `${name}/`, deep - 1) : []
      if (name === CONFIG_FILE || !entry.isFile() || !mayHold(name)) return []
      return lstatSync(join(folder, name)).size <= MOST_SMALL_BYTES ? [name] : []
    })
}
