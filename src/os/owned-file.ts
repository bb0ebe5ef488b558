import { closeSync, fchownSync, fsyncSync, openSync, renameSync, rmSync, statSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import { sync } from './sync.ts'

/** Writes a file of a folder, readable only by the folder's owner: complete or not at all, and synced to disk. The writer
 *  is often root and the folder belongs to another user: anything already at the temporary name is removed, never written
 *  to. Throws file system errors. */
export function writeAsOwner(folder: string, name: string, text: string): void {
  const file = join(folder, name)
  const draft = `${file}.new`
  const { uid, gid } = statSync(folder)
  rmSync(draft, { force: true })
  const handle = openSync(draft, 'wx', 0o600)
  try {
    writeSync(handle, text)
    fsyncSync(handle)
    if (process.getuid?.() === 0) fchownSync(handle, uid, gid)
  } finally {
    closeSync(handle)
  }
  renameSync(draft, file)
  sync(folder)
}
