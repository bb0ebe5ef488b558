/** A sending address that a destination blocks, as it is stored. Times are ms UTC. */
export interface StoredRest {
  address: string
  destination: string
  /** Rule of the reply that blocked it (mail/bounce-class.ts). */
  rule: string
  /** Blocks without an acceptance between them. */
  times: number
  /** When the destination blocked it last. */
  since: number
  until: number
}
