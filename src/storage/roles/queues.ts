/** Queue sizes over all organizations, for metrics and health checks. */
export interface Queues {
  /** By queue, at `now` (ms UTC). Other work has its turns meanwhile, so what moves while it is counted may be missed or
   *  counted twice. */
  waiting(now: number): Promise<Record<'deliveries' | 'webhookDeliveries' | 'inboundDeliveries', Waiting>>
}

export interface Waiting {
  due: number
  /** Put off, scheduled, or under way. */
  later: number
  /** Null when nothing is due. */
  oldestDueAt: number | null
}
