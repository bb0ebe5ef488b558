/** How we stand with one receiving destination at a moment: for `explain`, for metrics, for people. */
export interface DestinationState {
  /** The registrable domain of the best MX host, or what stands for it (destination.ts). */
  destination: string
  /** `unknown`: nothing was heard of it yet. `proven`: it takes mail. `troubled`: its last word was trouble.
   *  `paused`: in trouble, and nothing is started before `pausedUntil`. */
  state: 'unknown' | 'proven' | 'troubled' | 'paused'
  /** Connections at once that it may have now, and at most. */
  limit: number
  maxLimit: number
  /** Deliveries in progress, and how many there may be: some of them wait for a connection. */
  underWay: number
  maxUnderWay: number
  /** The class of the reply (mail/bounce-class.ts) after which the limit was last lowered, and when (ms UTC); null = it
   *  never was, as far as is remembered. Its text is not kept: it was said to somebody, and may name him. */
  lowered: { class: string; at: number } | null
  /** ms UTC; null = no pause. */
  pausedUntil: number | null
}
