import { lstatSync, mkdirSync, mkdtempSync, readdirSync, statfsSync } from 'node:fs'
import { join } from 'node:path'
import { errorCode } from '../../os/thrown.ts'
import { CommandFailure } from '../failure.ts'
import { removeWithForeign } from '../owner-rights.ts'

/** A temporary folder. Files in it get their final name only when they are complete. `remove` deletes it. */
export interface StagingDir {
  folder: string
  remove(): void
}

/** Creates a private staging folder in `within`. Also removes those that killed processes of the same user left there;
 *  it does not touch folders of other users. SIGINT, SIGTERM and SIGHUP remove the folder and end the process. Throws
 *  file system errors. */
export function openStagingDir(within: string, kind: string): StagingDir {
  mkdirSync(within, { recursive: true, mode: 0o700 })
  const begins = `.postrider-${kind}-`
  for (const name of readdirSync(within)) {
    const pid = name.startsWith(begins) ? /^(\d{1,10})(?:-|$)/.exec(name.slice(begins.length))?.[1] : undefined
    if (pid !== undefined && !isRunning(Number(pid)) && isOurs(join(within, name))) {
      removeWithForeign(join(within, name))
    }
  }
  const folder = mkdtempSync(join(within, `${begins}${process.pid}-`)) // mode 700, unpredictable name
  const remove = () => removeWithForeign(folder)
  const leave = (code: number) => () => {
    remove()
    process.exit(code)
  }
  const ends = [
    ['SIGINT', leave(130)],
    ['SIGTERM', leave(143)],
    ['SIGHUP', leave(129)],
  ] as const
  for (const [signal, end] of ends) process.on(signal, end)
  return {
    folder,
    remove: () => {
      for (const [signal, end] of ends) process.off(signal, end)
      remove()
    },
  }
}

/** Throws CommandFailure if the disk of `folder` has fewer free bytes. `what` is the subject of the message. */
export function requireFreeSpace(folder: string, bytes: number, what: string): void {
  const { bavail, bsize } = statfsSync(folder)
  if (bavail * bsize >= bytes) return
  throw new CommandFailure(
    `${folder}: not enough disk space. ${what} needs up to ${mb(bytes)}, but only ${mb(bavail * bsize)} are free.`,
  )
}

/** Bytes as `812 kB` below 10 MB, otherwise as `12 MB`; rounded up. */
export const mb = (bytes: number) =>
  bytes < 10_000_000 ? `${Math.ceil(bytes / 1000)} kB` : `${Math.ceil(bytes / 1e6)} MB`

/** Whether it is a folder of this user. Does not follow a symbolic link. */
function isOurs(path: string): boolean {
  const found = lstatSync(path, { throwIfNoEntry: false })
  return found?.isDirectory() === true && found.uid === process.geteuid?.()
}

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return errorCode(error) === 'EPERM'
  }
}
