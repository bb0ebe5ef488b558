import { lstatSync, readdirSync, realpathSync, rmdirSync, rmSync, type Stats, statSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { CommandFailure } from './failure.ts'

/** File operations by root in a folder of another user. That user can replace any path in it with a symbolic link at
 *  any time, so root must not follow, chown or delete paths there. */

/** User and group of a file. */
export interface Owner {
  uid: number
  gid: number
}

/** Owner for files created at `path`: that of the folder, or of its nearest existing parent. Throws
 *  file system errors. */
export function ownerOf(path: string): Owner {
  const { uid, gid } = statSync(nearest(path))
  return { uid, gid }
}

/** Runs `work` with the effective rights of the owner of `path` if the process is root, then restores root. Changes the
 *  whole process with all its threads. Returns or throws what `work` does. */
export async function asOwnerOf<T>(path: string, work: () => Promise<T>): Promise<T> {
  const back = actAs(ownerOf(path))
  try {
    return await work()
  } finally {
    back()
  }
}

/** Removes a folder of this process. Root empties a folder of another user inside it with that user's rights. Does
 *  nothing if the folder does not exist. Throws file system errors. */
export function removeWithForeign(folder: string): void {
  actAs(ROOT) // a signal may have interrupted asOwnerOf; no effect if the process never was root
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

/** Throws CommandFailure if root works at `path` and a third user could replace a parent folder. Each parent must
 *  belong to root or to the owner and must not be world-writable. /tmp is allowed: with its sticky bit only
 *  owners can rename. */
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

/** If the process is root: changes the effective user and groups to those of a user, until the caller calls the
 *  returned function. */
function actAs({ uid, gid }: Owner): () => void {
  const { getuid, geteuid, getegid, getgroups, seteuid, setegid, setgroups } = process
  if (!geteuid || !getegid || !getgroups || !seteuid || !setegid || !setgroups) return () => {} // not a POSIX system
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
