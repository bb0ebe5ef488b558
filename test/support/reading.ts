import { systemClock } from '../../src/os/clock.ts'
import { silentLog } from '../../src/os/log.ts'
import { openReadingThread } from '../../src/server/reading-thread.ts'
import type { ReadingThread } from '../../src/storage/sqlite/reader.ts'

/** Data directory → the thread for its lists and searches, as the server has it. */
export function startReading(dataDir: string): ReadingThread {
  const pools = { add: () => {}, onEvent: () => {} }
  return openReadingThread({ dataDir }, { clock: systemClock, pools, log: silentLog })
}
