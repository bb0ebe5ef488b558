import { closeSync, fsyncSync, lstatSync, mkdirSync, mkdtempSync, openSync, readdirSync, statfsSync } from 'node:fs'
import { join } from 'node:path'
import { removeWithForeign } from '../as-owner.ts'
import { CommandFailure } from '../failure.ts'

/** A folder in which something is made that has its name only when it is whole. */
export interface Workshop {
  folder: string
  remove(): void
}

/** Makes one in `within`, for its owner alone, and removes what killed processes of the same user have left there; what
 *  others put there under such a name is left alone. It goes when the process is asked to end, too. Throws what making it
 *  throws. */
export function openWorkshop(within: string, kind: string): Workshop {
  mkdirSync(within, { recursive: true, mode: 0o700 })
  const begins = `.postrider-${kind}-`
  for (const name of readdirSync(within)) {
    const pid = name.startsWith(begins) ? /^(\d{1,10})(?:-|$)/.exec(name.slice(begins.length))?.[1] : undefined
    if (pid !== undefined && !isRunning(Number(pid)) && isOurs(join(within, name))) {
      removeWithForeign(join(within, name))
    }
  }
  const folder = mkdtempSync(join(within, `${begins}${process.pid}-`)) // with mode 700, and nobody has it yet
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

/** Throws CommandFailure when the disk of `folder` has fewer bytes free. */
export function requireRoom(folder: string, bytes: number, what: string): void {
  const { bavail, bsize } = statfsSync(folder)
  if (bavail * bsize >= bytes) return
  throw new CommandFailure(`${folder}: ${what} takes up to ${mb(bytes)}, and ${mb(bavail * bsize)} are free`)
}

/** A file or a folder is on the disk, whatever happens next. */
export function sync(path: string): void {
  const handle = openSync(path, 'r')
  try {
    fsyncSync(handle)
  } finally {
    closeSync(handle)
  }
}

export const mb = (bytes: number) =>
  bytes < 10_000_000 ? `${Math.ceil(bytes / 1000)} kB` : `${Math.ceil(bytes / 1e6)} MB`

/** A folder of ours, and no link. */
function isOurs(path: string): boolean {
  const found = lstatSync(path, { throwIfNoEntry: false })
  return found?.isDirectory() === true && found.uid === process.geteuid?.()
}

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM'
  }
}
