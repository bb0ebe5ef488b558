import type { StoredRest } from '../../model/address-rest.ts'

/** Which sending addresses rest for which destinations, so that a restart does not forget it. */
export interface AddressRests {
  /** Those that end after `time` (ms UTC), the last to end first, up to `limit`. */
  endingAfter(time: number, limit: number): Promise<StoredRest[]>
  /** In one transaction: adds or replaces `begun`, and removes `ended`. */
  change(begun: readonly StoredRest[], ended: readonly Pick<StoredRest, 'address' | 'destination'>[]): Promise<void>
  /** Removes those that ended before `time` (ms UTC). */
  removeBefore(time: number): Promise<void>
}
