import { dayOf, monthOf, USAGE_KEPT_MS } from '../../model/limits.ts'
import { UNLIMITED } from '../../model/organization.ts'
import type { UsageCounts } from '../store.ts'
import { countScheduled } from './accept.ts'
import type { Reads } from './reads.ts'
import type { StorageCount } from './stored-bytes.ts'
import type { Counted, Usage } from './usage.ts'
import type { Writer } from './writer.ts'

const PRUNE = `delete from usage where ctid = any(array(select ctid from usage
  where name in ('forwards', 'confirmation_mails') and period < $1 and period <> '' limit $2))`

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
    prune: (now, limit) => writer.write(({ run }) => run(PRUNE, [dayOf(now - USAGE_KEPT_MS), limit])),
  }
}
