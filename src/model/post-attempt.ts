/** One POST to an endpoint as it is kept and shown; webhook deliveries and inbound deliveries have the same. */
export interface PostAttempt {
  /** From 1. */
  number: number
  at: number
  durationMs: number
  /** Null when there was no answer. */
  statusCode: number | null
  /** Null when it succeeded. */
  error: string | null
  responseExcerpt: string | null
}
