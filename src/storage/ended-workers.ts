import type { Store } from './store.ts'

const NOTHING: ReadonlySet<string> = new Set()

/** Makes due what processes that ended were working on. `workerId`: of the calling process. `now`: ms UTC. Rejects with
 *  what the store throws. */
export async function endLeasesOfEndedWorkers(store: Store, workerId: string, now: number): Promise<void> {
  for (const worker of await store.workers.ended(workerId)) {
    for (const queue of [store.deliveries, store.webhookDeliveries, store.inboundDeliveries]) {
      await queue.endLeases(worker, NOTHING, now)
    }
  }
}
