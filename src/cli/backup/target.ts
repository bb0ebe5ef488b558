import { readdirSync, rmSync, statSync } from 'node:fs'
import { basename, dirname, join, resolve } from 'node:path'
import { CommandFailure, usageFault } from '../failure.ts'
import { type Bucket, bucketPlaceOf } from './bucket.ts'

/** Destination of a backup. */
export interface Target {
  /** Null = not a file. */
  file: string | null
  /** In object storage; null = a file or standard output. */
  object: { bucket: string; key: string } | null
  /** Folder for the staging directory, on the same disk as the target. */
  stagingParent: string
}

const NAME = /^postrider-\d{8}T\d{6}Z\.tar\.zst$/

/** Parses the target of a backup: a file, a folder, either of them at s3://bucket/, or `-` for standard output. In a
 *  folder, the time is the name of the file. Throws CommandFailure (exit code 2) for `keep` without a folder, and for a
 *  terminal. */
export function targetOf(to: string, how: { madeAt: number; dataDir: string; keep: number | undefined }): Target {
  if (to === '-') {
    if (how.keep !== undefined) throw usageFault('--keep requires a folder as target')
    if (process.stdout.isTTY) throw usageFault('cannot write a backup to a terminal. Redirect it to a file or a pipe.')
    return { file: null, object: null, stagingParent: how.dataDir }
  }
  const place = bucketPlaceOf(to)
  if (place !== null) {
    const isFolder = isFolderKey(place.key)
    if (!isFolder && how.keep !== undefined) throw usageFault('--keep requires a folder as target')
    const key = isFolder ? place.key + nameAt(how.madeAt) : place.key
    return { file: null, object: { bucket: place.bucket, key }, stagingParent: how.dataDir }
  }
  const isFolder = to.endsWith('/') || statSync(to, { throwIfNoEntry: false })?.isDirectory() === true
  if (!isFolder && how.keep !== undefined) throw usageFault('--keep requires a folder as target')
  const folder = resolve(isFolder ? to : dirname(to))
  const file = isFolder ? join(folder, nameAt(how.madeAt)) : resolve(to)
  return { file, object: null, stagingParent: folder }
}

/** The name of the target, as it is printed. */
export function nameOf({ file, object }: Target): string {
  return object === null ? (file ?? 'standard output') : `s3://${object.bucket}/${object.key}`
}

/** The same as dropOld for a folder in object storage. */
export async function dropOldObjects(
  bucket: Pick<Bucket, 'keysIn' | 'remove'>,
  folder: string,
  kept: Kept,
): Promise<string[]> {
  const names = (await bucket.keysIn(folder)).map((key) => key.slice(folder.length))
  const old = oldNames(names, kept).map((name) => folder + name)
  for (const key of old) await bucket.remove(key)
  return old
}

/** Which backups of a folder stay. */
export interface Kept {
  /** How many. */
  keep: number
  /** Time of the backup that was just made, which always stays: the clock may have been ahead before. */
  madeAt: number
}

/** Names in a folder → those of backups that are too old, the oldest first. */
function oldNames(names: readonly string[], { keep, madeAt }: Kept): string[] {
  const others = names.filter((name) => NAME.test(name) && name !== nameAt(madeAt)).toSorted()
  return others.slice(0, Math.max(0, others.length - (keep - 1)))
}

const isFolderKey = (key: string) => key === '' || key.endsWith('/')

/** Deletes all but the backup that was just made and the newest others of a folder, by the time in their names; returns the
 *  deleted names. Ignores other files. Throws file system errors. */
export function dropOld(folder: string, kept: Kept): string[] {
  const old = oldNames(readdirSync(folder), kept)
  for (const name of old) rmSync(join(folder, name))
  return old
}

const nameAt = (time: number) => `postrider-${stampOf(time)}.tar.zst`

/** Throws CommandFailure if a backup has the name of another time than its own: somebody may have put an older one in the
 *  place of a newer one. Accepts names that contain no time. */
export function requireTrueName(from: string, madeAt: number): void {
  const name = basename(from)
  if (!NAME.test(name) || name === nameAt(madeAt)) return
  throw new CommandFailure(
    `${from}: this backup is of ${new Date(madeAt).toISOString()}, and its name says another time. Somebody renamed it, maybe to hide a newer one. To restore it, rename it to ${nameAt(madeAt)}.`,
  )
}

/** ms UTC → part of a file name: `20261121T120000Z`. */
export function stampOf(time: number): string {
  return new Date(time).toISOString().replace(/[-:]|\.\d+/g, '')
}
