/** Returns a function to call with the size of each large buffer that was released. After `everyBytes` in total it runs the
 *  garbage collector, in a later turn of the event loop, when nothing refers to the buffers any more.
 *
 *  Without it the runtime lets half a gigabyte accumulate while twenty messages of 25 MB arrive. `at_once` blocks the
 *  thread for 30 to 100 ms. `beside` marks on other threads and hardly blocks, but memory grows meanwhile: 433 MB instead
 *  of 401 with messages, and 512 MB instead of 297 with request bodies, which take several times their size.
 *  Rejected: detaching the bytes (ArrayBuffer.transfer). It frees them at once, but native code that still used them would
 *  read freed memory. */
export function createGcTrigger(everyBytes: number, how: 'at_once' | 'beside' = 'at_once'): (bytes: number) => void {
  let looseBytes = 0
  return (bytes) => {
    looseBytes += bytes
    if (looseBytes < everyBytes) return
    looseBytes = 0
    setImmediate(() => Bun.gc(how === 'at_once'))
  }
}
