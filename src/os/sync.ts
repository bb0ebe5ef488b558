import { closeSync, fsyncSync, openSync } from 'node:fs'

/** Writes a file or a folder to disk (fsync). Throws file system errors. */
export function sync(path: string): void {
  const handle = openSync(path, 'r')
  try {
    fsyncSync(handle)
  } finally {
    closeSync(handle)
  }
}
