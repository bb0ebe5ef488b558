import type { DueIndex } from '../due-index.ts'
import type { Encryption } from '../encryption.ts'
import type { Database, Work } from '../sql.ts'
import type { WebhookDeliveries } from '../store.ts'
import { fanOutNext } from './fan-out.ts'
import { insideMail, type MailInside } from './inside.ts'
import type { MailLane, Others } from './lane.ts'
import { POST_LEASES } from './leases.ts'
import type { PendingFanOuts } from './pending-fan-outs.ts'
import { claimPosts, type PostAnswer, type PostRecord, recordPosts } from './posts.ts'
import { mailQueue } from './queue.ts'
import { POST_WAITS } from './waits.ts'

/** The queue of deliveries to webhooks, what becomes of each, and the events that are still to be delivered. */
export function mailWebhookDeliveries(
  database: Pick<Database, 'read' | 'write'>,
  lane: MailLane,
  {
    others,
    dueIndex,
    webhooks,
    pending,
    encryption,
  }: {
    others: Others
    dueIndex: DueIndex
    webhooks: Pick<MailInside['webhooks'], 'get'>
    pending: PendingFanOuts
    encryption: Encryption
  },
): Omit<WebhookDeliveries, 'get' | 'list' | 'ofMessage' | 'retry' | 'replay'> {
  return {
    ...mailQueue({
      lane,
      reads: database,
      others,
      dueIndex,
      leases: POST_LEASES,
      waits: POST_WAITS,
      isActive: (id) => webhooks.get(id)?.status === 'active',
    }),
    claimDue: async (request) =>
      request.plan.length === 0 ? [] : lane.perform((inside) => claimPosts(inside, { dueIndex, encryption }, request)),
    record: (record) =>
      record.pauseReason === null ? lane.write(recordPosts, record) : database.write(() => pausing(record), 'settings'),
    fanOutSome: async () => {
      others.check()
      return fanOutNext(lane, pending)
    },
  }
}

/** Writes a result that pauses its webhook: a change of settings. */
function* pausing(record: PostRecord): Work<PostAnswer> {
  const [answer] = yield* recordPosts(yield* insideMail(), [record])
  return answer ?? 'lease_lost'
}
