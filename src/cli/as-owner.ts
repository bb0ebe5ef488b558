import { lstatSync, readdirSync, realpathSync, rmdirSync, rmSync, type Stats, statSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { CommandFailure } from './failure.ts'

/** Root at work on a folder of another user: that user can exchange every name in it for a link at any moment, so root must
 *  not follow names there, nor give away or remove what they lead to. */

export interface Owner {
  uid: number
  gid: number
}

/** Whom what is made at `path` belongs to: the owner of the folder, or of the nearest one above that is there. */
export function ownerOf(path: string): Owner {
  const { uid, gid } = statSync(nearest(path))
  return { uid, gid }
}

/** Does `work` with the rights of the owner of `path` where root asks, with its own otherwise; root has its own back
 *  afterwards. The whole process acts as that user meanwhile, its threads too. */
export async function asOwnerOf<T>(path: string, work: () => Promise<T>): Promise<T> {
  const back = actAs(ownerOf(path))
  try {
    return await work()
  } finally {
    back()
  }
}

/** Removes a folder of ours in which folders of another user may lie: those are emptied with that user's rights. Nothing
 *  where it is not there. */
export function removeWithForeign(folder: string): void {
  actAs(ROOT) // after a signal, perhaps in the middle of asOwnerOf; does nothing for who never was root
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

/** Throws CommandFailure where root is to work at `path` and a third user could exchange a folder on the way to it: each one
 *  above must belong to root or to the owner, and nobody else may put names into it; /tmp passes, since only owners
 *  rename there. */
export function requireSafeWay(path: string): void {
  if (process.geteuid?.() !== 0) return
  const { uid } = ownerOf(path)
  for (let at = realpathSync(nearest(path)); ; at = dirname(at)) {
    if (!isSafe(lstatSync(at), uid)) {
      throw new CommandFailure(
        `${at} belongs to another user or can be written by everybody: root does not restore below it; run this as the user whom the data belongs to`,
      )
    }
    if (at === '/') return
  }
}

const ROOT: Owner = { uid: 0, gid: 0 }
const EVERYBODY_WRITES = 0o002
const STICKY = 0o1000

const isSafe = ({ uid, mode }: Stats, owner: number) =>
  (uid === 0 || uid === owner) && ((mode & EVERYBODY_WRITES) === 0 || (mode & STICKY) !== 0)

/** Where the process is root's: acts as the user until what is answered is called. */
function actAs({ uid, gid }: Owner): () => void {
  const { getuid, geteuid, getegid, getgroups, seteuid, setegid, setgroups } = process
  if (getuid?.() !== 0 || geteuid?.() === uid) return () => {}
  const before = { uid: geteuid!(), gid: getegid!(), groups: getgroups!() }
  seteuid!(0) // from one foreign user to another only root gets
  setgroups!([gid])
  setegid!(gid)
  seteuid!(uid)
  return () => {
    seteuid!(0)
    setgroups!(before.groups)
    setegid!(before.gid)
    seteuid!(before.uid)
  }
}

/** The path, or the nearest one above that is there. */
function nearest(path: string): string {
  for (let at = resolve(path); ; at = dirname(at)) {
    if (at === '/' || statSync(at, { throwIfNoEntry: false }) !== undefined) return at
  }
}
