import { iso } from '../../model/event.ts'
import { systemClock } from '../../os/clock.ts'
import type { HeldQueue } from '../../storage/store.ts'
import { CommandFailure, usageFault } from '../failure.ts'
import { inOffice } from '../office.ts'
import { print, printJson } from '../print.ts'

interface Options {
  config: string
  all?: true
  posts?: true
  discard?: true
  dueAfter?: number
  json?: true
}

/** Decides what becomes of what a restore holds, beside the running server or without one; a server notices by itself. Without
 *  a word of what to do it tells what is held. */
export async function release(options: Options): Promise<void> {
  const { all, discard, posts, dueAfter } = options
  if ([all, discard, dueAfter].filter((word) => word !== undefined).length > 1) {
    throw usageFault('expected one of --all, --due-after and --discard')
  }
  const isDecided = all || discard || posts || dueAfter !== undefined
  await inOffice(options.config, async ({ store, operator }) => {
    const restored = await store.held.restored()
    if (restored === null) throw new CommandFailure('this data directory was not restored from a backup')
    const decided = { deliveries: 0, webhookDeliveries: 0, inboundDeliveries: 0 }
    const decide = async () => {
      for (const queue of posts ? POSTS : QUEUES) {
        decided[queue] = discard
          ? await store.held.discard(queue)
          : await store.held.release(queue, { dueAfter: dueAfter ?? null, now: systemClock.now() })
      }
    }
    const words = { all, posts, discard, due_after: dueAfter }
    if (isDecided) await operator.manage('restore_release', { organizationId: null, body: words }, decide)
    const left = await store.held.count()
    if (options.json) {
      return printJson({
        restored_at: iso(restored.restoredAt),
        made_at: iso(restored.madeAt),
        [discard ? 'discarded' : 'released']: onWire(decided),
        held: onWire(left),
      })
    }
    if (isDecided) print(`${discard ? 'Discarded' : 'Released'}: ${told(decided)}.`)
    print(`Held of the backup of ${iso(restored.madeAt)}: ${told(left)}.`)
  })
}

const POSTS: readonly HeldQueue[] = ['webhookDeliveries', 'inboundDeliveries']
export const QUEUES: readonly HeldQueue[] = ['deliveries', ...POSTS]

type Counts = Record<HeldQueue, number>

const onWire = (counts: Counts) => ({
  deliveries: counts.deliveries,
  webhook_deliveries: counts.webhookDeliveries,
  inbound_deliveries: counts.inboundDeliveries,
})

const told = (counts: Counts) =>
  `${counts.deliveries} deliveries, ${counts.webhookDeliveries} webhook posts, ${counts.inboundDeliveries} inbound posts`
