import { use } from '../inside.ts'
import type { MailLane } from '../mail/lane.ts'
import { STORED_BYTES_OF_INBOUND, STORED_BYTES_OF_TEMPLATE } from '../stored-bytes.ts'
import type { Connection } from './connection.ts'
import type { Mirror } from './mirror.ts'
import { createReads } from './reads.ts'

// One snapshot: a change that it does not see is missing in the records and in the counters alike. So the difference
// is the error of the counters, whatever is written meanwhile.
const ERROR = `select (
    (select coalesce(sum(stored_bytes), 0) from messages where organization_id = $1)
    + (select coalesce(sum(${STORED_BYTES_OF_INBOUND}), 0) from inbound_messages where organization_id = $1)
    + (select coalesce(sum(${STORED_BYTES_OF_TEMPLATE}), 0) from templates t
        join template_versions v on v.template_id = t.id where organization_id = $1)
    + (select coalesce(sum(octet_length(body)), 0) from idempotency where organization_id = $1)
    - (select coalesce(sum(used), 0) from usage
        where organization_id = $1 and name = 'stored_bytes' and period = ''))::float8 as error`

/** A recount of the stored bytes of every organization, which repairs errors of the counters. */
export interface StorageCount {
  /** Starts a recount, unless one is in progress. */
  begin(): void
  /** Recounts one organization; true while there are more. If it rejects, that organization is skipped. */
  step(): Promise<boolean>
}

/** `connect` opens a connection for a step: other reads must not wait for it. */
export function createStorageCount(
  connect: () => Promise<Connection>,
  lane: MailLane,
  organizations: Mirror<{ id: string }>,
): StorageCount {
  /** Organizations that are still to be counted; null = no recount is in progress. */
  let left: string[] | null = null
  const errorOf = async (organizationId: string) => {
    const reads = createReads(connect)
    try {
      const [row] = await reads.query<{ error: number }>(ERROR, [organizationId])
      return row?.error ?? 0
    } finally {
      reads.close()
    }
  }
  return {
    begin: () => {
      left ??= [...organizations.all()].map(({ id }) => id)
    },
    step: async () => {
      const next = left?.pop()
      if (left?.length === 0) left = null
      if (next === undefined) return false
      const error = await errorOf(next)
      if (error !== 0) await lane.perform(() => use(next, 'stored_bytes', error))
      return left !== null
    },
  }
}
