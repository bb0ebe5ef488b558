import type { RelayCount } from '../../model/relay.ts'

/** The latest attempt of a delivery that began as fail-over through a relay. */
export interface BegunRelay {
  attempt: number
  relay: string
}

export interface Relays {
  /** Records, before the attempt is made, that it uses the relay. */
  begin(deliveryId: string, begun: BegunRelay & { now: number }): Promise<void>
  /** Null: none of its attempts used a relay as fail-over. */
  begun(deliveryId: string): Promise<BegunRelay | null>
  /** Removes up to `limit` records of attempts that began before `before` (ms UTC) → their number. */
  pruneBegun(before: number, limit: number): Promise<number>
  /** Adds to the counts of each relay and month. A given `lastError` replaces an older one. */
  count(counts: readonly RelayCount[]): Promise<void>
  /** Counts of a month, such as `2026-11`. */
  counts(month: string): Promise<RelayCount[]>
}
