import type { CommitListener } from '../commit-reports.ts'
import type { DueIndex } from '../due-index.ts'
import { writeEach } from '../mail/each.ts'
import { MailGroup, type OwnInside } from '../mail/group.ts'
import type { PendingFanOuts } from '../mail/pending-fan-outs.ts'
import type { QueueName } from '../mail/queue-tables.ts'
import { removalOf } from '../mail/remove-messages.ts'
import { UsageSums } from '../mail/usage-sums.ts'
import type { Numbers } from './numbers.ts'
import type { Offer } from './wake-ups.ts'

/** What a step removes, it removes with few statements; another process does the work. */
const PACE = { slice: 100, together: 100, bytes: 8 * 1024 * 1024, parts: 16, posts: 1000 }
const REMOVE_WORDS = removalOf('message_words', 'message_number')

/** What all groups of a node share. */
export interface Shared extends Pick<OwnInside, 'webhooks' | 'routes' | 'words' | 'kinds' | 'planOf' | 'writtenAhead'> {
  numbers: Numbers
  due: Record<QueueName, DueIndex>
  /** Organizations with webhook deliveries to write. */
  pendingFanOuts: PendingFanOuts
  /** Keys that have something due were committed, for the other nodes. */
  offered: (offers: readonly Offer[]) => void
  listener: CommitListener | undefined
}

/** What works on mail use on a lane of a node. What it makes due is on the due indexes after the commit. */
export class NodeGroup extends MailGroup {
  readonly #shared: Shared
  readonly #offers: Map<string, Offer>
  readonly #paused: Set<string>

  constructor(shared: Shared, laneId: number) {
    const { numbers, webhooks, routes, words, kinds, planOf, writtenAhead } = shared
    const offers = new Map<string, Offer>()
    const paused = new Set<string>()
    const sums = new UsageSums()
    const own: OwnInside = {
      next: () => numbers.next(),
      stored: (_source, _place, organizationId, bytes) =>
        sums.add({ organizationId, counter: 'stored_bytes', period: '' }, bytes),
      planOf,
      writer: () => laneId,
      webhooks: {
        get: webhooks.get,
        activeOf: (organizationId) => {
          const active = webhooks.activeOf(organizationId)
          return paused.size === 0 ? active : active.filter(({ id }) => !paused.has(id))
        },
      },
      routes,
      pausing: (webhookId) => paused.add(webhookId),
      kinds,
      words,
      outdated: (messages) => writeEach(REMOVE_WORDS, messages),
      pace: PACE,
      offer: (...offer) => {
        const [queue, key, at] = offer
        const id = `${queue} ${key}`
        const known = offers.get(id)
        if (known === undefined || at < known[2]) offers.set(id, offer)
      },
      writtenAhead,
      writing: () => {},
    }
    super(own, { sums, pending: shared.pendingFanOuts, listener: shared.listener })
    this.#shared = shared
    this.#offers = offers
    this.#paused = paused
  }

  override begin(): void {
    super.begin()
    this.#offers.clear()
    this.#paused.clear()
  }

  override committed(ms: number): void {
    const { due, offered } = this.#shared
    for (const [queue, key, at] of this.#offers.values()) due[queue].offer(key, at)
    super.committed(ms)
    if (this.#offers.size > 0) offered([...this.#offers.values()])
  }
}
