import type { DedicatedAddress } from '../../model/dedicated-address.ts'
import { type Database, sql } from '../sql.ts'

const LIST = sql<DedicatedAddress>(`select address, organization_id as "organizationId", assigned_at as "assignedAt",
    leaving_since as "leavingSince"
  from dedicated_addresses order by assigned_at, address`)
const ASSIGN = sql(`insert into dedicated_addresses (address, organization_id, assigned_at) values ($1, $2, $3)
  on conflict do nothing`)
// Of two leaders, the second one may have read what the first one changed.
const IS_AS_READ = 'address = $1 and organization_id = $2 and leaving_since is not distinct from $3::bigint'
const SET_LEAVING = sql(`update dedicated_addresses set leaving_since = $4 where ${IS_AS_READ}`)
const RELEASE = sql(`delete from dedicated_addresses where ${IS_AS_READ}`)
const QUEUED = sql<{ queued: number }>(
  `select 1 as queued from messages
    where organization_id = $1 and status in ('queued', 'deferred') and created_at < $2 limit 1`,
  // Its planner would read all messages of the organization.
  `select 1 as queued from messages indexed by messages_by_status
    where organization_id = $1 and status in ('queued', 'deferred') and created_at < $2 limit 1`,
)

export function dedicatedAddressRecords(database: Database) {
  return {
    /** In the order of their assignment. */
    list: (): Promise<DedicatedAddress[]> => database.rows(LIST),
    /** False, without a change, if the address belongs to an organization already. */
    assign: async (address: string, organizationId: string, now: number): Promise<boolean> =>
      (await database.count(ASSIGN, address, organizationId, now)) === 1,
    /** Null: the organization has its claim again. Nothing if the address was assigned or changed since it was read. */
    setLeaving: ({ address, organizationId, leavingSince }: DedicatedAddress, since: number | null): Promise<void> =>
      database.run(SET_LEAVING, address, organizationId, leavingSince, since),
    /** Nothing if the address was assigned or changed since it was read. */
    release: ({ address, organizationId, leavingSince }: DedicatedAddress): Promise<void> =>
      database.run(RELEASE, address, organizationId, leavingSince),
    /** Whether mail that the organization sent before `time` (ms UTC) still waits, except scheduled mail. */
    hasQueuedBefore: async (organizationId: string, time: number): Promise<boolean> =>
      (await database.row(QUEUED, organizationId, time)) !== null,
  }
}
