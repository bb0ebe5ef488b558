/** Queue sizes over all organizations, for metrics and health checks. */
export interface Queues {
  /** Sizes by queue at `now` (ms UTC). Other work runs in between, so deliveries that move during the count may be
   *  missed or counted twice. */
  waiting(now: number): Promise<Record<'deliveries' | 'webhookDeliveries' | 'inboundDeliveries', Waiting>>
}

export interface Waiting {
  due: number
  /** Deferred, scheduled, or in progress. */
  later: number
  /** Null if nothing is due. */
  oldestDueAt: number | null
}
