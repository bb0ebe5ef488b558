import { dayOf, monthOf, USAGE_KEPT_MS } from '../../model/limits.ts'
import type { UsageCounts } from '../store.ts'
import type { Reading } from './reading.ts'
import type { StoredBytes } from './stored-bytes.ts'
import type { Usage } from './usage.ts'
import type { Writer } from './writer.ts'

export function sqliteUsage(writer: Writer, reading: Reading, usage: Usage, storedBytes: StoredBytes): UsageCounts {
  return {
    of: async (organizationId, now) => ({
      storedBytes: storedBytes.used(organizationId),
      testMessages: usage.used(organizationId, 'test_messages', monthOf(now)),
      forwards: usage.used(organizationId, 'forwards', dayOf(now)),
      scheduledMessages: usage.used(organizationId, 'scheduled_messages'),
      suppressions: usage.used(organizationId, 'suppressions'),
    }),
    isStorageFull: async (organizationId) => {
      reading.begin()
      return storedBytes.isFull(organizationId, usage.planOf(organizationId))
    },
    forwardsReached: async (organizationId, recipients, now) => {
      reading.begin()
      return usage.forwardsReached(organizationId, recipients, now)
    },
    beginCount: () => writer.write(storedBytes.beginCount),
    countSome: () => writer.write(storedBytes.countSome),
    prune: (now, limit) =>
      writer.write(() => {
        const before = dayOf(now - USAGE_KEPT_MS)
        const forwards = usage.prune('forwards', before, limit)
        return forwards + usage.prune('confirmation_mails', before, limit - forwards)
      }),
  }
}
