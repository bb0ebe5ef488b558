import type { DedicatedAddress } from '../../model/dedicated-address.ts'
import type { DedicatedAddresses } from '../store.ts'
import type { Reads } from './reads.ts'
import type { Writer } from './writer.ts'

const LIST = `select address, organization_id as "organizationId", assigned_at::float8 as "assignedAt",
    leaving_since::float8 as "leavingSince"
  from dedicated_addresses order by assigned_at, address`
const ASSIGN = `insert into dedicated_addresses (address, organization_id, assigned_at) values ($1, $2, $3)
  on conflict do nothing returning address`
const SET_LEAVING = 'update dedicated_addresses set leaving_since = $2 where address = $1'
const RELEASE = 'delete from dedicated_addresses where address = $1'
const QUEUED = `select exists (select 1 from delivery_queue
  where organization_id = $1 and status in ('queued', 'deferred') and accepted_at < $2) as queued`

export function postgresDedicatedAddresses(reads: Reads, writer: Writer): DedicatedAddresses {
  return {
    list: () => reads.query<DedicatedAddress>(LIST, []),
    assign: (address, organizationId, now) =>
      writer.write(async ({ query }) => (await query(ASSIGN, [address, organizationId, now])).length === 1),
    setLeaving: (address, since) =>
      writer.write(async ({ run }) => {
        await run(SET_LEAVING, [address, since])
      }),
    release: (address) =>
      writer.write(async ({ run }) => {
        await run(RELEASE, [address])
      }),
    hasQueuedBefore: async (organizationId, time) => {
      const [row] = await reads.query<{ queued: boolean }>(QUEUED, [organizationId, time])
      return row?.queued === true
    },
  }
}
