import { readdirSync, rmSync, statSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { usageFault } from '../failure.ts'

/** Destination of a backup. */
export interface Target {
  /** Null = standard output. */
  file: string | null
  /** Folder for the staging directory, on the same disk as the target. */
  stagingParent: string
}

const NAME = /^postrider-\d{8}T\d{6}Z\.tar\.zst$/

/** Parses the target of a backup: a file, a folder, or `-` for standard output. In a folder, the time is the name of
 *  the file. Throws CommandFailure (exit code 2) for `keep` without a folder, and for a terminal. */
export function targetOf(to: string, how: { madeAt: number; dataDir: string; keep: number | undefined }): Target {
  if (to === '-') {
    if (how.keep !== undefined) throw usageFault('--keep requires a folder as target')
    if (process.stdout.isTTY) throw usageFault('cannot write a backup to a terminal. Redirect it to a file or a pipe.')
    return { file: null, stagingParent: how.dataDir }
  }
  const isFolder = to.endsWith('/') || statSync(to, { throwIfNoEntry: false })?.isDirectory() === true
  if (!isFolder && how.keep !== undefined) throw usageFault('--keep requires a folder as target')
  const folder = resolve(isFolder ? to : dirname(to))
  return { file: isFolder ? join(folder, nameAt(how.madeAt)) : resolve(to), stagingParent: folder }
}

/** Deletes all but the newest `keep` backups of a folder, by the time in their names; returns the deleted names.
 *  Ignores other files. Throws file system errors. */
export function dropOld(folder: string, keep: number): string[] {
  const names = readdirSync(folder).filter((name) => NAME.test(name))
  const old = names.toSorted().slice(0, -keep)
  for (const name of old) rmSync(join(folder, name))
  return old
}

const nameAt = (time: number) => `postrider-${stampOf(time)}.tar.zst`

/** ms UTC → part of a file name: `20261121T120000Z`. */
export function stampOf(time: number): string {
  return new Date(time).toISOString().replace(/[-:]|\.\d+/g, '')
}
