import type { Log } from '../../os/log.ts'
import { type CheckResult, type CheckStatus, hasNoFailure } from './check.ts'

/** Results of a run at some time (ms UTC). */
export interface Health {
  checkedAt: number
  hasNoFailure: boolean
  checks: readonly CheckResult[]
}

/** Health checks of a running server: the last results, and a run on demand. A restart discards results. */
export interface HealthWatch {
  /** Null before the first run has ended. */
  latest(): Health | null
  /** Runs the checks; callers during a run share its result. Rejects only with what `run` throws. */
  look(): Promise<Health>
}

/** Creates a HealthWatch. A check that got worse is logged as a warning with its advice, and one that improved as
 *  info. */
export function createHealthWatch(options: {
  run: () => Promise<readonly CheckResult[]>
  now: () => number
  log: Log
}): HealthWatch {
  const { run, now, log } = options
  let latest: Health | null = null
  let underWay: Promise<Health> | null = null

  const logChanges = (before: readonly CheckResult[], after: readonly CheckResult[]) => {
    const rankOf = (name: string) => RANK[before.find((check) => check.name === name)?.status ?? 'pass']
    for (const { name, status, message, advice } of after) {
      if (RANK[status] > rankOf(name))
        log.warn('health check got worse', { check: name, status, found: message, advice })
      if (RANK[status] < rankOf(name)) log.info('health check improved', { check: name, status, found: message })
    }
  }
  const look = async (): Promise<Health> => {
    const checks = await run()
    logChanges(latest?.checks ?? [], checks)
    latest = { checkedAt: now(), hasNoFailure: hasNoFailure(checks), checks }
    return latest
  }
  return {
    latest: () => latest,
    look: () => {
      underWay ??= look().finally(() => {
        underWay = null
      })
      return underWay
    },
  }
}

const RANK: Record<CheckStatus, number> = { pass: 0, skip: 0, warn: 1, fail: 2 }
