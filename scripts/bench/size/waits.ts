import { readFileSync, readlinkSync } from 'node:fs'
import { basename } from 'node:path'

/** Of x86-64 (man 2 syscall); on others they are printed as numbers. */
const CALLS: Record<number, string> = {
  0: 'read',
  1: 'write',
  17: 'read',
  18: 'write',
  20: 'write',
  74: 'fsync',
  75: 'fsync',
  76: 'truncate',
  77: 'truncate',
  202: 'a lock',
}
/** Causes outside the process. */
export const NO_CORE = 'no core'
export const STANDSTILL = 'standstill of the machine'
const OF_FILES = new Set(['read', 'write', 'fsync', 'truncate'])

/** Inspects the main thread of a process, of the same user, every `everyMs` during a wait → its most frequent state:
 *  a call with the name of its file (an `fsync of postrider.db` is a checkpoint, one of `postrider.db-wal` a
 *  commit), or `computing`; NO_CORE when it was runnable but other processes had the cores, and STANDSTILL when this
 *  process did not run either. */
export function watchWaits(pid: number, everyMs: number) {
  let seen = new Map<string, number>()
  let delayedAt = 0
  let timer: Timer | null = null
  const look = () => {
    const what = waitOf(pid)
    seen.set(what, (seen.get(what) ?? 0) + 1)
  }
  return {
    begin: () => {
      seen = new Map()
      delayedAt = coreDelayMs(pid)
      timer = setInterval(look, everyMs)
    },
    /** After a wait of this many ms → its cause. */
    end: (waitedMs: number): string => {
      clearInterval(timer!)
      if (coreDelayMs(pid) - delayedAt > waitedMs / 2) return NO_CORE
      const looks = [...seen.values()].reduce((sum, times) => sum + times, 0)
      if (looks < waitedMs / everyMs / 2) return STANDSTILL
      return [...seen].sort(([, a], [, b]) => b - a)[0]![0]
    },
    cancel: () => clearInterval(timer!),
  }
}

function waitOf(pid: number): string {
  const [call, file] = readFileSync(`/proc/${pid}/syscall`, 'utf8').split(' ')
  if (call === 'running\n') return 'computing'
  const name = CALLS[Number(call)] ?? `call ${call}`
  if (!OF_FILES.has(name)) return name
  try {
    return `${name} of ${basename(readlinkSync(`/proc/${pid}/fd/${Number(file)}`)).replace(/\[\d+\]/, '')}`
  } catch {
    return name // closed meanwhile
  }
}

/** How long the main thread was runnable without a core, since its start (proc(5), schedstat). */
function coreDelayMs(pid: number): number {
  return Number(readFileSync(`/proc/${pid}/task/${pid}/schedstat`, 'utf8').split(' ')[1]) / 1e6
}
