import { iso } from '../../model/event.ts'
import { heldText } from '../../model/held.ts'
import { systemClock } from '../../os/clock.ts'
import { databaseAddress } from '../../storage/postgres/address.ts'
import { adoptDatabase } from '../../storage/postgres/adopt.ts'
import { requireConfig, withStore } from '../cli-context.ts'
import { usageFault } from '../failure.ts'
import { print, printJson } from '../print.ts'
import { onWire } from './release.ts'

/** Accepts a PostgreSQL database that is a copy, or went back to an earlier state, and prints what is on hold. Throws
 *  CommandFailure with SQLite, and while nodes run. */
export async function adopt(options: { config: string; json?: true }): Promise<void> {
  const config = requireConfig(options.config)
  if (config.database.url === '') throw usageFault('adopt is for PostgreSQL, and database.url is not set.')
  const { lastSeenAt } = await adoptDatabase(databaseAddress(config.database), systemClock.now())
  await withStore(config, async ({ store, operator }) => {
    // Those that were not written yet. All others are on hold, and a node that was started meanwhile may send new mail.
    const hold = () => store.held.hold(['webhookDeliveries'])
    await operator.manage('restore_adopt', { organizationId: null, body: {} }, hold)
    const held = await store.held.count()
    if (options.json) {
      printJson({
        last_seen_at: iso(lastSeenAt),
        held: onWire(held),
      })
      return
    }
    print(`The database serves from now on. A node last wrote to it at ${iso(lastSeenAt)}; all sessions have ended.
On hold, because they may have been sent since: ${heldText(held)}.
Decide with: postrider restore release`)
  })
}
