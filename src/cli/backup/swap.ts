import { accessSync, constants, existsSync, mkdirSync, readdirSync, renameSync, rmdirSync, statSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { exchangePaths } from '../../os/exchange-paths.ts'
import { sync } from '../../os/sync.ts'
import { BEFORE_RESTORE, DATABASE } from './manifest.ts'

/** The folder in which to build the replacement of `dataDir`: its parent, so that a rename can replace it. The data
 *  directory itself if it is a mount point (a container's volume) or its parent is not writable. */
export function stagingParentFor(dataDir: string): string {
  const beside = dirname(dataDir)
  if (!existsSync(dataDir)) return beside
  const isDiskOfItsOwn = statSync(dataDir).dev !== statSync(beside).dev
  return isDiskOfItsOwn || !mayWrite(beside) ? dataDir : beside
}

/** Replaces the data directory with a folder built in `stagingParentFor(dataDir)`. Returns the path of the old data, or
 *  null if there was none. `stamp` becomes part of that path.
 *
 *  Beside the data directory, it exchanges both folders atomically, or renames them if the file system cannot. Inside,
 *  it moves the old database out first and the new database in last, so that a server cannot start on a mixture. Call
 *  it with the rights of the directory's owner (owner-rights.ts), to whom all files then belong. Throws file system
 *  errors. */
export function swapIn(made: string, dataDir: string, how: { stagingParent: string; stamp: string }): string | null {
  const kept = `${BEFORE_RESTORE}${how.stamp}`
  if (how.stagingParent === dataDir) return moveIn(made, dataDir, unused(join(dataDir, kept)))
  const old = unused(`${dataDir}.${kept}`)
  if (isEmpty(dataDir)) {
    if (existsSync(dataDir)) rmdirSync(dataDir)
    renameSync(made, dataDir)
    sync(dirname(dataDir))
    return null
  }
  // Exchange at the final path of the old data, not in the staging folder: cleanup after a crash removes that folder.
  renameSync(made, old)
  if (!exchangePaths(old, dataDir)) {
    renameSync(old, made)
    renameSync(dataDir, old)
    renameSync(made, dataDir)
  }
  sync(dirname(dataDir))
  return old
}

/** Whether the folder does not exist or contains only lost+found and staging folders. */
export function isEmpty(folder: string): boolean {
  return !existsSync(folder) || namesIn(folder).length === 0
}

const namesIn = (folder: string) =>
  readdirSync(folder).filter((name) => name !== 'lost+found' && !name.startsWith('.postrider-'))

function moveIn(made: string, dataDir: string, old: string): string | null {
  const before = namesIn(dataDir).toSorted(databaseLast).reverse()
  if (before.length > 0) mkdirSync(old, { mode: 0o700 })
  for (const name of before) renameSync(join(dataDir, name), join(old, name))
  sync(dataDir)
  for (const name of readdirSync(made).toSorted(databaseLast)) renameSync(join(made, name), join(dataDir, name))
  sync(dataDir)
  return before.length > 0 ? old : null
}

/** The path, with a number appended if that path exists. */
function unused(path: string, number = 2): string {
  if (!existsSync(path)) return path
  return existsSync(`${path}-${number}`) ? unused(path, number + 1) : `${path}-${number}`
}

const databaseLast = (a: string, b: string) => Number(a === DATABASE) - Number(b === DATABASE)

function mayWrite(folder: string): boolean {
  try {
    accessSync(folder, constants.W_OK)
    return true
  } catch {
    return false
  }
}
