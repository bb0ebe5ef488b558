import { FFIType } from 'bun:ffi'
import { openLibc } from './libc.ts'

/** Lowers the priority of the calling thread, for work that must not take CPU from the main thread: tenant content
 *  is parsed and rendered only as fast as the machine is idle. 0 = normal, 19 = lowest. On Linux the priority
 *  belongs to the thread (setpriority(2), C library/kernel differences). Does nothing if the system refuses. Never
 *  throws. */
export function lowerThreadPriority(nice: number): void {
  try {
    const libc = openLibc({ setpriority: { args: [FFIType.i32, FFIType.u32, FFIType.i32], returns: FFIType.i32 } })
    libc.symbols.setpriority(PRIO_PROCESS, THIS_THREAD, nice)
    libc.close()
  } catch {}
}

const PRIO_PROCESS = 0
const THIS_THREAD = 0

/** Priority of threads that process tenant content for a request: a fifth of the share of other threads when all are
 *  busy (sched(7), weights of nice values). */
export const CONTENT_NICE = 7
