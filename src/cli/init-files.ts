import { chownSync, mkdirSync, rmdirSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { CommandFailure, toFailure } from './failure.ts'
import { type Draft, SECRET_MODE } from './init-plan.ts'

/** Writes what was drafted; never over a file that came meanwhile. */
export function writeFiles({ files, config }: Draft): void {
  const written: string[] = []
  try {
    for (const { path, text, mode } of files) {
      mkdirSync(dirname(path), { recursive: true })
      writeFileSync(path, text, { flag: 'wx', mode })
      written.push(path)
      if (mode === SECRET_MODE) giveToOwnerOf(config.dataDir, path)
    }
  } catch (thrown) {
    for (const path of written) rmSync(path, { force: true })
    throw new CommandFailure(`config: ${toFailure(thrown)?.message ?? String(thrown)}`)
  }
}

/** Where the data directory is somebody's already, as with a package, root gives the file or folder to that user. */
function giveToOwnerOf(dataDir: string, path: string): void {
  const owner = statSync(dataDir, { throwIfNoEntry: false })
  if (owner !== undefined && process.getuid?.() === 0) chownSync(path, owner.uid, owner.gid)
}

/** A folder for zone files beside the config, which the owner of the data may write: the process will be that one soon.
 *  Null where none can be made; then there are none. */
export function openZoneFolder(configFile: string, dataDir: string): string | null {
  if (configFile === '') return null
  const folder = join(dirname(resolve(configFile)), 'dns')
  try {
    mkdirSync(folder, { recursive: true, mode: 0o755 })
    giveToOwnerOf(dataDir, folder)
    return folder
  } catch {
    return null
  }
}

/** Takes back what was written: files of a draft, and the folder when nothing else is in it. */
export function takeBack({ files }: Draft, zoneFolder: string | null): void {
  for (const { path } of files) rmSync(path, { force: true })
  if (zoneFolder !== null) removeIfEmpty(zoneFolder)
}

function removeIfEmpty(folder: string): void {
  try {
    rmdirSync(folder)
  } catch {
    // zone files of other domains are in it
  }
}

/** Text → a zone file in the folder, and where it is. Null when it cannot be written: `dns show --zone` prints the same. */
export function writeZone(folder: string | null, domain: string, text: string): string | null {
  if (folder === null) return null
  const path = join(folder, `${domain}.zone`)
  try {
    writeFileSync(path, text)
    return path
  } catch {
    return null
  }
}
