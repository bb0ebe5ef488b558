import { dayOf, monthOf, USAGE_KEPT_MS } from '../../model/limits.ts'
import { UNLIMITED } from '../../model/organization.ts'
import type { UsageCounts } from '../store.ts'
import { countScheduled } from './accept.ts'
import type { Reads } from './reads.ts'
import type { StorageCount } from './stored-bytes.ts'
import type { Counted, Usage } from './usage.ts'
import type { Writer } from './writer.ts'

const PRUNE = `delete from usage where ctid = any(array(select ctid from usage
  where name = $1 and period < $2 and period <> '' order by period limit $3))`

export function postgresUsage(
  reads: Reads,
  writer: Writer,
  { usage, count }: { usage: Usage; count: StorageCount },
): UsageCounts {
  return {
    of: async (organizationId, now) => {
      const counted = {
        storedBytes: { organizationId, counter: 'stored_bytes', period: '' },
        testMessages: { organizationId, counter: 'test_messages', period: monthOf(now) },
        forwards: { organizationId, counter: 'forwards', period: dayOf(now) },
        suppressions: { organizationId, counter: 'suppressions', period: '' },
      } as const satisfies Record<string, Counted>
      const [used, scheduled] = await Promise.all([
        usage.usedOf(reads, Object.values(counted)),
        countScheduled(reads, [organizationId]),
      ])
      return {
        storedBytes: used(counted.storedBytes),
        testMessages: used(counted.testMessages),
        forwards: used(counted.forwards),
        scheduledMessages: scheduled(organizationId),
        suppressions: used(counted.suppressions),
      }
    },
    isStorageFull: async (organizationId) => {
      const { storedBytes } = usage.planOf(organizationId)
      return storedBytes !== UNLIMITED && (await usage.used(reads, organizationId, 'stored_bytes')) >= storedBytes
    },
    forwardsReached: async (organizationId, recipients, now) => {
      const { forwardsPerDay, messagesPerMonth } = usage.planOf(organizationId)
      if (forwardsPerDay === UNLIMITED && messagesPerMonth === UNLIMITED) return null
      const forwards = { organizationId, counter: 'forwards', period: dayOf(now) } as const
      const volume = { organizationId, counter: 'volume', period: monthOf(now) } as const
      const used = await usage.usedOf(reads, [forwards, volume])
      return (
        usage.exceeds(organizationId, 'forwards_per_day', recipients, used(forwards)) ??
        usage.exceeds(organizationId, 'messages_per_month', recipients, used(volume))
      )
    },
    beginCount: async () => count.begin(),
    countSome: () => count.step(),
    prune: (now, limit) =>
      writer.write(async ({ run }) => {
        const before = dayOf(now - USAGE_KEPT_MS)
        const forwards = await run(PRUNE, ['forwards', before, limit])
        return forwards + (await run(PRUNE, ['confirmation_mails', before, limit - forwards]))
      }),
  }
}
