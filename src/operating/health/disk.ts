import { existsSync, statfsSync, statSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fail, pass, skip, type Verdict, warn } from './check.ts'
import type { CheckDeps, Installation } from './deps.ts'

const DAY_MS = 86_400_000
/** Below this multiple of the reserve the check warns. */
const LOW_TIMES_RESERVE = 5
const FEW_DAYS = 14

/** Checks that there is space for mail, and estimates how long it lasts. */
export function checkDisk({ dataDir, minFreeBytes }: Installation, { now }: CheckDeps): Verdict {
  const { bavail, blocks, bsize, ffree, files } = statfsSync(nearest(dataDir))
  const free = bavail * bsize
  // As storage/sqlite/disk-reserve.ts: at most a tenth of the disk is kept free.
  const reserve = Math.min(minFreeBytes, (blocks * bsize) / 10)
  const advice = `Free space under ${dataDir}, or reduce retention_days of the plans.`
  if (free < reserve) return fail(`${size(free)} free; new mail is rejected below ${size(reserve)}`, advice)
  if (files > 0 && ffree < 1000) return fail(`only ${ffree} more files can be created`, advice)
  const days = daysLeft(free - reserve, dataDir, now())
  const message = `${size(free)} free${days === null ? '' : `, enough for ${days} days at the current rate`}`
  if (free < LOW_TIMES_RESERVE * reserve || (days !== null && days < FEW_DAYS)) return warn(message, advice)
  return pass(message)
}

/** Checks the permissions of the data directory, which holds mail, keys and the encryption key. */
export function checkDataDir({ dataDir }: Installation): Verdict {
  const folder = statSync(dataDir, { throwIfNoEntry: false })
  if (folder === undefined) return skip(`${dataDir} does not exist yet`)
  const ours = ['postrider.db', 'seal.key', 'backup.secret'].map((name) => join(dataDir, name)).filter(existsSync)
  const foreign = ours.filter((file) => statSync(file).uid !== folder.uid)
  if (foreign.length > 0) {
    const owner = `uid ${folder.uid}`
    return fail(
      `${foreign.join(' and ')} is not owned by ${owner}, the owner of its directory`,
      `chown -R --reference=${dataDir} ${dataDir}`,
    )
  }
  const open = [dataDir, ...ours].filter((path) => (statSync(path).mode & 0o077) !== 0 && !isProtected(path, dataDir))
  if (open.length > 0) return warn(`${open.join(', ')} is readable by other users`, `chmod -R go= ${dataDir}`)
  return pass(`${dataDir}, accessible to uid ${folder.uid} only`)
}

/** Other users cannot reach a file in a directory that is closed to them. The encryption key itself must be closed,
 *  too. */
const isProtected = (path: string, dataDir: string) =>
  path !== dataDir && !path.endsWith('seal.key') && (statSync(dataDir).mode & 0o077) === 0

/** Growth estimate from the size and age of the database; null while it is too young. */
function daysLeft(free: number, dataDir: string, now: number): number | null {
  const database = statSync(join(dataDir, 'postrider.db'), { throwIfNoEntry: false })
  if (database === undefined || database.birthtimeMs === 0) return null
  const ageDays = (now - database.birthtimeMs) / DAY_MS
  if (ageDays < 1 || database.size < 50_000_000) return null
  return Math.floor(free / (database.size / ageDays))
}

function nearest(folder: string): string {
  let path = folder
  while (!existsSync(path) && dirname(path) !== path) path = dirname(path)
  return path
}

function size(bytes: number): string {
  return bytes < 10_000_000_000 ? `${Math.round(bytes / 1_000_000)} MB` : `${Math.round(bytes / 1_000_000_000)} GB`
}
