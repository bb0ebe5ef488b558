import { FFIType } from 'bun:ffi'
import { openLibc } from './libc.ts'

/** Gives the thread that calls a lower priority, for work that must not take the processor from the main thread: what tenants
 *  write is read and rendered as fast as the machine is idle. 0 = as others, 19 = the lowest. On Linux it is a matter of each
 *  thread (setpriority(2), C library/kernel differences). Does nothing where the system does not let it; never throws. */
export function lowerThreadPriority(nice: number): void {
  try {
    const libc = openLibc({ setpriority: { args: [FFIType.i32, FFIType.u32, FFIType.i32], returns: FFIType.i32 } })
    libc.symbols.setpriority(PRIO_PROCESS, THIS_THREAD, nice)
    libc.close()
  } catch {}
}

const PRIO_PROCESS = 0
const THIS_THREAD = 0

/** Of the threads that work on content of tenants for a request: a fifth of the share of others when all want to work
 *  (sched(7), weights of nice values). */
export const CONTENT_NICE = 7
