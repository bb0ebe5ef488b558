import { type Counts, keptDelivered, sentOf, share } from '../../../model/stats.ts'

/** Counts → their JSON. */
export function toWire(counts: Counts) {
  return {
    accepted: counts.accepted,
    delivered: counts.delivered,
    deferred: counts.deferred,
    bounced: counts.hardBounced + counts.softBounced,
    hard_bounced: counts.hardBounced,
    soft_bounced: counts.softBounced,
    opened: counts.opened,
    unique_opened: counts.uniqueOpened,
    clicked: counts.clicked,
    unique_clicked: counts.uniqueClicked,
    unsubscribed: counts.unsubscribed,
    complained: counts.complained,
    suppressed: counts.suppressed,
    replied: counts.replied,
  }
}

/** Counts → rates from 0 to 1; 0 without mail. Delivery and bounce rate are relative to all recipients with a final
 *  outcome and add up to 1. The others are relative to delivered recipients. */
export function ratesOf(totals: Counts) {
  const bounced = totals.hardBounced + totals.softBounced
  const sent = sentOf(totals, bounced)
  const delivered = keptDelivered(totals)
  return {
    delivery_rate: share(delivered, sent),
    bounce_rate: share(bounced, sent),
    complaint_rate: share(totals.complained, delivered),
    open_rate: share(totals.uniqueOpened, delivered),
    click_rate: share(totals.uniqueClicked, delivered),
  }
}
