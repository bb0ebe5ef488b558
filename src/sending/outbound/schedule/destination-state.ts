import type { WarmupState } from '../senders/warmups.ts'

/** Current state of one destination, for `explain`, metrics and people. */
export interface DestinationState {
  /** Address that mail is sent from and whose limits these are; null: the system chooses. */
  sourceAddress: string | null
  /** Registrable domain of the best MX host, or what replaces it (destination.ts). */
  destination: string
  /** `unknown`: no attempt has ended yet. `proven`: it accepts mail. `troubled`: its last result was a failure of
   *  the whole host. `paused`: troubled, and no attempt starts before `pausedUntil`. */
  state: 'unknown' | 'proven' | 'troubled' | 'paused'
  /** Current and maximum number of concurrent connections. */
  limit: number
  maxLimit: number
  /** Current and maximum number of deliveries in progress, some of which wait for a connection. */
  underWay: number
  maxUnderWay: number
  /** Class of the reply (mail/bounce-class.ts) that last lowered the limit, and its time (ms UTC); null = never, as
   *  far as is known. The text is not kept, because it may contain a recipient of another organization. */
  lowered: { class: string; at: number } | null
  /** ms UTC; null = no pause. */
  pausedUntil: number | null
  /** The addresses from which the mail may be sent; by default the system chooses. */
  addresses?: AddressState[]
}

/** An address that mail is sent from, and if the destination blocks it, the rule of the reply (mail/bounce-class.ts) and
 *  until when other addresses are preferred (ms UTC). */
export interface AddressState {
  address: string
  rest: { rule: string; until: number } | null
  /** What its warm-up allows there; null without one. */
  warmup: WarmupState | null
}
