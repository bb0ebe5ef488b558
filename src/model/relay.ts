/** Attempts through a relay in one calendar month (UTC). */
export interface RelayCount {
  relay: string
  /** For example `2026-11`. */
  month: string
  sent: number
  /** Attempts whose mail the relay did not accept. */
  failed: number
  /** The last failure; null if there was none. */
  lastError: RelayError | null
}

export interface RelayError {
  /** ms UTC */
  at: number
  message: string
}

/** Name of delivery.smarthost among the relays. */
export const SMARTHOST = 'smarthost'
