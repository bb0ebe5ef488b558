import { readdirSync, rmSync, statSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { usageFault } from '../failure.ts'

/** Where a backup goes. */
export interface Target {
  /** Null = standard output. */
  file: string | null
  /** On the disk where it is made. */
  workplace: string
}

const NAME = /^postrider-\d{8}T\d{6}Z\.tar\.zst$/

/** `FILE`, `DIR` or `-` → Target. In a folder it gets the time as its name. Throws a usage fault. */
export function targetOf(to: string, how: { madeAt: number; dataDir: string; keep: number | undefined }): Target {
  if (to === '-') {
    if (how.keep !== undefined) throw usageFault('--keep is for a folder')
    if (process.stdout.isTTY) throw usageFault('a backup is not for a terminal: send it to a file or a pipe')
    return { file: null, workplace: how.dataDir }
  }
  const isFolder = to.endsWith('/') || statSync(to, { throwIfNoEntry: false })?.isDirectory() === true
  if (!isFolder && how.keep !== undefined) throw usageFault('--keep is for a folder')
  const folder = resolve(isFolder ? to : dirname(to))
  return { file: isFolder ? join(folder, nameAt(how.madeAt)) : resolve(to), workplace: folder }
}

/** Removes all but the newest `keep` backups of a folder, by their names; answers which went. */
export function dropOld(folder: string, keep: number): string[] {
  const names = readdirSync(folder).filter((name) => NAME.test(name))
  const old = names.toSorted().slice(0, -keep)
  for (const name of old) rmSync(join(folder, name))
  return old
}

const nameAt = (time: number) => `postrider-${stampOf(time)}.tar.zst`

/** A time for the name of a file: `20261121T120000Z`. */
export function stampOf(time: number): string {
  return new Date(time).toISOString().replace(/[-:]|\.\d+/g, '')
}
