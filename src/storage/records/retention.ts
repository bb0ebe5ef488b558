import { INSTALLATION } from '../../model/organization.ts'
import { insideMail } from '../mail/inside.ts'
import { BEGIN, type Place, type Request, removeSome } from '../mail/retention.ts'
import { type Database, sql } from '../sql.ts'

const PRUNE_UNSUBSCRIBABLES = sql(`delete from unsubscribables where delivery_id = any(array(
  select delivery_id from unsubscribables where sent_at < $1 order by sent_at limit $2))`)

/** Removes what the plans no longer keep, and returns its disk space. No call holds the store longer than its time:
 *  it calls `timeIsUp` once at its start and again after each record, of which it handles at least one and at most a
 *  hundred. True means that there is more to do.
 *
 *  Twice         harmless: removed records are not found again.
 *  Interrupted   a message is removed with all its records in one transaction; the next pass starts over.
 *  Kept          open messages (until they are final), statistics, volumes, suppressions, alerts.
 *  Events        expire by their own age: an opening after a year outlives its message.
 *
 *  `afterStep` follows each step; the last one of a pass ends that over the last organization. */
export function retentionRecords(database: Database, afterStep?: (isLast: boolean) => Promise<void>) {
  /** Of the current pass over an organization. */
  const places = new Map<string, Place>()
  return {
    /** Removes final messages due before `before`, with content, deliveries, attempts and reports; events, with their
     *  webhook deliveries; and inbound messages that are not pending. For live mail with an unsubscribe link that was
     *  sent at `unsubscribableSince` or later, `Deliveries.unsubscribable` stays. */
    remove: async (request: Request): Promise<boolean> => {
      const { organizationId } = request
      const place = places.get(organizationId) ?? BEGIN
      const next = await database.write(function* () {
        return yield* removeSome(yield* insideMail(), request, place)
      })
      if (next !== null) places.set(organizationId, next)
      else places.delete(organizationId)
      await afterStep?.(next === null && organizationId === INSTALLATION)
      return next !== null
    },
    /** Deletes at most `limit` records of mail sent before `before`; returns the number deleted. */
    pruneUnsubscribables: (before: number, limit: number): Promise<number> =>
      database.count(PRUNE_UNSUBSCRIBABLES, before, limit),
  }
}
