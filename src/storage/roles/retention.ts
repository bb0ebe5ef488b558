/** Removes what the plans no longer keep, and returns its disk space. No call holds the store longer than its time:
 *  it calls `timeIsUp` once at its start and again after each record, of which it handles at least one and at most a
 *  hundred. True means that there is more to do. */
export interface Retention {
  /** Removes final messages due before `before`, with content, deliveries, attempts and reports; events, with their
   *  webhook deliveries; and inbound messages that are not pending. For live mail with an unsubscribe link that was
   *  sent at `unsubscribableSince` or later, `Deliveries.unsubscribable` stays. */
  remove(request: {
    organizationId: string
    before: number
    unsubscribableSince: number
    timeIsUp: () => boolean
  }): Promise<boolean>
  /** Deletes at most `limit` records of mail sent before `before`; returns the number deleted. */
  pruneUnsubscribables(before: number, limit: number): Promise<number>
}
