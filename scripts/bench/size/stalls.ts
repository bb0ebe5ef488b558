import { startProgram } from '../process.ts'
import type { Server } from './server.ts'
import { NO_CORE, STANDSTILL } from './waits.ts'

export interface Stalls {
  probes: number
  p50Ms: number
  p99Ms: number
  p999Ms: number
  worstMs: number
  /** Stalls over 25 ms: how often, and the longest, by what the main thread was doing (waits.ts). */
  causes: Record<string, { times: number; worstMs: number }>
}

/** How long the main thread is blocked during `work`: cheap requests, repeatedly, from a process that does nothing
 *  else → their round trips. A client would have waited for anything above the usual one. */
export async function stallsDuring({ http, pid }: Server, work: () => Promise<unknown>): Promise<Stalls> {
  const probe = await startProgram('probe', http, String(pid))
  const answer = probe.next()
  try {
    await work()
  } finally {
    probe.end()
  }
  return (await answer) as unknown as Stalls
}

/** Stalls over 25 ms that the machine did not cause. */
export function ownStalls({ causes }: Stalls): Stalls['causes'] {
  return Object.fromEntries(Object.entries(causes).filter(([cause]) => cause !== NO_CORE && cause !== STANDSTILL))
}
