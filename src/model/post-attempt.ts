/** One POST to an endpoint as stored and shown, for webhook deliveries and inbound deliveries. */
export interface PostAttempt {
  /** Number of the attempt, from 1. */
  number: number
  at: number
  durationMs: number
  /** Null without a response. */
  statusCode: number | null
  /** Null on success. */
  error: string | null
  responseExcerpt: string | null
}
