import { randomUUID } from 'node:crypto'
import { type Config, planNamed } from '../../config/load.ts'
import { systemClock } from '../../os/clock.ts'
import { createMintId } from '../../os/ids.ts'
import { createLog } from '../../os/log.ts'
import { createMailLog } from '../../os/mail-log.ts'
import { systemRandom } from '../../os/random.ts'
import { journalFolder } from '../../sending/outbound/journal/delivered-journal.ts'
import { recordDelivered } from '../../sending/outbound/journal/record-delivered.ts'
import { endLeasesOfEndedWorkers } from '../../storage/ended-workers.ts'
import { openStore } from '../../storage/sqlite/open.ts'
import type { Store } from '../../storage/store.ts'
import { recordAsOperator } from '../operator-entry.ts'

/** Before the rest of a stopped server's data moves to PostgreSQL: upgrades the schema and settles its store. Throws what
 *  opening the store throws. */
export async function prepareToMove(config: Config): Promise<void> {
  const { dataDir } = config
  const store = await openStore({ dataDir, now: systemClock.now(), plans: planNamed(config), onTorn: () => {} })
  await settleToMove(config, store).finally(() => store.close())
}

/** Records what a stopped server delivered and did not record, ends its leases, writes what is left to be fanned out, and
 *  notes the move in the audit log. Throws what the store throws. */
export async function settleToMove({ dataDir, log: logging }: Config, store: Store): Promise<void> {
  const now = systemClock.now()
  const mintId = createMintId(systemClock, systemRandom)
  const log = createLog({ clock: systemClock, ...logging })
  await recordDelivered(journalFolder(dataDir), {
    deliveries: store.deliveries,
    now: systemClock.now,
    mintId,
    log,
    mailLog: createMailLog(log),
  })
  await endLeasesOfEndedWorkers(store, randomUUID(), now)
  while (await store.webhookDeliveries.fanOutSome());
  await recordAsOperator(store, { action: 'migrate' })
}
