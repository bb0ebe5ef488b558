import type { Config } from '../../config/load.ts'
import { systemClock } from '../../os/clock.ts'
import { messageOf } from '../../os/thrown.ts'
import { requireReady } from '../healthcheck.ts'
import { hasEnded, readServing } from '../serving.ts'

const LOOK_MS = 250
const ANSWER_MS = 5_000

/** Whether a server of this version runs and is ready, and if not, why. */
export async function readiness(config: Config, version: string): Promise<string | null> {
  const serving = readServing(config.dataDir)
  if (serving === null || hasEnded(config.dataDir)) return 'no server is ready'
  if (serving.version !== version) return `version ${serving.version} runs`
  const { http, https } = serving.listeners
  // It says so itself when all listeners accept; without HTTP there is nothing to ask.
  if (!http && !https) return null
  return requireReady(config, ANSWER_MS).then(
    () => null,
    (error: unknown) => messageOf(error),
  )
}

/** Waits until a server of this version is ready → null; or `limitMs` after `since` on the steady clock, the reason. */
export async function untilReady(
  config: Config,
  version: string,
  { since, limitMs }: { since: number; limitMs: number },
): Promise<string | null> {
  for (const endsAt = since + limitMs; ; await systemClock.sleep(LOOK_MS)) {
    const reason = await readiness(config, version)
    if (reason === null) return null
    if (systemClock.steady.now() >= endsAt) return `not ready after ${Math.round(limitMs / 1000)} s: ${reason}`
  }
}
