/** How long a property is tried: short and always the same, so that the suite is quick and does not waver; with FUZZ=n
 *  n times as long, and each time another way. What such a run finds becomes a fixed case beside the property. */
export function runs(numRuns: number, seed: number): { numRuns: number; seed?: number } {
  const times = Number(process.env.FUZZ ?? 0)
  return times > 0 ? { numRuns: numRuns * times } : { numRuns, seed }
}

/** For a test that runs properties. */
export const LIMIT_MS = 600_000
