import { lstatSync, readdirSync, realpathSync, rmdirSync, rmSync, type Stats, statSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { CommandFailure } from './failure.ts'

/** Root working in a folder of another user: that user can replace any name in it by a symbolic link at any time. So root
 *  must not follow names there, nor chown or delete what they point to. */

export interface Owner {
  uid: number
  gid: number
}

/** The owner for files created at `path`: that of the folder, or of its nearest existing ancestor. */
export function ownerOf(path: string): Owner {
  const { uid, gid } = statSync(nearest(path))
  return { uid, gid }
}

/** Runs `work` as the owner of `path` if the process is root, then restores root. Affects the whole process, including
 *  its threads. */
export async function asOwnerOf<T>(path: string, work: () => Promise<T>): Promise<T> {
  const back = actAs(ownerOf(path))
  try {
    return await work()
  } finally {
    back()
  }
}

/** Removes our folder, which may contain folders of another user: those are emptied with that user's rights. Does nothing
 *  if the folder does not exist. */
export function removeWithForeign(folder: string): void {
  actAs(ROOT) // after a signal, perhaps in the middle of asOwnerOf; no effect if the process never was root
  if (lstatSync(folder, { throwIfNoEntry: false }) === undefined) return
  for (const name of readdirSync(folder)) {
    const path = join(folder, name)
    const found = lstatSync(path)
    if (!found.isDirectory() || process.geteuid?.() !== 0 || found.uid === 0) {
      rmSync(path, { recursive: true, force: true })
      continue
    }
    const back = actAs(found)
    try {
      for (const inner of readdirSync(path)) rmSync(join(path, inner), { recursive: true, force: true })
    } finally {
      back()
    }
    rmdirSync(path)
  }
  rmdirSync(folder)
}

/** Throws CommandFailure if root works at `path` and a third user could replace a folder above it. Each folder above must
 *  belong to root or to the owner and must not be world-writable; /tmp passes, since its sticky bit lets only owners
 *  rename. */
export function requireSafePath(path: string): void {
  if (process.geteuid?.() !== 0) return
  const { uid } = ownerOf(path)
  for (let at = realpathSync(nearest(path)); ; at = dirname(at)) {
    if (!isSafe(lstatSync(at), uid)) {
      throw new CommandFailure(
        `${at} belongs to another user or is world-writable, so root cannot restore below it. Run this command as the owner of the data.`,
      )
    }
    if (at === '/') return
  }
}

const ROOT: Owner = { uid: 0, gid: 0 }
const WORLD_WRITABLE = 0o002
const STICKY = 0o1000

const isSafe = ({ uid, mode }: Stats, owner: number) =>
  (uid === 0 || uid === owner) && ((mode & WORLD_WRITABLE) === 0 || (mode & STICKY) !== 0)

/** If the process is root: switches to the user until the returned function is called. */
function actAs({ uid, gid }: Owner): () => void {
  const { getuid, geteuid, getegid, getgroups, seteuid, setegid, setgroups } = process
  if (!geteuid || !getegid || !getgroups || !seteuid || !setegid || !setgroups) return () => {} // no POSIX system
  if (getuid?.() !== 0 || geteuid() === uid) return () => {}
  const before = { uid: geteuid(), gid: getegid(), groups: getgroups() }
  seteuid(0) // only root can switch from one user to another
  setgroups([gid])
  setegid(gid)
  seteuid(uid)
  return () => {
    seteuid(0)
    setgroups(before.groups)
    setegid(before.gid)
    seteuid(before.uid)
  }
}

/** The path, or its nearest existing ancestor. */
function nearest(path: string): string {
  for (let at = resolve(path); ; at = dirname(at)) {
    if (at === '/' || statSync(at, { throwIfNoEntry: false }) !== undefined) return at
  }
}
