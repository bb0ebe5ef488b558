import { createWriteStream, openSync, type WriteStream } from 'node:fs'

/** A stream into the file, which is created at once. (A stream that opens its file itself does so later: if its source fails
 *  first, the file appears after whoever cleans up has looked.) Throws file system errors; with `flags` `wx` EEXIST too. */
export function writeNewFile(path: string, mode: number, flags: 'w' | 'wx' = 'w'): WriteStream {
  return createWriteStream('', { fd: openSync(path, flags, mode) })
}
