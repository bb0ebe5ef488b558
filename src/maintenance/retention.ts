import { type Plan, UNLIMITED } from '../model/organization.ts'
import type { Clock } from '../os/clock.ts'
import type { Store } from '../storage/store.ts'
import type { Task } from './loop.ts'

/** Between passes: what is over goes at most so much later than its plan says. */
const PASS_EVERY_MS = 10 * 60_000
/** After the start, which has enough to do. */
const FIRST_PASS_MS = 60_000
/** After each step while there is other work: a twentieth of the time at most goes into removing. */
const PAUSE_MS = 50
/** A step aims at so much and, with the commit, must not hold the store for more than twice that. */
const STEP_MS = 3
const LONGEST_MS = 6
const DAY_MS = 86_400_000
/** Ours: people unsubscribe by the mail that lies before them, which may be two months old. */
const UNSUBSCRIBABLE_MS = 60 * DAY_MS
const PRUNE = 100

/** Plans → the task that removes what they no longer keep and gives the disk space back. A pass goes from organization
 *  to organization in steps of some milliseconds; while the server is busy it pauses after each, so that mail comes
 *  first and removing still keeps up; space is given back when it is not.
 *
 *  What a new plan does not keep goes with the next pass. An organization whose plan is no longer configured keeps
 *  everything: a name lost from a file must not cost anybody's mail. */
export function createRetention(deps: {
  store: Pick<Store, 'organizations' | 'retention'>
  plans: (name: string) => Pick<Plan, 'retentionDays'> | undefined
  isBusy: () => boolean
  clock: Pick<Clock, 'now'>
}): Task {
  const { retention, organizations } = deps.store
  const runSteps = createStepRunner(deps.clock)
  /** Of the pass under way. */
  let left: Expiring[] | null = null

  const begin = async (now: number): Promise<Expiring[]> =>
    (await organizations.list()).flatMap(({ id, plan }) => {
      const days = deps.plans(plan)?.retentionDays ?? UNLIMITED
      return days === UNLIMITED ? [] : [{ organizationId: id, before: now - days * DAY_MS }]
    })

  /** True while the pass has more to do. */
  const step = async (now: number, organization: Expiring | undefined): Promise<boolean> => {
    const unsubscribableSince = now - UNSUBSCRIBABLE_MS
    if (organization !== undefined) {
      const request = { ...organization, unsubscribableSince }
      if (!(await runSteps((timeIsUp) => retention.remove({ ...request, timeIsUp })))) left?.shift()
      return true
    }
    if ((await retention.pruneUnsubscribables(unsubscribableSince, PRUNE)) === PRUNE) return true
    // Space that is not given back now is used again.
    if (deps.isBusy()) return false
    if (await runSteps(retention.giveBack)) return true
    await retention.truncateLog()
    return false
  }

  return {
    name: 'retention',
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

/** Gives each step its time, which shrinks when what a step wrote took long to commit, and grows back. */
function createStepRunner(clock: Pick<Clock, 'now'>) {
  let givenMs = STEP_MS
  return async <T>(run: (timeIsUp: () => boolean) => Promise<T>): Promise<T> => {
    // Counts from when the store begins, since a step may wait for its turn.
    let beganAt: number | null = null
    const result = await run(() => {
      const now = clock.now()
      beganAt ??= now
      return now - beganAt >= givenMs
    })
    const tookMs = beganAt === null ? 0 : clock.now() - beganAt
    givenMs = tookMs > LONGEST_MS ? Math.max(1, givenMs / 2) : Math.min(STEP_MS, givenMs + 1)
    return result
  }
}
