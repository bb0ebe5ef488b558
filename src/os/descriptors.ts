import { readdirSync, statSync } from 'node:fs'
import { fileText } from './file-text.ts'

/** The limit of open files and sockets of this process, and how many are open. */
export interface Descriptors {
  limit: number
  used(): number
}

const OWN = '/proc/self/fd'

/** Descriptors of this process, limited by RLIMIT_NOFILE (which Bun raises to the maximum). Counting opens nothing where the
 *  kernel reports the number as the size of the directory (Linux 6.2). Older kernels need a descriptor to count; without a
 *  free one, all count as used. Infinity without a limit or /proc. */
export function systemDescriptors(): Descriptors {
  const limit = limitIn(fileText('/proc/self/limits'))
  return {
    limit,
    used: () => {
      try {
        return statSync(OWN).size || readdirSync(OWN).length
      } catch {
        return limit
      }
    },
  }
}

/** Parses the soft limit of open files from /proc/PID/limits; Infinity if it names none. proc_pid_limits(5) */
export function limitIn(text: string): number {
  const soft = /^Max open files\s+(\d+)/m.exec(text)?.[1]
  return soft === undefined ? Number.POSITIVE_INFINITY : Number(soft)
}

/** Usage above seven eighths is `short`, below three quarters `ample`. */
export type Supply = 'short' | 'scarce' | 'ample'

/** Reports the supply ten times a second on a real timer, whatever clock the server uses. Reports nothing without a limit.
 *  Does not keep the process alive. Returns what stops it. */
export function watchDescriptors({ limit, used }: Descriptors, onSupply: (supply: Supply) => void): () => void {
  if (limit === Number.POSITIVE_INFINITY) return () => {}
  const timer = setInterval(() => {
    const share = used() / limit
    onSupply(share > 7 / 8 ? 'short' : share < 3 / 4 ? 'ample' : 'scarce')
  }, EVERY_MS)
  timer.unref()
  return () => clearInterval(timer)
}

const EVERY_MS = 100
