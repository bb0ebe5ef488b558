import type { DedicatedAddress } from '../../model/dedicated-address.ts'
import { type Database, sql } from '../sql.ts'
import type { DedicatedAddresses } from '../store.ts'

const LIST = sql<DedicatedAddress>(`select address, organization_id as "organizationId", assigned_at as "assignedAt",
    leaving_since as "leavingSince"
  from dedicated_addresses order by assigned_at, address`)
const ASSIGN = sql(`insert into dedicated_addresses (address, organization_id, assigned_at) values ($1, $2, $3)
  on conflict do nothing`)
const SET_LEAVING = sql('update dedicated_addresses set leaving_since = $2 where address = $1')
const RELEASE = sql('delete from dedicated_addresses where address = $1')
// SQLite keeps the state of the queue in the messages themselves.
const QUEUED = sql<{ queued: number }>(
  `select 1 as queued from delivery_queue
    where organization_id = $1 and status in ('queued', 'deferred') and accepted_at < $2 limit 1`,
  `select 1 as queued from messages indexed by messages_by_status
    where organization_id = $1 and status in ('queued', 'deferred') and created_at < $2 limit 1`,
)

export function dedicatedAddressRecords(database: Database): DedicatedAddresses {
  return {
    list: () => database.rows(LIST),
    assign: async (address, organizationId, now) => (await database.count(ASSIGN, address, organizationId, now)) === 1,
    setLeaving: (address, since) => database.run(SET_LEAVING, address, since),
    release: (address) => database.run(RELEASE, address),
    hasQueuedBefore: async (organizationId, time) => (await database.row(QUEUED, organizationId, time)) !== null,
  }
}
