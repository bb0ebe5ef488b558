import { type DueIndex, mayStart } from '../due-index.ts'
import type { Database } from '../sql.ts'
import type { ClaimQueue, Look } from '../store.ts'
import type { MailLane, Others } from './lane.ts'
import { endLeases, type LeaseStatements, releaseAll } from './leases.ts'
import { BEFORE_ALL, endWaits, type FutureWaits, waitsAfter } from './waits.ts'

/** A queue of mail, as the scheduler uses it. */
export function mailQueue({
  lane,
  reads,
  others,
  dueIndex,
  leases,
  waits,
  isActive = () => true,
}: {
  lane: MailLane
  reads: Pick<Database, 'read'>
  others: Others
  dueIndex: DueIndex
  leases: LeaseStatements
  waits: FutureWaits
  /** Whether anything of the key may be claimed now; everything may by default. */
  isActive?: (key: string) => boolean
}): Omit<ClaimQueue<unknown>, 'claimDue'> {
  const ifActive =
    (look: Look): Look =>
    (key, dueAt) =>
      isActive(key) && look(key, dueAt)
  let looked = BEFORE_ALL
  return {
    nextDueAt: async (look, now) => {
      others.check()
      return dueIndex.nextAt(mayStart(ifActive(look)), now)
    },
    planClaims: (request) =>
      lane.before(() => {
        others.check()
        return dueIndex.plan({ ...request, look: ifActive(request.look) })
      }),
    putBack: async (plan) => dueIndex.putBack(plan),
    freed: async (blockers) => {
      for (const blocker of blockers) dueIndex.freed(blocker)
    },
    release: (claims, dueAt) => lane.perform((inside) => releaseAll(inside, leases, claims, dueAt)),
    endLeases: (worker, underWay, now) =>
      lane.perform((inside) => endLeases(inside, leases, { worker, underWay, now })),
    endFutureWaits: async (now) => {
      const from = looked
      const { numbers, next } = await reads.read(() => waitsAfter(waits, from, now))
      if (numbers.length > 0) await lane.perform((inside) => endWaits(inside, waits, numbers, now))
      looked = next ?? BEFORE_ALL
      return next !== null
    },
  }
}
