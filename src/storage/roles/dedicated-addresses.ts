import type { DedicatedAddress } from '../../model/dedicated-address.ts'

export interface DedicatedAddresses {
  /** In the order of their assignment. */
  list(): Promise<DedicatedAddress[]>
  /** False, without a change, if the address belongs to an organization already. */
  assign(address: string, organizationId: string, now: number): Promise<boolean>
  /** Null: the organization has its claim again. */
  setLeaving(address: string, since: number | null): Promise<void>
  release(address: string): Promise<void>
  /** Whether mail that the organization sent before `time` (ms UTC) still waits, except scheduled mail. */
  hasQueuedBefore(organizationId: string, time: number): Promise<boolean>
}
