import { INSTALLATION, INSTALLATION_KEPT_DAYS, type Plan, UNLIMITED } from '../../model/organization.ts'
import type { Clock } from '../../os/clock.ts'
import type { Store } from '../../storage/store.ts'
import type { Task } from './loop.ts'
import { createStepRunner } from './step-runner.ts'

/** Interval of passes: expired data is removed at most this much later than its plan says. */
const PASS_EVERY_MS = 10 * 60_000
/** After the start, which has enough other work. */
const FIRST_PASS_MS = 60_000
/** Pause after each step while there is other work, so that removal uses at most a twentieth of the time. */
const PAUSE_MS = 50
const DAY_MS = 86_400_000
/** Our choice: people unsubscribe from mail that may be two months old. */
const UNSUBSCRIBABLE_MS = 60 * DAY_MS
const PRUNE = 100

/** Plans → the task that removes data beyond their retention and returns the disk space. A pass visits each
 *  organization in steps of some milliseconds. While the server is busy, it pauses after each step, so that mail
 *  comes first and removal still keeps up; space is returned when the server is idle.
 *
 *  A plan change takes effect with the next pass. An organization whose plan is no longer configured keeps
 *  everything: a name missing from a file must not delete mail. */
export function createRetention(deps: {
  store: Pick<Store, 'organizations' | 'retention' | 'maintain'>
  plans: (name: string) => Pick<Plan, 'retentionDays'> | undefined
  isBusy: () => boolean
  clock: Pick<Clock, 'now'>
}): Task {
  const { store } = deps
  const { retention, organizations } = store
  const runSteps = createStepRunner(deps.clock)
  /** Remaining organizations of the current pass. */
  let left: Expiring[] | null = null

  const begin = async (now: number): Promise<Expiring[]> => [
    ...(await organizations.list()).flatMap(({ id, plan }) => {
      const days = deps.plans(plan)?.retentionDays ?? UNLIMITED
      return days === UNLIMITED ? [] : [{ organizationId: id, before: now - days * DAY_MS }]
    }),
    { organizationId: INSTALLATION, before: now - INSTALLATION_KEPT_DAYS * DAY_MS },
  ]

  /** Returns true while the pass has more to do. */
  const step = async (now: number, organization: Expiring | undefined): Promise<boolean> => {
    const unsubscribableSince = now - UNSUBSCRIBABLE_MS
    if (organization !== undefined) {
      const request = { ...organization, unsubscribableSince }
      if (!(await runSteps((timeIsUp) => retention.remove({ ...request, timeIsUp })))) left?.shift()
      return true
    }
    if ((await retention.pruneUnsubscribables(unsubscribableSince, PRUNE)) === PRUNE) return true
    // Space that is not returned now is reused.
    if (deps.isBusy()) return false
    return runSteps((timeIsUp) => store.maintain('removed', timeIsUp))
  }

  return {
    name: 'retention',
    of: 'installation',
    erases: true,
    everyMs: PASS_EVERY_MS,
    firstMs: FIRST_PASS_MS,
    run: async (now) => {
      left ??= await begin(now)
      if (await step(now, left[0])) return deps.isBusy() ? PAUSE_MS : true
      left = null
      return false
    },
  }
}

interface Expiring {
  organizationId: string
  before: number
}
