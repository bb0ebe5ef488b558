import { PENDING } from '../mail/fan-out.ts'
import type { PendingFanOuts } from '../mail/pending-fan-outs.ts'
import type { ClaimQueue } from '../store.ts'
import type { Reads } from './reads.ts'
import type { postgresWorkers } from './workers.ts'

/** Contents that connections were writing that ended meanwhile. */
const GIVE_UP = `update large_contents c set kind = 'gone' from lanes l
  where c.kind = 'coming' and l.id = c.writer and l.ended_at is not null`

const NONE: ReadonlySet<string> = new Set()

/** What nodes that ended were working on is due again, or is given up. `clock`: ms UTC. */
export async function takeOver(
  reads: Reads,
  {
    workers,
    queues,
    pending,
    clock,
  }: {
    workers: ReturnType<typeof postgresWorkers>
    queues: readonly Pick<ClaimQueue<unknown>, 'endLeases'>[]
    pending: PendingFanOuts
    clock: () => number
  },
): Promise<void> {
  for (const worker of await workers.endedNodes())
    for (const queue of queues) await queue.endLeases(worker, NONE, clock())
  await resume(reads, pending)
}

/** Reads which organizations have webhook deliveries to write, and gives up contents of nodes that ended. */
export async function resume(reads: Reads, pending: PendingFanOuts): Promise<void> {
  const waiting = await reads.query<{ id: string }>(PENDING.text)
  for (const { id } of waiting) if (!pending.has(id)) pending.queued(id)
  await reads.query(GIVE_UP)
}
