import { startProgram } from '../process.ts'

export interface Stalls {
  probes: number
  p50Ms: number
  p99Ms: number
  p999Ms: number
  worstMs: number
  over25: number
}

/** How long the main thread is away while `work` is done: a request that costs nothing, again and again from a process that
 *  does nothing else → its round trips. What is on top of the usual one somebody had to wait. */
export async function stallsDuring(http: string, work: () => Promise<unknown>): Promise<Stalls> {
  const probe = await startProgram('probe', http)
  const answer = probe.next()
  try {
    await work()
  } finally {
    probe.end()
  }
  return (await answer) as unknown as Stalls
}
