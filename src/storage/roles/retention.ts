/** Taking away what the plans no longer keep, and giving back the disk space it held. No call holds the store longer
 *  than it is given: it asks `timeIsUp` once when it begins and again after each record, of which it does at least one
 *  and at most a hundred. What comes back true has more to do. */
export interface Retention {
  /** Messages (due before `before`, and over), with content, deliveries, attempts and reports; events, with their
   *  webhook deliveries; inbound messages that are not pending. Of live mail with a way to unsubscribe that was sent at
   *  `unsubscribableSince` or later, `Deliveries.unsubscribable` stays. */
  remove(request: {
    organizationId: string
    before: number
    unsubscribableSince: number
    timeIsUp: () => boolean
  }): Promise<boolean>
  /** Forgets at most `limit` of what was sent before `before`; answers how many went. */
  pruneUnsubscribables(before: number, limit: number): Promise<number>
}
