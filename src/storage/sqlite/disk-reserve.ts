import { statfsSync } from 'node:fs'
import { StoreUnavailable } from '../store.ts'

/** Interval of disk checks, short enough that a burst cannot use up the reserve meanwhile. */
const LOOK_MS = 250
/** Maximum reserve as a fraction of a small disk. */
const MOST_OF_DISK = 0.1

/** Disk space that new mail must leave free. The reserve is for work in progress: results, events, and the removal
 *  of old mail, since SQLite cannot delete on a full disk. */
export interface DiskReserve {
  /** Throws StoreUnavailable while less than the reserve is free. */
  require(): void
}

/** Folder and reserve in bytes, at most a tenth of its disk → DiskReserve. 0: no check. */
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
      if (isShort) throw new StoreUnavailable('free disk space is below storage.min_free_bytes', { isFull: true })
    },
  }
}
