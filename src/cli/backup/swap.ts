import { accessSync, constants, existsSync, mkdirSync, readdirSync, renameSync, rmdirSync, statSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { exchangePaths } from '../../os/exchange-paths.ts'
import { BEFORE_RESTORE, DATABASE } from './manifest.ts'
import { sync } from './workshop.ts'

/** Where a data directory is made that is to take the place of `dataDir`: beside it, so that one rename does it; inside, where
 *  it is a disk of its own (a container's volume) or nobody may write beside it. */
export function workplaceFor(dataDir: string): string {
  const beside = dirname(dataDir)
  if (!existsSync(dataDir)) return beside
  const isDiskOfItsOwn = statSync(dataDir).dev !== statSync(beside).dev
  return isDiskOfItsOwn || !mayWrite(beside) ? dataDir : beside
}

/** A folder made in `workplaceFor(dataDir)` takes the place of the data directory, and what stood there is kept under the
 *  name that is answered; null when that was nothing. Beside it: one rename, at any moment one or the other is there whole.
 *  Inside it: the old database leaves first and the new one comes last, and a server refuses what is between. Runs with the
 *  rights of the owner of the directory (as-owner.ts), who owns all of it then. Throws what renaming throws. */
export function swapIn(made: string, dataDir: string, how: { workplace: string; stamp: string }): string | null {
  const kept = `${BEFORE_RESTORE}${how.stamp}`
  if (how.workplace === dataDir) return moveIn(made, dataDir, unused(join(dataDir, kept)))
  const old = unused(`${dataDir}.${kept}`)
  if (isEmpty(dataDir)) {
    if (existsSync(dataDir)) rmdirSync(dataDir)
    renameSync(made, dataDir)
    sync(dirname(dataDir))
    return null
  }
  // First under the name that the old one will have: whatever happens, no old one lies where it would be tidied away.
  renameSync(made, old)
  if (!exchangePaths(old, dataDir)) {
    renameSync(old, made)
    renameSync(dataDir, old)
    renameSync(made, dataDir)
  }
  sync(dirname(dataDir))
  return old
}

/** Nothing of anybody's is in it. */
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

/** The same path, or with a number behind it where that is taken. */
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
