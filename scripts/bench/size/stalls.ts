import { startProgram } from '../process.ts'
import type { Server } from './server.ts'
import { NO_CORE, STANDSTILL } from './waits.ts'

export interface Stalls {
  probes: number
  p50Ms: number
  p99Ms: number
  p999Ms: number
  worstMs: number
  /** Those over 25 ms: how often, and the longest, by what the main thread was at (waits.ts). */
  causes: Record<string, { times: number; worstMs: number }>
}

/** How long the main thread is away while `work` is done: a request that costs nothing, again and again from a process that
 *  does nothing else → its round trips. What is on top of the usual one somebody had to wait. */
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

/** Those over 25 ms for which the machine is not to blame. */
export function ownStalls({ causes }: Stalls): Stalls['causes'] {
  return Object.fromEntries(Object.entries(causes).filter(([cause]) => cause !== NO_CORE && cause !== STANDSTILL))
}
