/** Requests of a key in its current window. */
export interface RateWindow {
  /** Of the key. */
  id: string
  /** ms UTC. Nodes with different ends agree on the earliest. */
  endsAt: number
  used: number
}

/** At most `burst` at once, and one more every `everyMs` (GCRA, ITU-T I.371). */
export interface RateRule {
  name: string
  everyMs: number
  burst: number
}

/** Rates that all processes of an installation share. They may be forgotten when the database crashes. */
export interface Rates {
  /** Stores what this process counted → what the others have counted of the same keys, in windows of any end. */
  exchange(windows: readonly RateWindow[]): Promise<RateWindow[]>
  /** Counts one for each rule if all of them allow it → 0, else the ms to wait. `now` is in ms. */
  take(rules: readonly RateRule[], now: number): Promise<number>
}
