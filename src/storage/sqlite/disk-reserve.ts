import { statfsSync } from 'node:fs'
import { StoreUnavailable } from '../store.ts'

/** The disk is looked at once in so long: a burst cannot eat the reserve meanwhile. */
const LOOK_MS = 250
/** The reserve of a small disk. */
const MOST_OF_DISK = 0.1

/** DiskReserve on the disk for new mail. What is kept free is for the work under way: outcomes, events, and what removes old
 *  mail, since SQLite can remove nothing on a full disk. */
export interface DiskReserve {
  /** Throws StoreUnavailable while less is free than is to be kept. */
  require(): void
}

/** A folder and the bytes to keep free on its disk, at most a tenth of it → its DiskReserve. 0: no look is taken. */
export function createDiskReserve(folder: string, minFreeBytes: number): DiskReserve {
  let lookedAt = Number.NEGATIVE_INFINITY
  let isShort = false
  return {
    require: () => {
      if (minFreeBytes === 0) return
      const now = performance.now()
      if (now - lookedAt >= LOOK_MS) {
        lookedAt = now
        const { bavail, blocks, bsize } = statfsSync(folder)
        isShort = bavail * bsize < Math.min(minFreeBytes, blocks * bsize * MOST_OF_DISK)
      }
      if (isShort) throw new StoreUnavailable('less of the disk is free than storage.min_free_bytes', { isFull: true })
    },
  }
}
