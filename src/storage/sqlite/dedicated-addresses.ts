import type { DedicatedAddress } from '../../model/dedicated-address.ts'
import type { DedicatedAddresses } from '../store.ts'
import { type Connection, one } from './driver.ts'
import type { Writer } from './writer.ts'

const LIST = `select address, organization_id as organizationId, assigned_at as assignedAt, leaving_since as leavingSince
  from dedicated_addresses order by assigned_at, address`
const ASSIGN = `insert into dedicated_addresses (address, organization_id, assigned_at) values (?, ?, ?)
  on conflict do nothing`
const SET_LEAVING = 'update dedicated_addresses set leaving_since = ? where address = ?'
const RELEASE = 'delete from dedicated_addresses where address = ?'
const QUEUED = `select exists (select 1 from messages indexed by messages_by_status
  where organization_id = ? and status in ('queued', 'deferred') and created_at < ?)`

export function sqliteDedicatedAddresses(db: Connection, writer: Writer): DedicatedAddresses {
  const list = db.prepare<unknown[], DedicatedAddress>(LIST)
  const assign = db.prepare(ASSIGN)
  const setLeaving = db.prepare(SET_LEAVING)
  const release = db.prepare(RELEASE)
  const queued = db.prepare<unknown[], number>(QUEUED).pluck()
  return {
    list: async () => list.all(),
    assign: (address, organizationId, now) =>
      writer.write(() => assign.run(address, organizationId, now).changes === 1),
    setLeaving: (address, since) =>
      writer.write(() => {
        setLeaving.run(since, address)
      }),
    release: (address) =>
      writer.write(() => {
        release.run(address)
      }),
    hasQueuedBefore: async (organizationId, time) => one(queued, organizationId, time) === 1,
  }
}
