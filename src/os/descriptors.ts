import { readdirSync, readFileSync, statSync } from 'node:fs'

/** How many files and sockets this process may have open at once, and how many it has. */
export interface Descriptors {
  limit: number
  used(): number
}

const OWN = '/proc/self/fd'

/** The process's own, by RLIMIT_NOFILE (which Bun has raised as far as it may). Counting opens nothing where the kernel
 *  tells the number as the size of the folder (Linux 6.2); before that it takes a descriptor, and without one all are
 *  taken to be used. No limit, or no /proc: Infinity. */
export function systemDescriptors(): Descriptors {
  const limit = limitIn(limits())
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

/** The text of /proc/PID/limits → the soft limit of open files; Infinity when it names none. proc_pid_limits(5) */
export function limitIn(text: string): number {
  const soft = /^Max open files\s+(\d+)/m.exec(text)?.[1]
  return soft === undefined ? Number.POSITIVE_INFINITY : Number(soft)
}

function limits(): string {
  try {
    return readFileSync('/proc/self/limits', 'utf8')
  } catch {
    return ''
  }
}

/** How far they are used up: above seven eighths `short`, below three quarters `ample`. */
export type Supply = 'short' | 'scarce' | 'ample'

/** Tells the supply ten times a second, on a real timer, whatever clock the server has → what stops it. Where there is
 *  no limit nothing is told. It keeps no process alive. */
export function watchDescriptors({ limit, used }: Descriptors, tell: (supply: Supply) => void): () => void {
  if (limit === Number.POSITIVE_INFINITY) return () => {}
  const timer = setInterval(() => {
    const share = used() / limit
    tell(share > 7 / 8 ? 'short' : share < 3 / 4 ? 'ample' : 'scarce')
  }, EVERY_MS)
  timer.unref()
  return () => clearInterval(timer)
}

const EVERY_MS = 100
