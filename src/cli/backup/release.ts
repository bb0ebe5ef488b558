import { iso } from '../../model/event.ts'
import { type HeldCounts, heldText } from '../../model/held.ts'
import { systemClock } from '../../os/clock.ts'
import type { QueueName } from '../../storage/store.ts'
import { withCliContext } from '../cli-context.ts'
import { CommandFailure, usageFault } from '../failure.ts'
import { print, printJson } from '../print.ts'

interface Options {
  config: string
  all?: true
  posts?: true
  discard?: true
  dueAfter?: number
  json?: true
}

/** Releases or discards mail that a restore put on hold, and prints how much stays on hold. Works whether or not the
 *  server runs; a running server notices the change. Without options it only prints the counts. Throws CommandFailure
 *  for options that exclude each other, or if the data directory was not restored from a backup. */
export async function release(options: Options): Promise<void> {
  const { all, discard, posts, dueAfter } = options
  if ([all, discard, dueAfter].filter((choice) => choice !== undefined).length > 1) {
    throw usageFault('Use only one of --all, --due-after and --discard.')
  }
  const isDecided = all || discard || posts || dueAfter !== undefined
  await withCliContext(options.config, async ({ store, operator }) => {
    const restored = await store.held.restored()
    if (restored === null) throw new CommandFailure('This data directory was not restored from a backup.')
    const decided = { deliveries: 0, webhookDeliveries: 0, inboundDeliveries: 0 }
    const decide = async () => {
      for (const queue of posts ? POSTS : QUEUES) {
        const now = systemClock.now()
        decided[queue] = discard
          ? await store.held.discard(queue, now)
          : await store.held.release(queue, { dueAfter: dueAfter ?? null, now })
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
    if (isDecided) print(`${discard ? 'Discarded' : 'Released'}: ${heldText(decided)}.`)
    print(`On hold from the backup of ${iso(restored.madeAt)}: ${heldText(left)}.`)
  })
}

const POSTS: readonly QueueName[] = ['webhookDeliveries', 'inboundDeliveries']
export const QUEUES: readonly QueueName[] = ['deliveries', ...POSTS]

/** Counts → their JSON. */
export const onWire = (counts: HeldCounts) => ({
  deliveries: counts.deliveries,
  webhook_deliveries: counts.webhookDeliveries,
  inbound_deliveries: counts.inboundDeliveries,
})
