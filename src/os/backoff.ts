import type { Random } from './random.ts'

/** Retry schedule and jitter → wait before the next attempt. `attempt` 1 = the first attempt has just failed; past
 *  the end the last step repeats. Jitter 0.1 spreads a wait over ±10 %, so that a thousand failures of one second do
 *  not return in one second. An empty schedule gives 0. */
export function backoffMs(scheduleSeconds: readonly number[], attempt: number, jitter: number, random: Random): number {
  const seconds = scheduleSeconds[Math.min(attempt, scheduleSeconds.length) - 1] ?? 0
  return Math.round(seconds * 1000 * (1 + jitter * (2 * random.fraction() - 1)))
}
