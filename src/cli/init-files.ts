import {
  chmodSync,
  closeSync,
  constants,
  fchmodSync,
  fchownSync,
  mkdirSync,
  openSync,
  rmdirSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { CommandFailure, toFailure } from './failure.ts'
import { type Draft, SECRET_MODE } from './init-plan.ts'

/** Creates the files of a draft and their folders; never overwrites a file. If one cannot be created, it removes those
 *  already written and throws CommandFailure. */
export function writeFiles({ files, config }: Draft): void {
  const written: string[] = []
  try {
    for (const { path, text, mode } of files) {
      makeFolder(dirname(path))
      writeNew(path, text, { mode, owner: mode === SECRET_MODE ? ownerIn(config.dataDir) : null })
      written.push(path)
    }
  } catch (thrown) {
    for (const path of written) rmSync(path, { force: true })
    throw new CommandFailure(`config: ${toFailure(thrown)?.message ?? String(thrown)}`)
  }
}

/** Creates a folder and its parents with mode 755, regardless of the umask. Does not change existing folders. Throws
 *  file system errors. */
export function makeFolder(path: string): void {
  const first = mkdirSync(path, { recursive: true, mode: FOLDER_MODE })
  if (first === undefined) return
  for (let at = resolve(path); ; at = dirname(at)) {
    chmodSync(at, FOLDER_MODE)
    if (at === resolve(first)) return
  }
}

/** Creates a file with this mode, regardless of the umask. Throws file system errors: EEXIST if the file exists. */
export function writeNew(
  path: string,
  text: string,
  { mode, owner = null }: { mode: number; owner?: Owner | null },
): void {
  const handle = openSync(path, 'wx', mode)
  try {
    fchmodSync(handle, mode)
    if (owner !== null) fchownSync(handle, owner.uid, owner.gid)
    writeFileSync(handle, text)
  } finally {
    closeSync(handle)
  }
}

interface Owner {
  uid: number
  gid: number
}

const FOLDER_MODE = 0o755
const ZONE_MODE = 0o644

/** If the process is root: the owner of the data directory, which a package creates. Root gives new files to that
 *  user. Otherwise null. */
function ownerIn(dataDir: string): Owner | null {
  if (process.getuid?.() !== 0) return null
  return statSync(dataDir, { throwIfNoEntry: false }) ?? null
}

/** Creates the folder `dns` beside the config, for zone files, and returns its path. The owner of the data directory
 *  can write to it, since the process takes that user's rights later. Null without a config file or if the folder
 *  cannot be created; `init` then writes no zone file. */
export function openZoneFolder(configFile: string, dataDir: string): string | null {
  if (configFile === '') return null
  const folder = join(dirname(resolve(configFile)), 'dns')
  try {
    makeFolder(folder)
    chownFolder(folder, ownerIn(dataDir))
    return folder
  } catch {
    return null
  }
}

/** Changes the owner through a descriptor, which does not follow symbolic links. */
function chownFolder(folder: string, owner: Owner | null): void {
  if (owner === null) return
  const handle = openSync(folder, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_DIRECTORY)
  try {
    fchownSync(handle, owner.uid, owner.gid)
  } finally {
    closeSync(handle)
  }
}

/** Removes the files of a draft, and the folder if it is empty. Never throws: root has become the owner of the data directory
 *  by then, who may not remove files beside the config, and the failure before is what matters. Returns the paths of the
 *  files that stay. */
export function removeWritten({ files }: Draft, zoneFolder: string | null): string[] {
  const staying = files.map(({ path }) => path).filter((path) => !isRemoved(path))
  if (zoneFolder !== null) removeIfEmpty(zoneFolder)
  return staying
}

/** A failure → the same, which names files that stay: a repeated command would find a config. Bugs stay as they are. */
export function withStaying(thrown: unknown, paths: readonly string[]): unknown {
  const failure = paths.length === 0 ? null : toFailure(thrown)
  if (failure === null) return thrown
  return new CommandFailure(`${failure.message}\nBefore you repeat it: rm ${paths.join(' ')}`, failure.code)
}

function isRemoved(path: string): boolean {
  try {
    rmSync(path, { force: true })
    return true
  } catch {
    return false
  }
}

function removeIfEmpty(folder: string): void {
  try {
    rmdirSync(folder)
  } catch {
    // not empty: it contains zone files of other domains
  }
}

/** Writes the zone file of a domain, replaces an old one, and returns its path. Null without a folder or if writing
 *  fails: `dns show --zone` prints the same text. */
export function writeZone(folder: string | null, domain: string, text: string): string | null {
  if (folder === null) return null
  const path = join(folder, `${domain}.zone`)
  try {
    const { O_WRONLY, O_CREAT, O_TRUNC, O_NOFOLLOW } = constants
    const handle = openSync(path, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW, ZONE_MODE)
    try {
      fchmodSync(handle, ZONE_MODE)
      writeFileSync(handle, text)
    } finally {
      closeSync(handle)
    }
    return path
  } catch {
    return null
  }
}
