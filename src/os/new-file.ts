import { createWriteStream, openSync, type WriteStream } from 'node:fs'

/** Creates the file at once → a stream that writes to it and closes it. `createWriteStream` alone opens its file later: if
 *  the source fails first, the file appears during the cleanup. Throws file system errors; with `wx`, EEXIST if the file
 *  exists. */
export function writeNewFile(path: string, mode: number, flags: 'w' | 'wx' = 'w'): WriteStream {
  return createWriteStream('', { fd: openSync(path, flags, mode) })
}
