/** What large bodies took is free for the next only when it has been collected, and the runtime is in no hurry: it lets
 *  half a gigabyte pile up while twenty mails of 25 MB come in. So it is told, once for so many bytes that were let go of,
 *  in a later turn, when nothing holds them any more. `at_once` holds the thread for 30 to 100 ms each time; `beside` marks on
 *  other threads and stops nobody for long, but what comes in meanwhile adds to it: 433 MB where it was 401 with mails, and
 *  512 where it was 297 with request bodies, which are several times as large in memory.
 *  Taking the bytes away instead (ArrayBuffer.transfer) would be at once too, but whoever still used them in native code
 *  would read freed memory. */
export function createCollector(everyBytes: number, how: 'at_once' | 'beside' = 'at_once'): (bytes: number) => void {
  let looseBytes = 0
  return (bytes) => {
    looseBytes += bytes
    if (looseBytes < everyBytes) return
    looseBytes = 0
    setImmediate(() => Bun.gc(how === 'at_once'))
  }
}
