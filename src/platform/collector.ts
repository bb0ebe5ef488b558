/** What large bodies took is free for the next only when it has been collected, and the runtime is in no hurry: it lets
 *  half a gigabyte pile up while twenty mails of 25 MB come in. So it is told, once for so many bytes that were let go of:
 *  30 ms for each 48 MiB, in a later turn, when nothing holds them any more. Taking the bytes away instead (ArrayBuffer.transfer) would be at once, but whoever still used
 *  them in native code would read freed memory. */
export function createCollector(everyBytes: number): (bytes: number) => void {
  let looseBytes = 0
  return (bytes) => {
    looseBytes += bytes
    if (looseBytes < everyBytes) return
    looseBytes = 0
    setImmediate(() => Bun.gc(true))
  }
}
